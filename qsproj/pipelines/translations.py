"""Translations of one text into several languages, brought together by the sentence that they share."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from qsproj.corpus.sentence import SentencePair
from qsproj.errors import DataError

# One target sentence with its translations, one pair for each of them; never empty.
Translations = tuple[SentencePair, ...]


def join_translations(sources: tuple[Iterable[SentencePair], ...]) -> Iterator[Translations]:
    """Yield the translations of one target sentence after the other; each source has the same, in one order.

    Raises DataError at the first place where two sources do not have the same target sentence.
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
    """Yield the translations of each target sentence: one of each corpus that has it, by its words.

    Those that a corpus has twice are joined in their order. The sentences of the first corpus come first. All
    corpora but the first are held in memory.
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
    """Take the next pair of the same target sentence from each corpus that has one."""
    for rest in waiting:
        queue = rest.get(pair.target.forms)
        if queue:
            yield queue.popleft()
