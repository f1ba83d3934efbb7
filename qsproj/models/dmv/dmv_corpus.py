"""Sentences packed into arrays of tags, as the DMV's kernels read them; punctuation stripped and put back.

A model of tags alone makes the full stop a head, since it is in almost every sentence (thesis 4.6.3.2,
footnote 2). Where it hangs is a convention, which a rule knows better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD, ROOT, Heads
from qsproj.corpus.sentence import Sentence
from qsproj.errors import NothingToLearnError, unknown_name

PUNCTUATION_TAG = "PUNCT"
PUNCTUATION_MODES = ("keep", "strip")


def kept_words(upos: Sequence[str], *, punctuation: str) -> NDArray[np.int64]:
    """Return the words (1-based) that a model sees: all, or with ``strip`` those that are no punctuation.

    A sentence of nothing but punctuation is kept whole.
    """
    if punctuation not in PUNCTUATION_MODES:
        raise unknown_name("treatment of punctuation", punctuation, list(PUNCTUATION_MODES))
    everything = np.arange(1, len(upos) + 1)
    if punctuation == "keep":
        return everything
    words = everything[[tag != PUNCTUATION_TAG for tag in upos]]
    return words if len(words) else everything


def strip_heads(heads: Heads, kept: NDArray[np.int64]) -> Heads:
    """Return the heads of the kept words in their new numbering; -1 where the head was not kept."""
    places = np.full(len(heads), NO_HEAD, dtype=np.int32)
    places[ROOT] = ROOT
    places[kept] = np.arange(1, len(kept) + 1)
    known = heads[kept] != NO_HEAD
    stripped = np.full(len(kept) + 1, NO_HEAD, dtype=np.int32)
    stripped[1:][known] = places[heads[kept][known]]
    return stripped


def attach_stripped(heads: Heads, kept: NDArray[np.int64], n: int) -> Heads:
    """Put words that were stripped back into a projective tree int32[k+1] over the ``kept`` of n words.

    A word is attached to the dependent of the shortest arc over it: the unit that a comma or a bracket sets
    off; under no arc, to the root's child, as a full stop is. A projective tree stays projective.

    *Source*: the rule is ours, after the guidelines of Universal Dependencies for ``punct``.
    """
    places = np.concatenate([[ROOT], kept])
    whole = np.full(n + 1, NO_HEAD, dtype=np.int32)
    whole[kept] = places[heads[1:]]
    top = kept[np.flatnonzero(heads[1:] == ROOT)[0]]
    dependents = kept[whole[kept] != ROOT]
    low = np.minimum(dependents, whole[dependents])
    high = np.maximum(dependents, whole[dependents])
    for word in np.setdiff1d(np.arange(1, n + 1), kept):
        over = np.flatnonzero((low < word) & (word < high))
        whole[word] = dependents[over[np.argmin((high - low)[over])]] if len(over) else top
    return whole


UNKNOWN_TAG = "_"


@dataclass(frozen=True, slots=True, eq=False)
class TagCorpus:
    """Tags and known heads of S sentences, W words in all.

    ``tags`` int16[W]: numbers in a tag inventory. ``starts`` int64[S+1]: where each sentence starts, and W.
    ``heads`` int16[W]: 1-based within the sentence, 0 for the root, -1 where free.
    """

    tags: NDArray[np.int16]
    starts: NDArray[np.int64]
    heads: NDArray[np.int16]

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.starts) - 1

    def select(self, wanted: NDArray[np.bool_]) -> TagCorpus:
        lengths = np.diff(self.starts)
        words = np.repeat(wanted, lengths)
        return TagCorpus(self.tags[words], offsets(lengths[wanted]), self.heads[words])

    def without_heads(self) -> TagCorpus:
        return TagCorpus(self.tags, self.starts, np.full_like(self.heads, NO_HEAD))


class TagNumbering:
    """Numbers for tags in the order in which they first occur; 0 is the unknown tag's.

    So a corpus can be packed while it is read, without looking for its tags first.
    """

    def __init__(self) -> None:
        self._numbers = {UNKNOWN_TAG: 0}

    def number(self, upos: Sequence[str]) -> NDArray[np.int16]:
        """Return the number of each tag; one that was not met before gets the next."""
        numbers = self._numbers
        return np.array([numbers.setdefault(tag, len(numbers)) for tag in upos], dtype=np.int16)

    def inventory(self, of: str = "the training data") -> tuple[str, ...]:
        """Return the tags met so far, in the order of their numbers; UsageError when no word had a tag."""
        if len(self._numbers) == 1:
            raise NothingToLearnError(f"no word of {of} has a UPOS tag; tag it first: qsproj tag --help")
        return tuple(self._numbers)


def offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return int64[S+1], where each of S consecutive runs starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def tag_numbers(upos: Sequence[str], inventory: Sequence[str]) -> NDArray[np.int16]:
    """Return the place of each tag in the inventory; 0, the unknown tag, for one that is not there."""
    places = {tag: number for number, tag in enumerate(inventory)}
    return np.array([places.get(tag, 0) for tag in upos], dtype=np.int16)


def pack(
    sentences: Sequence[Sentence],
    number: Callable[[Sequence[str]], NDArray[np.int16]],
    *,
    punctuation: str,
    heads: Sequence[Heads] | None = None,
) -> TagCorpus:
    """Pack sentences, without punctuation that is to be stripped; ``heads`` int32[n+1] are known heads."""
    tags, known = [], []
    for place, sentence in enumerate(sentences):
        kept = kept_words(sentence.upos, punctuation=punctuation)
        tags.append(number(sentence.upos)[kept - 1])
        if heads is None:
            known.append(np.full(len(kept), NO_HEAD, dtype=np.int16))
        else:
            known.append(strip_heads(heads[place], kept)[1:].astype(np.int16))
    empty = np.zeros(0, dtype=np.int16)
    return TagCorpus(
        np.concatenate([empty, *tags]),
        offsets(np.array([len(one) for one in tags], dtype=np.int64)),
        np.concatenate([empty, *known]),
    )
