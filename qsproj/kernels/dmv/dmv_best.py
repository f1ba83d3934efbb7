"""The most probable tree under the DMV, in log space: Viterbi in O(n^3) time, O(n^2) memory.

The chart is that of :mod:`qsproj.kernels.dmv.dmv_charts` with one node a word, and maxima of sums.
"""

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.dmv.dmv_charts import LEFT, NONE, RIGHT, SOME

# "nnan" is safe for vectorised maxima: scores, finite or -inf, are only added and compared; see dmv_charts.
FLAGS = {"nsz", "nnan"}


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _best_split(half, left_way, right_way, i, j):
    """Return the best score of meeting, and where; ``left_way``, ``right_way``: next decisions of i and j."""
    best, where = -np.inf, i
    for k in range(i, j):
        left = left_way[NONE] if k == i else left_way[SOME]
        right = right_way[NONE] if k + 1 == j else right_way[SOME]
        value = half[i, k] + half[j, k + 1] + left + right
        if value > best:
            best, where = value, k
    return best, where


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _best_dependent(opened, sealed, head, end):
    """Return the outermost dependent of ``head`` in its best half out to ``end``, and the half's score."""
    best, where = -np.inf, end
    low, high = (head + 1, end + 1) if end > head else (end, head)
    for k in range(low, high):
        value = opened[head, k] + sealed[end, k]
        if value > best:
            best, where = value, k
    return best, where


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _fill(weights, stop, go, half, sealed, opened):
    """Fill the charts; ``sealed`` is [end, head], and its diagonal is set for each width as needed."""
    n = weights.shape[0]
    for i in range(n):
        half[i, i] = 0.0
    for width in range(1, n):
        for i in range(n - width):
            j = i + width
            opened[i, j] = weights[i, j] + _best_split(half, go[i, RIGHT], stop[j, LEFT], i, j)[0]
            opened[j, i] = weights[j, i] + _best_split(half, stop[i, RIGHT], go[j, LEFT], i, j)[0]
            sealed[j, j] = stop[j, RIGHT, NONE]
            half[i, j] = _best_dependent(opened, sealed, i, j)[0]
            sealed[j, i] = half[i, j] + stop[i, RIGHT, SOME]
            sealed[i, i] = stop[i, LEFT, NONE]
            half[j, i] = _best_dependent(opened, sealed, j, i)[0]
            sealed[i, j] = half[j, i] + stop[j, LEFT, SOME]


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _follow(stop, go, half, sealed, opened, top, heads):
    """Write into ``heads`` (1-based heads) the best tree below ``top``, out to both ends of the sentence."""
    n = heads.shape[0]
    stack = np.empty((2 * n + 2, 2), np.int64)
    stack[0, 0], stack[0, 1] = top, 0
    stack[1, 0], stack[1, 1] = top, n - 1
    depth = 2
    while depth > 0:
        depth -= 1
        head, end = stack[depth, 0], stack[depth, 1]
        if head == end:
            continue
        sealed[end, end] = stop[end, RIGHT if end > head else LEFT, NONE]
        dependent = _best_dependent(opened, sealed, head, end)[1]
        heads[dependent] = head + 1
        i, j = min(head, dependent), max(head, dependent)
        of_i, of_j = (go, stop) if head < dependent else (stop, go)
        split = _best_split(half, of_i[i, RIGHT], of_j[j, LEFT], i, j)[1]
        stack[depth, 0], stack[depth, 1] = dependent, end
        stack[depth + 1, 0], stack[depth + 1, 1] = i, split
        stack[depth + 2, 0], stack[depth + 2, 1] = j, split + 1
        depth += 3


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def dmv_best_by_arcs(tags, log_stop, log_go, weights, root_weights, heads):
    """Find the best tree of tags int16[n] by log weights of arcs float64[n, n], root's float64[n].

    Written: ``heads`` int16[n], 0 for the child of the root. Returns the score, -inf without a possible tree.
    """
    n = tags.shape[0]
    stop, go = log_stop[tags], log_go[tags]
    half, sealed = np.full((n, n), -np.inf), np.full((n, n), -np.inf)
    opened = np.full((n, n), -np.inf)
    _fill(weights, stop, go, half, sealed, opened)
    top, best = 0, -np.inf
    for h in range(n):
        left = stop[h, LEFT, NONE] if h == 0 else half[h, 0] + stop[h, LEFT, SOME]
        right = stop[h, RIGHT, NONE] if h == n - 1 else half[h, n - 1] + stop[h, RIGHT, SOME]
        value = left + right + root_weights[h]
        if value > best:
            best, top = value, h
    if best > -np.inf:
        _follow(stop, go, half, sealed, opened, top, heads)
        heads[top] = 0
    return best
