"""Projective trees by Eisner's algorithm (1996): best, and sums in probability space.

O(n^3) time, O(n^2) memory. Charts of every Eisner kernel: ``closed[h, e]``, the span between head ``h`` and
its far end ``e``, all of it below ``h`` (the side of ``e`` gives the direction); ``closed_by_end[e, h]``, the
same, transposed; ``open[h, d]``, the span between ``h`` and its dependent ``d``. For a span i < j::

    link          = max over i <= k < j of  closed[i, k] + closed[j, k + 1]
    open[i, j]    = link + scores[i, j]                 open[j, i] = link + scores[j, i]
    closed[i, j]  = max over i < k <= j of  open[i, k] + closed_by_end[j, k]
    closed[j, i]  = max over i <= k < j of  open[j, k] + closed_by_end[i, k]

Sums have products and sums for sums and maxima; the column of each dependent is shifted by the score of its
head in the best tree, so that this tree weighs 1. Marginals are the reverse mode of the inside pass.

*Source*: thesis appendix B; the shifts and the range check are ours (docs/notes/tree-inference.md).
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.trees.semirings import MAXIMUM_FLAGS, maximum, product


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def best_charts(scores, first):
    """Fill the Viterbi charts over the words ``first..n``: from 0, or from 1 to leave out the root.

    Returns ``closed``, ``closed_by_end``, ``open``; only the entries of spans in ``first..n`` are set.
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
            link = maximum(closed[i, i:j], closed[j, i + 1 : j + 1])
            opened[i, j] = link + scores[i, j]
            closed[i, j] = maximum(opened[i, i + 1 : j + 1], closed_by_end[j, i + 1 : j + 1])
            closed_by_end[j, i] = closed[i, j]
            if i > 0:
                opened[j, i] = link + scores[j, i]
                closed[j, i] = maximum(opened[j, i:j], closed_by_end[i, i:j])
                closed_by_end[i, j] = closed[j, i]
    return closed, closed_by_end, opened


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def last_argmax(left, right):
    """Return the position of the maximum of ``left + right``: the split of a chart entry."""
    best, where = -np.inf, 0
    for k in range(left.shape[0]):
        value = left[k] + right[k]
        if value >= best:
            best, where = value, k
    return where


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def _follow(closed, closed_by_end, opened, top, heads):
    """Write into ``heads`` the best tree below the head ``top``, out to both ends of the chart.

    Splits are recomputed instead of stored: a tree needs 2n of them, the charts would hold 2n^2.
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
            k = near + last_argmax(opened[head, near : end + 1], closed_by_end[end, near : end + 1])
        else:
            k = end + last_argmax(opened[head, end:head], closed_by_end[end, end:head])
        heads[k] = head
        i, j = min(head, k), max(head, k)
        split = i + last_argmax(closed[i, i:j], closed[j, i + 1 : j + 1])
        stack[depth, 0], stack[depth, 1] = k, end
        stack[depth + 1, 0], stack[depth + 1, 1] = i, split
        stack[depth + 2, 0], stack[depth + 2, 1] = j, split + 1
        depth += 3


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def eisner_best(scores, single_root):
    """Find the best projective tree: heads, and the score, -inf when no tree is possible."""
    size = scores.shape[0]
    last = size - 1
    heads = np.full(size, -1, np.int32)
    closed, closed_by_end, opened = best_charts(scores, 1 if single_root else 0)
    # Not a literal, for which numba would compile `_follow` once more.
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


# The error of underflow, 1e-308, is magnified by derivatives. While no number of the charts and no derivative
# exceeds this limit, probabilities are exact; derivatives of at most UNDERFLOW times the square of the
# greatest number may have lost digits and are returned as 0.
LIMIT = 1e120
UNDERFLOW = 1e-290


@njit(cache=True, error_model="numpy", fastmath=FAST)
def inside(weights, first):
    """Sum the weights of all derivations of every span of the words ``first..n``.

    ``weights`` float64[n+1, n+1], probability scale, are 0 where forbidden, in column 0 and on the diagonal.
    Returns ``closed, closed_by_end, opened, links``; ``links`` are ``opened`` without the weight of the arc.
    """
    size = weights.shape[0]
    closed = np.zeros((size, size))
    closed_by_end = np.zeros((size, size))
    opened = np.zeros((size, size))
    links = np.zeros((size, size))
    for i in range(size):
        closed[i, i] = 1.0
        closed_by_end[i, i] = 1.0
    for width in range(1, size - first):
        for i in range(first, size - width):
            j = i + width
            links[i, j] = product(closed[i, i:j], closed[j, i + 1 : j + 1])
            opened[i, j] = links[i, j] * weights[i, j]
            closed[i, j] = product(opened[i, i + 1 : j + 1], closed_by_end[j, i + 1 : j + 1])
            closed_by_end[j, i] = closed[i, j]
            if i > 0:
                links[j, i] = links[i, j]
                opened[j, i] = links[j, i] * weights[j, i]
                closed[j, i] = product(opened[j, i:j], closed_by_end[i, i:j])
                closed_by_end[i, j] = closed[j, i]
    return closed, closed_by_end, opened, links


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _outside(weights, first, closed, closed_by_end, opened, d_closed):
    """Propagate derivatives from the goal to the arcs: the inside pass in reverse, widest spans first.

    ``d_closed`` has the derivatives of the goal's own parts, and is completed. Returns ``d_opened``. Each
    derivative is collected from the wider spans that contain its span, along rows.
    """
    size = weights.shape[0]
    d_closed_by_end = np.zeros((size, size))
    d_opened = np.zeros((size, size))
    d_links = np.zeros((size, size))
    opened_by_dependent = opened.T.copy()
    for width in range(size - 1 - first, 0, -1):
        for i in range(first, size - width):
            j = i + width
            # Head i, end j: below a head g < i, or the left half of a link from i to some g > j.
            d_closed[i, j] += product(d_closed_by_end[j, first:i], opened_by_dependent[i, first:i])
            if j + 1 < size:
                d_closed[i, j] += product(d_links[i, j + 1 :], closed_by_end[j + 1, j + 1 :])
            d_closed_by_end[j, i] = d_closed[i, j]
            d_opened[i, j] = product(d_closed[i, j:], closed[j, j:])
            d_links[i, j] = d_opened[i, j] * weights[i, j]
            if i > 0:
                # Head j, end i: below a head g > j, or the right half of a link from some g < i to j.
                d_closed[j, i] += product(d_closed_by_end[i, j + 1 :], opened_by_dependent[j, j + 1 :])
                d_closed[j, i] += product(d_links[j, first:i], closed_by_end[i - 1, first:i])
                d_closed_by_end[i, j] = d_closed[j, i]
                d_opened[j, i] = product(d_closed[j, first : i + 1], closed[i, first : i + 1])
                d_links[i, j] += d_opened[j, i] * weights[j, i]
            d_links[j, i] = d_links[i, j]
    return d_opened


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _shifted_weights(scores, heads):
    """Return exp(scores - shift), 0 in column 0 and on the diagonal, and the sum of the shifts."""
    size = scores.shape[0]
    weights = np.zeros((size, size))
    for h in range(size):
        for d in range(1, size):
            if h != d:
                weights[h, d] = np.exp(scores[h, d] - scores[heads[d], d])
    shift = 0.0
    for d in range(1, size):
        shift += scores[heads[d], d]
    return weights, shift


@njit(cache=True, error_model="numpy", fastmath=FAST)
def eisner_posterior(scores, heads, single_root):
    """Sum over all projective trees.

    ``heads`` int32[n+1] is a best tree; column d is shifted by ``scores[heads[d], d]``. Returns log Z; the
    marginals; the derivatives d log Z / d weight, the weight being exp(score - shift), 0 where underflow may
    have cost digits: log(derivative) + score - shift is the log of a marginal too small for a float; and
    False where numbers left the range in which the result is exact (then use ``eisner_log``).
    """
    size = scores.shape[0]
    last = size - 1
    weights, shift = _shifted_weights(scores, heads)
    first = 1 if single_root else 0
    closed, closed_by_end, opened, links = inside(weights, first)
    d_closed = np.zeros((size, size))
    z = closed[0, last]
    if single_root:
        z = 0.0
        for k in range(1, size):
            links[0, k] = closed[k, 1] * closed[k, last]
            opened[0, k] = links[0, k] * weights[0, k]
            z += opened[0, k]
        for k in range(1, size):
            d_closed[k, 1] += weights[0, k] * closed[k, last] / z
            d_closed[k, last] += weights[0, k] * closed[k, 1] / z
    else:
        d_closed[0, last] = 1.0 / z
    d_opened = _outside(weights, first, closed, closed_by_end, opened, d_closed)
    marginals = np.zeros((size, size))
    reach = 0.0
    for h in range(size):
        for d in range(1, size):
            if single_root and h == 0:
                d_opened[h, d] = 1.0 / z
            reach += weights[h, d] + closed[h, d] + opened[h, d] + d_closed[h, d] + d_opened[h, d]
            marginals[h, d] = opened[h, d] * d_opened[h, d]
            links[h, d] *= d_opened[h, d]
    floor = UNDERFLOW * reach * reach
    for h in range(size):
        for d in range(1, size):
            if links[h, d] < floor:
                links[h, d] = 0.0
    return np.log(z) + shift, marginals, links, reach < LIMIT
