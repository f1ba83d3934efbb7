"""The result of every method of projection."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence, SentencePair, has_tree
from qsproj.errors import NothingToLearnError
from qsproj.models.storage import Made

# A DMV parses a sentence in less time than it takes to send it to another process: many go together.
BLOCK_SENTENCES = 64


class SavableParser(Protocol):
    """A parser of new text that can be written to a model file."""

    def parse(self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Return the sentence with heads and relations; with ``confidence``, ``ArcProb=`` in MISC."""
        ...

    def save(self, path: str | Path, *, made: Made | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class Projected:
    """A parser of the target language, and how it came about."""

    parser: SavableParser
    report: tuple[str, ...]  # lines for the user
    # gives the target sentences with their trees, whole and partial; goes through the pairs once more
    trees: Callable[[], Iterable[Sentence]]


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
