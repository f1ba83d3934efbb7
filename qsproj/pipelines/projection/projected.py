"""What the methods of projection are given, with what that is by default, and what each returns."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence, SentencePair, has_tree
from qsproj.errors import NothingToLearnError
from qsproj.models.dmv.dmv_options import DmvOptions
from qsproj.models.qg_dmv.qg_dmv_options import QgOptions
from qsproj.models.spec import check, option_field
from qsproj.models.storage import Provenance

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
    min_weight: float = option_field(
        MIN_WEIGHT,
        least=0.0,
        most=1.0,
        metavar="P",
        help="follow links of this weight, where links have weights",
    )
    min_attached: float = option_field(
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

    max_sentences: int = option_field(20000, least=1, help="train on the N densest at most")


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

    strength: float = option_field(
        1.5, least=0.0, help="natural log of how much likelier an arc becomes by certain evidence"
    )
    sentences: int | None = option_field(
        None,
        least=1,
        help=f"learn from the N best pairs (default: as many as have {ENOUGH_WORDS:,} words)",
    )
    epochs: int = option_field(3, least=1)
    l2: float = option_field(100.0, least=0.0)
    share: float | None = option_field(
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


# A DMV parses a sentence in less time than it takes to send it to another process: many go together.
BLOCK_SENTENCES = 64


class SavableParser(Protocol):
    """A parser of new text that can be written to a model file."""

    def parse(self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Return the sentence with heads and relations; with ``confidence``, ``ArcProb=`` in MISC."""
        ...

    def save(self, path: str | Path, *, made: Provenance | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class Projected:
    """A parser of the target language, and how it came about."""

    parser: SavableParser
    report: tuple[str, ...]  # lines for the user
    # gives the target sentences with their trees, whole and partial; goes through the pairs once more
    trees: Callable[[], Iterable[Sentence]]
    # those of the sentences that were learned from, where they are fewer and at hand
    learned_from: Sequence[Sentence] = ()


def with_trees_and_tags(pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
    """Pass pairs on; UsageError at the end when no source word had a head or no target word a tag."""
    parsed = tagged = False
    for pair in pairs:
        parsed = parsed or has_tree(pair.source)
        tagged = tagged or any(tag != UNSPECIFIED for tag in pair.target.upos)
        yield pair
    if not parsed:
        raise NothingToLearnError("no source sentence has a head; parse the source first (qsproj parse)")
    if not tagged:
        raise NothingToLearnError("no target word has a UPOS tag; tag the target first (qsproj tag)")
