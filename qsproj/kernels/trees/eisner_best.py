"""Best projective tree (Eisner 1996): Viterbi in O(n^3) time, O(n^2) memory.

The charts of every Eisner kernel are laid out alike, so that each inner loop walks along two rows:

``closed[h, e]``
    the span between head ``h`` and its far end ``e``, all of it below ``h``; the side of ``e`` gives the
    direction, so one array holds both;
``closed_by_end[e, h]``
    the same, transposed;
``open[h, d]``
    the span between head ``h`` and dependent ``d`` with the arc h -> d, neither side yet complete outwards.

For a span i < j::

    link          = max over i <= k < j of  closed[i, k] + closed[j, k + 1]
    open[i, j]    = link + scores[i, j]                 open[j, i] = link + scores[j, i]
    closed[i, j]  = max over i < k <= j of  open[i, k] + closed_by_end[j, k]
    closed[j, i]  = max over i <= k < j of  open[j, k] + closed_by_end[i, k]

Every tree has one derivation. *Source*: thesis appendix B, where the chart starts at semiring one.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit

# "nnan" lets the maxima use vector instructions; it is safe where scores are finite or -inf, since the
# kernels that have it only ever add and compare.
MAXIMUM_FLAGS = {"reassoc", "contract", "nsz", "arcp", "nnan"}


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def _maximum(left, right):
    """Return the maximum of ``left + right``."""
    best = -np.inf
    for k in range(left.shape[0]):
        best = max(best, left[k] + right[k])
    return best


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def best_charts(scores, first):
    """Fill the Viterbi charts over the words ``first..n``.

    ``first``: 0 to let the root (word 0) take dependents as any word does, 1 to leave it out. Returns
    ``closed``, ``closed_by_end``, ``open`` float64[n+1, n+1]: as the module says; only the entries of spans
    in ``first..n`` are set.
    """
    size = scores.shape[0]
    closed = np.full((size, size), -np.inf)
    closed_by_end = np.full((size, size), -np.inf)
    opened = np.full((size, size), -np.inf)
    for i in range(size):
        closed[i, i] = 0.0
        closed_by_end[i, i] = 0.0
    for width in range(1, size - first):
        for i in range(first, size - width):
            j = i + width
            link = _maximum(closed[i, i:j], closed[j, i + 1 : j + 1])
            opened[i, j] = link + scores[i, j]
            closed[i, j] = _maximum(opened[i, i + 1 : j + 1], closed_by_end[j, i + 1 : j + 1])
            closed_by_end[j, i] = closed[i, j]
            if i > 0:
                opened[j, i] = link + scores[j, i]
                closed[j, i] = _maximum(opened[j, i:j], closed_by_end[i, i:j])
                closed_by_end[i, j] = closed[j, i]
    return closed, closed_by_end, opened


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def _last_argmax(left, right):
    """Return where ``left + right`` is greatest: the split a chart entry came from."""
    best, where = -np.inf, 0
    for k in range(left.shape[0]):
        value = left[k] + right[k]
        if value >= best:
            best, where = value, k
    return where


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def _follow(closed, closed_by_end, opened, top, heads):
    """Write into ``heads`` the best tree below the head ``top``, out to both ends of the chart.

    Splits are found anew instead of stored: a tree needs 2n of them, the charts would hold 2n^2.
    """
    last = heads.shape[0] - 1
    stack = np.empty((2 * last + 2, 2), np.int64)
    stack[0, 0], stack[0, 1] = top, min(top, 1)
    stack[1, 0], stack[1, 1] = top, last
    depth = 2
    while depth > 0:
        depth -= 1
        head, end = stack[depth, 0], stack[depth, 1]
        if head == end:
            continue
        if head < end:
            near = head + 1
            k = near + _last_argmax(opened[head, near : end + 1], closed_by_end[end, near : end + 1])
        else:
            k = end + _last_argmax(opened[head, end:head], closed_by_end[end, end:head])
        heads[k] = head
        i, j = min(head, k), max(head, k)
        split = i + _last_argmax(closed[i, i:j], closed[j, i + 1 : j + 1])
        stack[depth, 0], stack[depth, 1] = k, end
        stack[depth + 1, 0], stack[depth + 1, 1] = i, split
        stack[depth + 2, 0], stack[depth + 2, 1] = j, split + 1
        depth += 3


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def eisner_best(scores, single_root):
    """Find the best projective tree.

    Returns the heads, meaningless where the score is -inf, and the score: -inf when no tree is possible.
    """
    size = scores.shape[0]
    last = size - 1
    heads = np.full(size, -1, np.int32)
    closed, closed_by_end, opened = best_charts(scores, 1 if single_root else 0)
    # For a literal, numba would compile `_follow` once more.
    score, top = closed[0, last], int(np.int64(0))
    if single_root:
        score = -np.inf
        for k in range(1, size):
            value = scores[0, k] + closed[k, 1] + closed[k, last]
            if value > score:
                score, top = value, k
        heads[top] = 0
    if score > -np.inf:
        _follow(closed, closed_by_end, opened, top, heads)
    heads[0] = -1
    return heads, score
