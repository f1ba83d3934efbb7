"""Crossing arcs of trees, which projective models cannot build."""

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD, Heads, Mask, is_whole


def crossing_arcs(heads: Heads) -> Mask:
    """Return whether the arc into each word, the root's too, crosses another: bool[n+1]; O(n^2)."""
    return _crossing_counts(heads) > 0


def crossings(heads: Heads) -> NDArray[np.int64]:
    """Return the words int64[k, 2] of every two arcs that cross, the arc further left first; O(n^2)."""
    words = np.arange(len(heads))
    # An arc from a word to itself crosses none.
    ends = np.where(heads == NO_HEAD, words, heads)
    low, high = np.minimum(words, ends), np.maximum(words, ends)
    return np.argwhere((low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high))


def has_crossings(heads: Heads) -> bool:
    """Return whether any of the :func:`crossing_arcs` is True; O(n log n)."""
    arcs = ((word, head) if word < head else (head, word) for word, head in enumerate(heads.tolist()))
    ends: list[int] = []
    # Of the arcs that begin before this one and reach beyond its start, the last has the nearest end.
    for low, minus_high in sorted((low, -high) for low, high in arcs if low != NO_HEAD):
        while ends and ends[-1] <= low:
            ends.pop()
        if ends and ends[-1] < -minus_high:
            return True
        ends.append(-minus_high)
    return False


def _crossing_counts(heads: Heads) -> NDArray[np.int64]:
    return np.bincount(crossings(heads).reshape(-1), minlength=len(heads))


def projectivise(heads: Heads) -> Heads:
    """Return the nearest projective tree found by lifting the shortest non-projective arc first.

    An arc is non-projective when some word between its ends does not descend from its head; lifting attaches
    its dependent to the head's own head. A projective tree is returned unchanged. O(n^2) for each lift.
    Raises ValueError when a word has no head, so that arcs cannot be lifted (see :func:`without_crossings`).

    *Source*: Nivre and Nilsson 2005 (pseudo-projective parsing), without their encoding of the lifts.
    """
    if not is_whole(heads):
        raise ValueError("a word has no head, expected a whole tree")
    if not has_crossings(heads):
        return heads
    lifted = heads.copy()
    while True:
        # Whether the row's word is the column's word or an ancestor of it.
        dominates = np.eye(len(lifted), dtype=np.bool_)
        dominates[0] = True
        for word, ancestor in enumerate(lifted.tolist()):
            while ancestor > 0:
                dominates[ancestor, word] = True
                ancestor = int(lifted[ancestor])
        lengths = {
            dependent: abs(dependent - head)
            for dependent, head in enumerate(lifted.tolist())
            if dependent and not dominates[head, min(head, dependent) + 1 : max(head, dependent)].all()
        }
        if not lengths:
            return lifted
        shortest = min(lengths, key=lengths.__getitem__)
        lifted[shortest] = lifted[lifted[shortest]]


def without_crossings(heads: Heads) -> Heads:
    """Return the partial tree without crossings, removing the arc with most crossings first."""
    kept = heads.copy()
    while has_crossings(kept):
        kept[int(_crossing_counts(kept).argmax())] = NO_HEAD
    return kept


def nearest_projective(heads: Heads) -> Heads:
    """Lift a whole tree (:func:`projectivise`); remove crossing arcs of a partial one."""
    return projectivise(heads) if is_whole(heads) else without_crossings(heads)
