"""Scores of the parts of trees that :mod:`qsproj.trees.second_order` takes: arcs, siblings, grandparents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.conventions import NO_HEAD, ROOT, Heads, Scores, check_scores, frozen_heads

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SecondOrderScores:
    """Scores of the parts of a tree, natural log, -inf forbids; make them with :func:`second_order_scores`.

    Attributes
    ----------
    arcs : float64[n+1, n+1]
        [head, dependent]: LINK.
    siblings : float64[n+1, n+1, n+1]
        [head, dependent, previous]: CHILDSEQ. The previous one is the next dependent of the head from this
        one towards the head, or the head itself where there is none: the step from "#".
    stops : float64[n+1, n+1]
        [head, outermost dependent]: the step to "#", once for each side that has a dependent.
    childless : float64[n+1, 2]
        [head, side]: the step from "#" to "#", for each side without a dependent (0 left, 1 right). Not
        read for the root.
    grandparents : float64[n+1, n+1, n+1] or None
        [grandparent, head, dependent]: GRAND. None: no such scores, and O(n^3) instead of O(n^4).
    """

    arcs: Scores
    siblings: Array
    stops: Array
    childless: Array
    grandparents: Array | None


def second_order_scores(
    arcs: ArrayLike,
    *,
    siblings: ArrayLike | None = None,
    stops: ArrayLike | None = None,
    childless: ArrayLike | None = None,
    grandparents: ArrayLike | None = None,
) -> SecondOrderScores:
    """Check scores and put them together; see :class:`SecondOrderScores`. None is 0 everywhere.

    Raises
    ------
    ValueError
        When a shape does not fit, or NaN or +inf stands where a score is read.
    """
    links = check_scores(arcs)
    size = links.shape[0]
    head, dependent = np.ogrid[:size, :size]
    is_arc = (dependent > 0) & (head != dependent)
    previous = np.arange(size)
    steps = is_arc[:, :, None] & (
        ((head[..., None] <= previous) & (previous < dependent[..., None]))
        | ((head[..., None] >= previous) & (previous > dependent[..., None]))
    )
    chains = is_arc[:, :, None] & is_arc[None, :, :] & (head[..., None] != previous)
    sides = np.ones((size, 2), dtype=bool)
    sides[ROOT] = False
    return SecondOrderScores(
        np.where(is_arc, links, 0.0),
        _checked("sibling", siblings, steps),
        _checked("stop", stops, is_arc),
        _checked("childless", childless, sides),
        None if grandparents is None else _checked("grandparent", grandparents, chains),
    )


def tree_score(scores: SecondOrderScores, heads: ArrayLike) -> float:
    """Return the score of a tree, int[n+1], projective or not: the sum over its parts, natural log."""
    tree = frozen_heads(heads)
    previous, outermost = sequences(tree)
    words = np.arange(1, tree.size)
    above = tree[1:]
    total = scores.arcs[above, words].sum() + scores.siblings[above, words, previous[1:]].sum()
    total += ends_of_sequences(scores.stops, scores.childless, outermost).sum()
    if scores.grandparents is not None:
        inner = above > ROOT
        total += scores.grandparents[tree[above[inner]], above[inner], words[inner]].sum()
    return float(total)


def sequences(heads: Heads) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the previous sibling of each word, int32[n+1], and outermost dependents, int32[n+1, 2].

    Where there is none, both name the head itself.
    """
    previous = np.full(heads.size, NO_HEAD, dtype=np.int32)
    outermost = np.repeat(np.arange(heads.size, dtype=np.int32)[:, None], 2, axis=1)
    for side, words in ((1, range(1, heads.size)), (0, range(heads.size - 1, 0, -1))):
        for word in words:
            head = heads[word]
            if (word > head) == side:
                previous[word] = outermost[head, side]
                outermost[head, side] = word
    return previous, outermost


def ends_of_sequences(stops: Array, childless: Array, outermost: NDArray[np.int32]) -> Array:
    """Return float64[n+1, 2], what ends each sequence of dependents scores; 0 on the left of the root."""
    words = np.arange(outermost.shape[0])[:, None]
    ends = np.where(outermost == words, childless, stops[words, outermost])
    ends[ROOT, 0] = 0.0
    return ends


def _checked(name: str, scores: ArrayLike | None, is_read: NDArray[np.bool_]) -> Array:
    """Return scores as float64, 0 where they are not read; raise ValueError where one that is is none."""
    if scores is None:
        return np.zeros(is_read.shape)
    array = np.asarray(scores, dtype=np.float64)
    if array.shape != is_read.shape:
        raise ValueError(f"{name} scores have shape {array.shape}, expected {is_read.shape}")
    wrong = is_read & ~(array < np.inf)
    if wrong.any():
        place = tuple(int(index) for index in np.argwhere(wrong)[0])
        raise ValueError(f"the {name} score {list(place)} is {array[place]}, expected finite or -inf")
    return np.where(is_read, array, 0.0)
