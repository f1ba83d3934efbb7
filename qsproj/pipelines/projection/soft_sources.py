"""Several sources of one target language: their sentence pairs brought together by the target sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from qsproj.corpus.sentence import SentencePair
from qsproj.pipelines.projection.projected import with_trees_and_tags
from qsproj.pipelines.translations import Translations, join_translations


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
            yield from join_translations(tuple([with_trees_and_tags(source) for source in sources]))
