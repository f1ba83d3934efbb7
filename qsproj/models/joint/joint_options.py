"""What shapes the graph of a sentence pair, and how its weights are learned: options and their defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from qsproj.bp.options import Passing
from qsproj.features.joint_templates import EVERY_FAMILY, FAMILIES, LINK_FAMILIES
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
    link_threshold: float = told(LINK_THRESHOLD, least=0.0, most=1.0)
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
    epochs : int
        Passes over the pairs.
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
        Whether each target tree is also learned from as if its source were empty and all of its words linked
        to NULL (thesis 5.3.1); only where the target's weights are learned, too.
    """

    epochs: int = 10
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
