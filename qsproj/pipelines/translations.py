"""Translations of one text into several languages, brought together by the sentence that they share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from qsproj.corpus.sentence import SentencePair
from qsproj.errors import DataError

# One target sentence with its translations, one pair for each of them; never empty.
Translations = tuple[SentencePair, ...]


def join_translations(sources: tuple[Iterable[SentencePair], ...]) -> Iterator[Translations]:
    """Yield the translations of one target sentence after the other.

    Parameters
    ----------
    sources : tuple of iterable of SentencePair
        One for each source language: the same target sentences in the same order. Read in step.

    Raises
    ------
    DataError
        At the first place where two sources do not have the same target sentence.
    """
    for number, pairs in enumerate(zip_longest(*sources), start=1):
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
