"""What the methods of projection are given: their options, with what they are by default."""

from dataclasses import dataclass

from qsproj.models.dmv.dmv_options import DmvOptions
from qsproj.models.qg_dmv.qg_dmv_options import QgOptions
from qsproj.models.spec import check, told

# Links of this weight are trusted as if there were no others.
MIN_WEIGHT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedArcs:
    """Which arcs are carried over, and which sentences are learned from.

    ``completion``: a name in :data:`qsproj.pipelines.projection.hard_projection.COMPLETIONS`.
    ``min_attached``: with 1, whole trees only are learned from (thesis 4.6.3.3); with less partial ones, too,
    the rest of which is summed out, or imputed.
    """

    completion: str = "none"
    min_weight: float = told(
        MIN_WEIGHT,
        least=0.0,
        most=1.0,
        metavar="P",
        help="follow links of this weight, where links have weights",
    )
    min_attached: float = told(
        0.8,
        least=0.0,
        most=1.0,
        help="train on sentences with heads for this share of their words; 1: whole trees",
    )

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class HardProjectionOptions(ProjectedArcs):
    """Options of the method ``hard``."""

    max_sentences: int = told(20000, least=1, help="train on the N densest at most")


# Of German, Czech and Spanish 16,000 pairs have 290,000 to 330,000 words, of Swedish 112,000: there 400,000
# gained 1.1 to 1.6 LAS on dev files, elsewhere nothing to .5; more did not gain.
ENOUGH_WORDS = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftProjectionOptions:
    """How far evidence moves the prior.

    ``sentences``: None: as many as have ENOUGH_WORDS together. ``epochs``: passes over the pairs of a
    round; ``l2``: the pull towards the prior; ``share``: scores are the prior's plus this share of what was
    learned above it; None: as :class:`qsproj.pipelines.projection.soft_projection.Fit` tells.
    """

    strength: float = told(
        1.5, least=0.0, help="natural log of how much likelier an arc becomes by certain evidence"
    )
    sentences: int | None = told(
        None,
        least=1,
        help="learn from the N pairs with the most evidence for a word (default: as many as have "
        f"{ENOUGH_WORDS:,} words)",
    )
    epochs: int = told(3, least=1)
    l2: float = told(100.0, least=0.0)
    share: float | None = told(
        None,
        least=0.0,
        most=2.0,
        help="how much of what links teach of heads is added to the prior (default: 0.75 to 1.25, the more "
        "the oftener the prior finds right what they carry over)",
    )
    projective: bool = True

    def __post_init__(self) -> None:
        check(self)


# Of the parser that the method ``hard`` trains: passes over the projected trees.
HARD_EPOCHS = 5
# How the DMV of the methods ``em`` and ``hard-em`` is trained.
EM_FROM_TAGS = DmvOptions()
EM_FROM_ARCS = DmvOptions(
    start="trees", keep_heads=True, iterations=1, max_words=40, sibling_pairs=QgOptions().sibling_pairs
)
