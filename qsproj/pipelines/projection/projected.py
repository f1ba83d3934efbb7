"""Options of the methods of projection, with defaults, and their common result."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence, SentencePair, has_tree
from qsproj.errors import NothingToLearnError
from qsproj.models.dmv.dmv_options import DmvOptions, QgOptions
from qsproj.models.spec import check, option_field

if TYPE_CHECKING:  # it imports numba, and help of the options should not wait for it
    from qsproj.models.parser import Parser

# Minimum weight of links to follow.
MIN_WEIGHT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedArcs:
    """Choice of projected arcs and of training sentences.

    ``completion``: a name in :data:`qsproj.pipelines.projection.hard_projection.COMPLETIONS`.
    ``min_attached``: 1 for complete trees only (thesis 4.6.3.3); below also partial trees, whose missing arcs
    are summed out or imputed.
    """

    completion: str = "none"
    min_weight: float = option_field(
        MIN_WEIGHT,
        least=0.0,
        most=1.0,
        metavar="P",
        help="minimum weight of links to follow, if links have weights",
    )
    min_attached: float = option_field(
        0.8,
        least=0.0,
        most=1.0,
        help="train on sentences with heads on at least this share of words; 1: complete trees only",
    )

    def __post_init__(self) -> None:
        check(self)


USUAL_ARCS = ProjectedArcs()
# Passes over the trees of the prior, translated anew for each.
DRAWS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class HardProjectionOptions(ProjectedArcs):
    """Options of the method ``hard``."""

    max_sentences: int = option_field(20000, least=1, help="train on at most N sentences, the densest")


# 16,000 pairs have 290,000 to 330,000 words in German, Czech and Spanish, and 112,000 in Swedish. Learning
# from 400,000 words gained 1.1 to 1.6 LAS in Swedish on dev files, 0 to .5 in the others; more had no effect.
ENOUGH_WORDS = 400_000
# At .5, .75 and 1, mean UAS of dev files from New Testaments in Arabic, German, Ukrainian and Wolof, with
# English: 73.9, 73.4, 72.8 with gold tags, 64.5, 64.7, 64.3 with own tags. A factor fitted to projected arcs
# of held-out pairs gained nothing, and lost 4 UAS in Czech with tags that were not learned through links.
SHARE = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftProjectionOptions:
    """Options of soft projection.

    ``sentences``: None: as many as have ENOUGH_WORDS together. ``epochs``: passes over the pairs. ``l2``:
    strength of the pull towards the prior. ``share``: factor of the learned difference from the prior's
    scores.
    """

    strength: float = option_field(
        1.5, least=0.0, help="natural log of the likelihood ratio of an arc with certain evidence"
    )
    sentences: int | None = option_field(
        None, least=1, help=f"learn from the N best pairs (default: as many as have {ENOUGH_WORDS:,} words)"
    )
    epochs: int = option_field(2, least=1)
    l2: float = option_field(100.0, least=0.0)
    share: float = option_field(
        SHARE, least=0.0, most=2.0, help="weight of evidence from links relative to the prior"
    )
    projective: bool = True

    def __post_init__(self) -> None:
        check(self)


# Training epochs of the method ``hard``.
HARD_EPOCHS = 5
# Training of the DMV in the methods ``em`` and ``hard-em``.
EM_FROM_TAGS = DmvOptions()
EM_FROM_ARCS = DmvOptions(
    start="trees", keep_heads=True, iterations=1, max_words=40, sibling_pairs=QgOptions().sibling_pairs
)


# Block size for other processes: sending a sentence takes longer than parsing it with a DMV.
BLOCK_SENTENCES = 64


@dataclass(frozen=True, slots=True)
class Projected:
    """A parser of the target language, with a report and its trees."""

    parser: "Parser"
    report: tuple[str, ...]  # lines for the user
    # returns the target sentences with complete or partial trees; reads the pairs again
    trees: Callable[[], Iterable[Sentence]]
    # training sentences with trees, if the method has selected them
    learned_from: Sequence[Sentence] = ()


def with_trees_and_tags(pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
    """Yield the pairs; UsageError at the end when no source word had a head or no target word a tag."""
    parsed = tagged = False
    for pair in pairs:
        parsed = parsed or has_tree(pair.source)
        tagged = tagged or any(tag != UNSPECIFIED for tag in pair.target.upos)
        yield pair
    if not parsed:
        raise NothingToLearnError("no source sentence has a head; parse the source first (qsproj parse)")
    if not tagged:
        raise NothingToLearnError("no target word has a UPOS tag; tag the target first (qsproj tag)")
