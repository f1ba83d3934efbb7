"""Punctuation kept out of a model: stripped before, put back into the tree after.

A model of tags alone makes the full stop a head, since it is in almost every sentence (thesis 4.6.3.2,
footnote 2). Where it hangs is a convention, which a rule knows better.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD, ROOT, Heads
from qsproj.errors import unknown_name

PUNCTUATION_TAG = "PUNCT"
PUNCTUATION_MODES = ("keep", "strip")


def kept_words(upos: Sequence[str], *, punctuation: str) -> NDArray[np.int64]:
    """Return the words (1-based) that a model sees: all, or with ``strip`` those that are no punctuation.

    A sentence of nothing but punctuation is kept whole.

    Raises UsageError when ``punctuation`` is not one of PUNCTUATION_MODES.
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
    """Put words that were stripped back into a tree.

    A word is attached to the dependent of the shortest arc over it: the unit that a comma or a bracket sets
    off; under no arc, to the root's child, as a full stop is. A projective tree stays projective.

    ``heads`` int32[k+1]: a projective tree over the kept words. ``kept`` int64[k]: their places, 1..n. ``n``:
    number of all words. Returns int32[n+1].

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
