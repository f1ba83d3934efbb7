"""What shapes the graph of a sentence pair, and how its weights are learned: options and their defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from qsproj.bp.options import Passing
from qsproj.errors import UsageError, unknown_name
from qsproj.features.joint_templates import EVERY_FAMILY, FAMILIES, LINK_FAMILIES
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.schema import anything, checked, names, text
from qsproj.models.spec import check, restored, told

# Asked for like a family of factors: that both trees and the links could be derived synchronously.
SYNCH = "SYNCH"
# ALIGNITG is left out of pairs of more words a side that have candidates, in the geometric mean.
MOST_ITG_WORDS = 20
# The factors that every graph of links has.
LINK_FACTORS = ("ALIGN", "SOURCEFERT", "TARGETFERT")
SOURCE_TREES = ("joint", "best", "observed")
# The fewest expected errors.
LINK_THRESHOLD = 0.5
# Of an arc, by the first order; and where the target parser is a given one, which may be far from sure.
MIN_PROBABILITY = 1e-6
MIN_PROBABILITY_OF_GIVEN = 3e-3
# Of a tag that has a place in the graph, where there are TAG variables.
TAG_THRESHOLD = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Propagation:
    """How long messages are passed.

    Attributes
    ----------
    max_iterations : int
        As in the thesis, 40.
    tolerance : float
        Messages have settled when none changes by more than this (log-odds).
    damping : float
        How far messages are held back.
    """

    max_iterations: int = 40
    tolerance: float = 1e-3
    damping: float = 0.0

    def passing(self) -> Passing:
        """Return it as belief propagation takes it; groups answer in turn."""
        return Passing(
            schedule="sequential",
            max_iterations=self.max_iterations,
            tolerance=self.tolerance,
            damping=self.damping,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JointOptions:
    """What the graph of a pair is made of: stored with a model, which is trained and parses by it.

    Attributes
    ----------
    families : tuple of str
        The quasi-synchronous factors in use, and which of LINK_FAMILIES; or SYNCH.
    source_tree : str
        ``joint``: inferred together with the rest; ``best``: the source parser's tree; ``observed``: the one
        that the source sentence has.
    propagation : Propagation
        How long messages are passed in parsing.
    least_probability : float
        An arc whose first-order probability is below it has no variable, unless the best tree has it. Parsers
        that are unsure, as projected ones are, leave a hundred times as many factors to the usual one. A
        second-order parser prunes by its own threshold.
    link_threshold : float
        Links of at least this probability are taken, unless parsing is told otherwise; 0.5 gives the fewest
        expected errors.
    tag_threshold : float or None
        A target word without a tag for which two tags or more are as probable as this, by tagger and links,
        has a TAG variable in the graph; None: no word has, the best tag is taken.

    Raises
    ------
    UsageError
        When a name is unknown.
    """

    families: tuple[str, ...] = told(FAMILIES, known=("factor", (*EVERY_FAMILY, *LINK_FAMILIES, SYNCH)))
    source_tree: str = told("joint", known=("source tree", SOURCE_TREES))
    propagation: Propagation = field(default_factory=Propagation)
    least_probability: float = told(MIN_PROBABILITY, least=0.0, most=1.0)
    link_threshold: float = told(
        LINK_THRESHOLD,
        least=0.0,
        most=1.0,
        metavar="P",
        help="least probability of the links that the model writes",
    )
    tag_threshold: float | None = told(None, least=0.0, most=1.0)

    def __post_init__(self) -> None:
        """Check names and ranges."""
        check(self)

    @staticmethod
    def from_header(header: dict[str, Any]) -> JointOptions:
        """Rebuild them from the header of a model; older ones have the default propagation and thresholds."""
        checked(header, {"families": names, "source_tree": text})
        return restored(JointOptions(), header, among_others=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointTrainingOptions:
    """How the joint weights are learned.

    Attributes
    ----------
    rate : float
        Step size of AdaGrad.
    l2 : float
        Strength of the L2 penalty per epoch, applied as a proximal step.
    source_evidence : float
        How much the source parser's own tree counts where the source tree is inferred, 0 to 1: the power of
        its probability given the target tree in what is maximised.
    propagation : Propagation
        How long messages are passed in training.
    null_source : bool
        Also train on each target sentence without a source, all of its words linked to NULL (thesis 5.3.1);
        only where the target's weights are learned.
    """

    epochs: int = told(10, least=1, help="passes over the pairs")
    rate: float = 0.05
    l2: float = 100.0
    source_evidence: float = 0.25
    propagation: Propagation = field(default_factory=lambda: Propagation(tolerance=1e-2))
    null_source: bool = False

    @staticmethod
    def from_header(header: dict[str, Any] | None) -> JointTrainingOptions | None:
        """Rebuild what a model file says of how its weights were learned; None where it does not."""
        if header is None:
            return None
        checked(header, {"propagation": anything})
        return restored(JointTrainingOptions(), header)


TARGET_WEIGHTS = ("fixed", "joint")
LABELS = ("joint", "after")
TAGS = ("given", "links", "joint")


@dataclass(frozen=True, slots=True, kw_only=True)
class BiparseOptions:
    """How a joint parser comes about.

    Attributes
    ----------
    joint : JointOptions
        What the graphs of pairs are made of; stored with the parser.
    training : JointTrainingOptions
        How joint weights are learned.
    target_training : TrainingOptions
        How the target parser is learned.
    target_weights : str
        ``fixed``: as the target trees alone teach them; ``joint``: moved together with the joint weights, as
        in thesis 4.7.3.
    with_dictionary : bool
        Whether to count a dictionary from the candidate links of the pairs that are learned from.
    order : int
        Of the target parser: 1, or 2 for one whose factors over several arcs join those of the pair.
    labels : str
        ``joint``: relations of the target are decided with those of the source as evidence
        (:mod:`qsproj.models.joint.joint_labeller`); ``after``: by the target's labeller alone.
    tags : str
        ``given``: the target's tags are those of its file; ``links``: the model tags target words that have
        none (:mod:`qsproj.models.tagging.link_tagger`), and learns from trees that were tagged so; ``joint``:
        it does, and tags that stay uncertain are variables of the pair's graph, decided together with the
        trees (:mod:`qsproj.models.joint.tag_choices`).

    Raises
    ------
    UsageError
        When ``target_weights``, ``labels`` or ``tags`` is unknown, or ``order`` is.
    """

    joint: JointOptions = field(default_factory=JointOptions)
    training: JointTrainingOptions = field(default_factory=JointTrainingOptions)
    target_training: TrainingOptions = field(default_factory=TrainingOptions)
    target_weights: str = "fixed"
    with_dictionary: bool = False
    order: int = 1
    labels: str = "joint"
    tags: str = "given"

    def __post_init__(self) -> None:
        """Check the names."""
        if self.labels not in LABELS:
            raise unknown_name("labels", self.labels, list(LABELS))
        if self.tags not in TAGS:
            raise unknown_name("tags", self.tags, list(TAGS))
        if self.joint.tag_threshold is not None and self.tags != "joint":
            raise UsageError(f"found tag_threshold and tags {self.tags}, expected tags joint")
        if self.target_weights not in TARGET_WEIGHTS:
            raise unknown_name("target weights", self.target_weights, list(TARGET_WEIGHTS))
        if self.training.null_source and self.target_weights != "joint":
            raise UsageError(
                f"null_source: found target_weights {self.target_weights!r}, expected 'joint': without a "
                "source there are no other weights to learn"
            )
        if self.order not in (1, 2):
            raise UsageError(f"found order {self.order}, expected 1 or 2")
        if self.order == 2 and self.target_weights == "joint":
            raise UsageError(
                "order 2: found target_weights 'joint', expected 'fixed': a second-order parser stays as it "
                "is; or choose order 1"
            )
