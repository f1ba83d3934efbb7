"""Projective trees by Eisner's algorithm (1996): the best, and sums in probability or log space.

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

import numpy as np

from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.trees.semirings import (
    LOG,
    MAXIMUM,
    MAXIMUM_FLAGS,
    PROBABILITY,
    inner,
    one,
    plus,
    times,
    zero,
)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def charts(weights, first, semiring):
    """Fill the charts ``closed, closed_by_end, opened, links`` over the words ``first..n`` of a semiring.

    ``weights`` float64[n+1, n+1]: numbers of it. ``links`` are ``opened`` without the weight of the arc.
    """
    size = weights.shape[0]
    closed = np.full((size, size), zero(semiring), weights.dtype)
    closed_by_end, opened, links = closed.copy(), closed.copy(), closed.copy()
    for i in range(size):
        closed[i, i] = one(semiring)
        closed_by_end[i, i] = one(semiring)
    for width in range(1, size - first):
        for i in range(first, size - width):
            j = i + width
            link = inner(closed[i, i:j], closed[j, i + 1 : j + 1], semiring)
            links[i, j] = link
            opened[i, j] = times(link, weights[i, j], semiring)
            closed[i, j] = inner(opened[i, i + 1 : j + 1], closed_by_end[j, i + 1 : j + 1], semiring)
            closed_by_end[j, i] = closed[i, j]
            if i > 0:
                links[j, i] = link
                opened[j, i] = times(link, weights[j, i], semiring)
                closed[j, i] = inner(opened[j, i:j], closed_by_end[i, i:j], semiring)
                closed_by_end[i, j] = closed[j, i]
    return closed, closed_by_end, opened, links


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def last_argmax(left, right):
    """Return the position of the maximum of ``left + right``: the split of a chart entry."""
    best, where = -np.inf, 0
    for k in range(left.shape[0]):
        value = left[k] + right[k]
        if value >= best:
            best, where = value, k
    return where


@njit(cache=True, error_model="numpy")
def choose(left, right, whole, drawn):
    """Return a split of a chart entry by its share exp(left + right - whole), or the best if ``drawn`` < 0.

    ``drawn``: a random number from 0 to 1.
    """
    if drawn < 0.0:
        return last_argmax(left, right)
    last = 0
    for k in range(left.shape[0]):
        share = np.exp(left[k] + right[k] - whole)
        if share > 0.0:
            last = k
            drawn -= share
            if drawn < 0.0:
                break
    return last


@njit(cache=True, error_model="numpy")
def follow(closed, closed_by_end, opened, links, top, heads, drawn):
    """Write a tree below the head ``top`` into ``heads``: the best, or a random one; see :func:`choose`.

    ``drawn`` float64[2n]: two random numbers for each arc, or -1 for the best tree. Splits of the charts,
    maxima or logs, are recomputed, not stored.
    """
    last = heads.shape[0] - 1
    stack = np.empty((2 * last + 2, 2), np.int64)
    stack[0, 0], stack[0, 1] = top, min(top, 1)
    stack[1, 0], stack[1, 1] = top, last
    depth, arc = 2, 0
    while depth > 0:
        depth -= 1
        head, end = stack[depth, 0], stack[depth, 1]
        if head == end:
            continue
        low, high = (head + 1, end + 1) if head < end else (end, head)
        row, by_end = opened[head, low:high], closed_by_end[end, low:high]
        k = low + choose(row, by_end, closed[head, end], drawn[arc])
        heads[k] = head
        i, j = min(head, k), max(head, k)
        split = i + choose(closed[i, i:j], closed[j, i + 1 : j + 1], links[i, j], drawn[arc + 1])
        stack[depth, 0], stack[depth, 1] = k, end
        stack[depth + 1, 0], stack[depth + 1, 1] = i, split
        stack[depth + 2, 0], stack[depth + 2, 1] = j, split + 1
        depth, arc = depth + 3, arc + 2


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def eisner_best(scores, single_root):
    """Find the best projective tree: heads, and the score, -inf when no tree is possible."""
    size = scores.shape[0]
    last = size - 1
    heads = np.full(size, -1, np.int32)
    closed, closed_by_end, opened, links = charts(scores, 1 if single_root else 0, MAXIMUM)
    # Not a literal, for which numba would compile `follow` once more.
    score, top = closed[0, last], int(np.int64(0))
    if single_root:
        score = -np.inf
        for k in range(1, size):
            value = scores[0, k] + closed[k, 1] + closed[k, last]
            if value > score:
                score, top = value, k
        heads[top] = 0
    if score > -np.inf:
        follow(closed, closed_by_end, opened, links, top, heads, np.full(2 * last, -1.0))
    heads[0] = -1
    return heads, score


# The error of underflow, 1e-308, is magnified by derivatives. While no number of the charts and no derivative
# exceeds this limit, probabilities are exact; derivatives of at most UNDERFLOW times the square of the
# greatest number may have lost digits and are returned as 0.
LIMIT = 1e120
UNDERFLOW = 1e-290


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _outside(weights, first, closed, closed_by_end, opened, d_closed, semiring):
    """Propagate derivatives from the goal to the arcs: the inside pass in reverse, widest spans first.

    ``d_closed`` has the derivatives of the goal's own parts, and is completed. Returns ``d_opened``. Each
    derivative is collected from the wider spans that contain its span, along rows.
    """
    size = weights.shape[0]
    d_opened = np.full((size, size), zero(semiring), weights.dtype)
    d_closed_by_end, d_links = d_opened.copy(), d_opened.copy()
    by_dependent = opened.T.copy()
    for width in range(size - 1 - first, 0, -1):
        for i in range(first, size - width):
            j = i + width
            # Head i, end j: below a head g < i, or the left half of a link from i to some g > j.
            total = plus(
                d_closed[i, j],
                inner(d_closed_by_end[j, first:i], by_dependent[i, first:i], semiring),
                semiring,
            )
            if j + 1 < size:
                total = plus(
                    total, inner(d_links[i, j + 1 :], closed_by_end[j + 1, j + 1 :], semiring), semiring
                )
            d_closed[i, j], d_closed_by_end[j, i] = total, total
            d_opened[i, j] = inner(d_closed[i, j:], closed[j, j:], semiring)
            link = times(d_opened[i, j], weights[i, j], semiring)
            if i > 0:
                # Head j, end i: below a head g > j, or the right half of a link from some g < i to j.
                below = inner(d_closed_by_end[i, j + 1 :], by_dependent[j, j + 1 :], semiring)
                beside = inner(d_links[j, first:i], closed_by_end[i - 1, first:i], semiring)
                total = plus(plus(d_closed[j, i], below, semiring), beside, semiring)
                d_closed[j, i], d_closed_by_end[i, j] = total, total
                d_opened[j, i] = inner(d_closed[j, first : i + 1], closed[i, first : i + 1], semiring)
                link = plus(link, times(d_opened[j, i], weights[j, i], semiring), semiring)
            d_links[i, j], d_links[j, i] = link, link
    return d_opened


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _shifted_weights(scores, heads, shifts):
    """Return exp(scores - shift), 0 in column 0 and on the diagonal, and the sum of the written shifts."""
    size = scores.shape[0]
    weights = np.zeros((size, size), scores.dtype)
    for h in range(size):
        for d in range(1, size):
            if h != d:
                weights[h, d] = np.exp(scores[h, d] - scores[heads[d], d])
    shift = 0.0
    for d in range(1, size):
        shift += scores[heads[d], d]
        shifts[d] = scores[heads[d], d].real
    return weights, shift


@njit(cache=True, error_model="numpy", fastmath=FAST)
def eisner_posterior(scores, single_root):
    """Sum over all projective trees.

    Column d is shifted by the score of its head in a best tree. Returns log Z; the marginals; the derivatives
    d log Z / d weight, the weight being exp(score - shift), 0 where underflow may have cost digits:
    log(derivative) + score - shift is the log of a marginal too small for a float; the shifts float64[n+1];
    and False where no tree is possible, or the result is not exact (then use ``eisner_log``).
    """
    size = scores.shape[0]
    last = size - 1
    marginals, shifts = np.zeros((size, size), scores.dtype), np.zeros(size)
    heads, score = eisner_best(np.ascontiguousarray(scores.real), single_root)
    if score == -np.inf:
        return marginals[0, 0] + score, marginals, marginals, shifts, False
    weights, shift = _shifted_weights(scores, heads, shifts)
    first = 1 if single_root else 0
    closed, closed_by_end, opened, links = charts(weights, first, PROBABILITY)
    d_closed = np.zeros((size, size), scores.dtype)
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
    d_opened = _outside(weights, first, closed, closed_by_end, opened, d_closed, PROBABILITY)
    reach = 0.0
    for h in range(size):
        for d in range(1, size):
            if single_root and h == 0:
                d_opened[h, d] = 1.0 / z
            reach += (weights[h, d] + closed[h, d] + opened[h, d] + d_closed[h, d] + d_opened[h, d]).real
            marginals[h, d] = opened[h, d] * d_opened[h, d]
            links[h, d] *= d_opened[h, d]
    floor = UNDERFLOW * reach * reach
    for h in range(size):
        for d in range(1, size):
            if links[h, d].real < floor:
                links[h, d] = 0.0
    return np.log(z) + shift, marginals, links, shifts, reach < LIMIT


@njit(cache=True, error_model="numpy", fastmath=FAST)
def eisner_log(scores, single_root, maximise):
    """Sum or maximise over all projective trees, in log space: slower, and exact at every scale.

    Returns log Z, or the best score, -inf when no tree is possible; and the log of the sum over the trees
    that have each arc, or the best score of such a tree.
    """
    # Each call is compiled for its semiring, which is twice as fast.
    return _in_logs(scores, single_root, MAXIMUM) if maximise else _in_logs(scores, single_root, LOG)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _in_logs(scores, single_root, semiring):
    size = scores.shape[0]
    last, first = size - 1, 1 if single_root else 0
    closed, closed_by_end, opened, _ = charts(scores, first, semiring)
    outer = np.full((size, size), -np.inf, scores.dtype)
    root_arcs = np.full(size, -np.inf, scores.dtype)
    total = closed[0, last]
    if single_root:
        for k in range(1, size):
            root_arcs[k] = scores[0, k] + closed[k, 1] + closed[k, last]
            outer[k, 1] = scores[0, k] + closed[k, last]
            outer[k, last] = scores[0, k] + closed[k, 1]
        total = inner(root_arcs, np.zeros(size), semiring)
    else:
        outer[0, last] = 0.0
    with_arc = _outside(scores, first, closed, closed_by_end, opened, outer, semiring)
    with_arc += opened
    if single_root:
        with_arc[0] = root_arcs
    return total, with_arc
