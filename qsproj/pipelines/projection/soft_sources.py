"""Several sources of one target language: their sentence pairs brought together by the target sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from qsproj.corpus.sentence import SentencePair
from qsproj.errors import DataError
from qsproj.pipelines.projection.projected import with_trees_and_tags

# One target sentence with its translations, one pair for each of them; never empty.
Translations = tuple[SentencePair, ...]


@dataclass(frozen=True, slots=True)
class JoinedSources:
    """The translations of each target sentence, read anew each time they are iterated.

    Attributes
    ----------
    texts : tuple of tuple of iterable of SentencePair
        For each text in the target language at least one source: the same target sentences in the same order,
        each time with other source sentences.
    """

    texts: tuple[tuple[Iterable[SentencePair], ...], ...]

    def __iter__(self) -> Iterator[Translations]:
        """Yield the translations of one target sentence after the other.

        Raises
        ------
        DataError
            At the first place where two sources of a text do not have the same target sentence.
        UsageError
            At the end, when no word of a source had a head, or no target word a tag.
        """
        for sources in self.texts:
            yield from _of_one_text(sources)


def _of_one_text(sources: tuple[Iterable[SentencePair], ...]) -> Iterator[Translations]:
    checked = [with_trees_and_tags(source) for source in sources]
    for number, pairs in enumerate(zip_longest(*checked), start=1):
        if len({pair and pair.target.forms for pair in pairs}) > 1:
            names = {pair.target.sent_id for pair in pairs if pair and pair.target.sent_id}
            named = f" (target sentences {', '.join(sorted(names))})" if names else ""
            raise DataError(
                f"pair {number}{named}",
                None,
                found="sources with different target sentences, or one with none left",
                expected="the same target sentence with every source",
                remedy="give all sources the same sentences in the same order, or each its own --target",
            )
        yield pairs
