"""Options of joint models: the graph of a pair, and the training of its weights."""

from dataclasses import dataclass, field
from typing import Any

from qsproj.errors import UsageError
from qsproj.features.joint_templates import FAMILIES, LINK_FAMILIES
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.schema import anything, checked, names, text
from qsproj.models.spec import CheckedOptions, check, option_field, restored

# Chosen like a family of factors: both trees and the links must have a synchronous derivation.
SYNCH = "SYNCH"
# Limit for ALIGNITG: words with candidates in a side, as the geometric mean of both sides.
MOST_ITG_WORDS = 20
LINK_FACTORS = ("ALIGN", "SOURCEFERT", "TARGETFERT")  # the factors of every graph of links
SOURCE_TREES = ("joint", "best", "observed")
LINK_THRESHOLD = 0.5  # minimises the expected number of errors
# Least first-order probability of an arc; higher for a given target parser, which may be very uncertain.
MIN_PROBABILITY = 1e-6
MIN_PROBABILITY_OF_GIVEN = 3e-3
TAG_THRESHOLD = 0.1  # least probability of a tag in the graph, where there are TAG variables
LABELS = ("joint", "after")
TAGS = ("given", "links", "joint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Propagation(CheckedOptions):
    """Limits of message passing: iterations (40 in the thesis), tolerance in log-odds, and damping."""

    max_iterations: int = option_field(40, least=1)
    tolerance: float = 1e-3
    damping: float = option_field(0.0, least=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointOptions(CheckedOptions):
    """The graph of a pair, stored with the model for training and parsing.

    ``source_tree``: ``joint``, inferred with the rest; ``best``, the source parser's; ``observed``.
    ``least_probability``: of an arc with a variable, by the first order, unless the best tree has it. Unsure
    (projected) parsers keep a hundred times as many factors at the default. Second-order parsers prune by
    their own threshold. ``tag_threshold``: least probability of two tags of a word with a TAG variable.
    """

    families: tuple[str, ...] = option_field(FAMILIES, known=("factor", (*FAMILIES, *LINK_FAMILIES, SYNCH)))
    source_tree: str = option_field("joint", known=("source tree", SOURCE_TREES))
    propagation: Propagation = field(default_factory=Propagation)
    least_probability: float = option_field(MIN_PROBABILITY, least=0.0, most=1.0)
    link_threshold: float = option_field(
        LINK_THRESHOLD, least=0.0, most=1.0, metavar="P", help="least probability of the links to write"
    )
    tag_threshold: float | None = option_field(None, least=0.0, most=1.0)

    @staticmethod
    def from_header(header: dict[str, Any]) -> "JointOptions":
        """Rebuild the options from a model's header; older ones have default propagation and thresholds."""
        checked(header, {"families": names, "source_tree": text})
        return restored(JointOptions(), header, among_others=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointTrainingOptions(CheckedOptions):
    """Training of the joint weights.

    ``source_evidence``: exponent, 0 to 1, of the probability of the source parser's own tree given the target
    tree in the objective, where the source tree is inferred.
    """

    epochs: int = option_field(10, least=1, help="passes over the pairs")
    rate: float = option_field(0.05, least=0.0)
    l2: float = option_field(100.0, least=0.0)
    source_evidence: float = option_field(0.25, least=0.0, most=1.0, expected="0 to 1")
    propagation: Propagation = field(default_factory=lambda: Propagation(tolerance=1e-2))

    @staticmethod
    def from_header(header: dict[str, Any] | None) -> "JointTrainingOptions | None":
        if header is None:
            return None
        checked(header, {"propagation": anything})
        return restored(JointTrainingOptions(), header, former=("null_source",))


@dataclass(frozen=True, slots=True, kw_only=True)
class BiparseOptions:
    """Training of a joint parser. Raises UsageError when options are incompatible.

    ``order`` of the target parser: 1, or 2 with factors over several arcs, which join those of the pair.
    ``labels``: ``joint``, relations are predicted with those of the source as evidence, or ``after``, by the
    target's labeller. ``tags``: ``given``, those of the target's file; ``links``, the model tags untagged
    target words, and is trained on trees with such tags; ``joint``, unsure tags are decoded with the trees.
    """

    joint: JointOptions = field(default_factory=JointOptions)
    training: JointTrainingOptions = field(default_factory=JointTrainingOptions)
    target_training: TrainingOptions = field(default_factory=TrainingOptions)
    order: int = 1
    labels: str = option_field("joint", known=("labels", LABELS))
    tags: str = option_field("given", known=("tags", TAGS))

    def __post_init__(self) -> None:
        check(self)
        if self.joint.tag_threshold is not None and self.tags != "joint":
            raise UsageError(f"found tag_threshold and tags {self.tags}, expected tags joint")
        if self.order not in (1, 2):
            raise UsageError(f"found order {self.order}, expected 1 or 2")
