"""Joining of translations of one text into several languages by their common sentences."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, count, groupby, pairwise

import numpy as np

from qsproj.conventions import NO_HEAD, ROOT, Floats, frozen_heads
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, make_alignment

# One target sentence with its translations, one pair for each; never empty.
Translations = tuple[SentencePair, ...]
_TINY = float(np.finfo(np.float64).tiny)  # avoids division by zero for words without links


def link_strengths(alignment: Alignment) -> Floats:
    """Return the link strength of each source and target word, float64[m+1, n+1] in 0..1.

    The weight of a link times its share in the weights of all links of either word: each link of a word with
    two links counts half, so that one-to-one links count most. The roots are linked.
    """
    weights = np.zeros((alignment.n_source + 1, alignment.n_target + 1))
    links = alignment.links
    weights[links[:, 0], links[:, 1]] = alignment.shares
    of_source = weights / np.maximum(weights.sum(axis=1, keepdims=True), _TINY)
    of_target = weights / np.maximum(weights.sum(axis=0, keepdims=True), _TINY)
    strengths: Floats = weights * of_source * of_target
    strengths[ROOT, ROOT] = 1.0
    return strengths


def join_same_targets(corpora: Sequence[Iterable[SentencePair]]) -> Iterator[Translations]:
    """Yield the translations of each target sentence, from all corpora that have it.

    Each bitext cuts long verses and lines in its own way, so that sentences are also joined by place: those
    of another corpus, of the same verse or line, give a sentence of the first the links of their common
    words. Repeated sentences are joined in order. The sentences of the first corpus come first; those only in
    a later one get its number before their ``sent_id``. All corpora but the first are held in memory.
    """
    others = [_Waiting(pairs) for pairs in corpora[1:]]
    unnamed = count()
    for name, group in groupby(corpora[0], lambda pair: text_name(pair.target.sent_id) or next(unnamed)):
        pairs = list(group)
        places = [_Places([pair.target.forms for pair in pairs]) for _ in others]
        found = [other.overlapping(name, place) for other, place in zip(others, places, strict=True)]
        for number, pair in enumerate(pairs):
            pairs_of = zip(found, others, strict=True)
            more = (of_other[number] or other.same(pair) for of_other, other in pairs_of)
            yield pair, *chain.from_iterable(more)
    for number, rest in enumerate(others, start=1):
        for left in rest.left.values():
            sent_id = left.target.sent_id and f"{number + 1}-{left.target.sent_id}"
            pair = replace(left, target=replace(left.target, sent_id=sent_id))
            yield pair, *chain.from_iterable(other.same(pair) for other in others[number:])


def text_name(sent_id: str | None) -> str | None:
    """Return the name of the verse or line of a sentence: ``MAT_1:2`` of its second part ``MAT_1:2.2``."""
    name, _, part = (sent_id or "").rpartition(".")
    return name if part.isdigit() and name else sent_id


class _Places:
    """The words of consecutive sentences, where those of others are looked for. Mutable; final."""

    def __init__(self, sentences: Sequence[tuple[str, ...]]) -> None:
        self.words = tuple(chain.from_iterable(sentences))
        self.ends = list(accumulate(map(len, sentences)))
        self._after = 0

    def find(self, words: tuple[str, ...]) -> int | None:
        """Return the start of some words after those found before, None where they are missing."""
        for start in range(self._after, len(self.words) - len(words) + 1):
            if self.words[start : start + len(words)] == words:
                self._after = start + len(words)
                return start
        return None


class _Waiting:
    """The pairs of a corpus that are not joined yet, by words and by verse or line. Mutable; final."""

    def __init__(self, pairs: Iterable[SentencePair]) -> None:
        self.left: dict[int, SentencePair] = dict(enumerate(pairs))
        self._by_words: dict[tuple[str, ...], deque[int]] = {}
        self._by_text: dict[str | int, list[int]] = {}
        for number, pair in self.left.items():
            self._by_words.setdefault(pair.target.forms, deque()).append(number)
            if (name := text_name(pair.target.sent_id)) is not None:
                self._by_text.setdefault(name, []).append(number)

    def overlapping(self, name: str | int, places: _Places) -> list[list[SentencePair]]:
        """Take the pairs of a text whose words are there; return their parts for each of its sentences."""
        found: list[list[SentencePair]] = [[] for _ in places.ends]
        for number in self._by_text.get(name, []):
            start = places.find(self.left[number].target.forms) if number in self.left else None
            if start is not None:
                pair = self.left.pop(number)
                for parts, (begin, end) in zip(found, pairwise([0, *places.ends]), strict=True):
                    if begin < start + len(pair.target) and start < end:
                        parts.append(_part(pair, start, places.words[begin:end], begin))
        return found

    def same(self, pair: SentencePair) -> list[SentencePair]:
        """Take the next pair of the same target words, if there is one."""
        numbers = self._by_words.get(pair.target.forms, deque())
        while numbers:
            if (found := self.left.pop(numbers.popleft(), None)) is not None:
                return [found]
        return []


def _part(pair: SentencePair, start: int, words: tuple[str, ...], begin: int) -> SentencePair:
    """Return the links of a pair to other words of the same text, from their places in the text."""
    if start == begin and len(words) == len(pair.target):
        return pair
    links = pair.alignment.links + np.array([0, start - begin], dtype=np.int32)
    kept = (links[:, 1] >= 1) & (links[:, 1] <= len(words))
    weights = None if pair.alignment.weights is None else pair.alignment.weights[kept]
    sizes = len(pair.source), len(words)
    alignment = make_alignment(*sizes, links[kept], pair.alignment.sure[kept], weights)
    source, is_whole = pair.source, start <= begin and begin + len(words) <= start + len(pair.target)
    if not is_whole:
        source = replace(source, heads=frozen_heads(np.where(source.heads == ROOT, NO_HEAD, source.heads)))
    return SentencePair(source, Sentence.from_words(words), alignment)
