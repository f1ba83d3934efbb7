"""Joining of translations of one text into several languages by their common sentences."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT
from qsproj.corpus.sentence import Alignment, SentencePair
from qsproj.errors import DataError

# One target sentence with its translations, one pair for each; never empty.
Translations = tuple[SentencePair, ...]


def link_strengths(alignment: Alignment) -> NDArray[np.float64]:
    """Return the link strength of each source and target word, float64[m+1, n+1] in 0..1.

    The weight of a link times its share in the weights of all links of either word: each link of a word with
    two links counts half, so that one-to-one links count most. The roots are linked.
    """
    weights = np.zeros((alignment.n_source + 1, alignment.n_target + 1))
    links = alignment.links
    weights[links[:, 0], links[:, 1]] = 1.0 if alignment.weights is None else alignment.weights
    # Avoids division by zero for words without links, whose rows and columns stay zero.
    tiny = np.finfo(np.float64).tiny
    of_source = weights / np.maximum(weights.sum(axis=1, keepdims=True), tiny)
    of_target = weights / np.maximum(weights.sum(axis=0, keepdims=True), tiny)
    strengths: NDArray[np.float64] = weights * of_source * of_target
    strengths[ROOT, ROOT] = 1.0
    return strengths


def join_translations(sources: tuple[Iterable[SentencePair], ...]) -> Iterator[Translations]:
    """Yield the translations of each target sentence, which all sources must have in the same order.

    Raises DataError at the first target sentence that differs between two sources.
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


def join_same_targets(corpora: Sequence[Iterable[SentencePair]]) -> Iterator[Translations]:
    """Yield the translations of each target sentence, one from each corpus with the same words.

    Repeated sentences are joined in order. The sentences of the first corpus come first. All corpora but the
    first are held in memory.
    """
    waiting: list[dict[tuple[str, ...], deque[SentencePair]]] = []
    for pairs in corpora[1:]:
        found: dict[tuple[str, ...], deque[SentencePair]] = {}
        for pair in pairs:
            found.setdefault(pair.target.forms, deque()).append(pair)
        waiting.append(found)
    for pair in corpora[0]:
        yield pair, *_next_of_each(waiting, pair)
    for number, rest in enumerate(waiting, start=1):
        for queue in rest.values():
            while queue:
                pair = queue.popleft()
                yield pair, *_next_of_each(waiting[number:], pair)


def _next_of_each(
    waiting: Iterable[dict[tuple[str, ...], deque[SentencePair]]], pair: SentencePair
) -> Iterator[SentencePair]:
    """Return the next pair of the same target sentence from each corpus that has one."""
    for rest in waiting:
        queue = rest.get(pair.target.forms)
        if queue:
            yield queue.popleft()
