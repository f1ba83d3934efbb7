"""Options of :func:`qsproj.pipelines.bilingual.biparse.train_joint_parser`: how a joint parser is made."""

from __future__ import annotations

from dataclasses import dataclass, field

from qsproj.errors import UsageError, unknown_name
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_options import JointOptions, JointTrainingOptions

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
        (:mod:`qsproj.models.joint.relations.joint_labeller`); ``after``: by the target's labeller alone.
    tags : str
        ``given``: the target's tags are those of its file; ``links``: the model tags target words that have
        none (:mod:`qsproj.models.tagging.link_tagger`), and learns from trees that were tagged so; ``joint``:
        it does, and tags that stay uncertain are variables of the pair's graph, decided together with the
        trees (:mod:`qsproj.models.joint.tags`).

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
                f"--null-source: found --target-weights {self.target_weights}, expected joint: without a "
                "source there are no other weights to learn"
            )
        if self.order not in (1, 2):
            raise UsageError(f"found order {self.order}, expected 1 or 2")
        if self.order == 2 and self.target_weights == "joint":
            raise UsageError(
                "--order 2: found --target-weights joint, expected fixed: a second-order parser stays as it "
                "is; or choose --order 1"
            )
