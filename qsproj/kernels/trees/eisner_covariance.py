"""Directional derivatives of the probabilities of projective trees, in log space, exact at every scale.

The charts are those of :mod:`qsproj.kernels.trees.eisner`. The slope of a marginal along ``values`` is its
covariance with the sum of the values over the arcs of a tree.

*Source*: thesis 3.2.4; the algorithm is ours.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit


@njit(cache=True, error_model="numpy")
def _combine_with_slope(left, right):
    """Return the log of the sum of exp(left + right), and its slope; rows [value, slope] of both halves."""
    high = -np.inf
    for k in range(left.shape[1]):
        high = max(high, left[0, k] + right[0, k])
    if high == -np.inf:
        return high, 0.0
    total, tilt = 0.0, 0.0
    for k in range(left.shape[1]):
        share = np.exp(left[0, k] + right[0, k] - high)
        total += share
        if share > 0.0:
            tilt += share * (left[1, k] + right[1, k])
    return high + np.log(total), tilt / total


@njit(cache=True, error_model="numpy")
def _divide(flow, drift, whole, tilt, left, right, to_left, to_right):
    """Divide the probability ``flow`` of a span, and its slope ``drift``, over its splits [value, slope]."""
    if flow == 0.0:
        return
    for k in range(left.shape[1]):
        share = np.exp(left[0, k] + right[0, k] - whole)
        if share > 0.0:
            part = flow * share
            change = drift * share + part * (left[1, k] + right[1, k] - tilt)
            to_left[0, k] += part
            to_right[0, k] += part
            to_left[1, k] += change
            to_right[1, k] += change


@njit(cache=True, error_model="numpy")
def _inside_with_slopes(scores, values, first):
    """Return the charts of the words ``first..n``, float64[2, n+1, n+1]: logs, then their slopes."""
    size = scores.shape[0]
    closed, opened, links = np.zeros((2, size, size)), np.zeros((2, size, size)), np.zeros((2, size, size))
    closed[0], opened[0], links[0] = -np.inf, -np.inf, -np.inf
    for i in range(size):
        closed[0, i, i] = 0.0
    for width in range(1, size - first):
        for i in range(first, size - width):
            j = i + width
            low, high = i + 1, j + 1
            log, slope = _combine_with_slope(closed[:, i, i:j], closed[:, j, low:high])
            links[0, i, j], links[1, i, j] = log, slope
            opened[0, i, j], opened[1, i, j] = log + scores[i, j], slope + values[i, j]
            closed[0, i, j], closed[1, i, j] = _combine_with_slope(
                opened[:, i, low:high], closed[:, low:high, j]
            )
            if i > 0:
                opened[0, j, i], opened[1, j, i] = log + scores[j, i], slope + values[j, i]
                closed[0, j, i], closed[1, j, i] = _combine_with_slope(opened[:, j, i:j], closed[:, i:j, i])
    return closed, opened, links


@njit(cache=True, error_model="numpy")
def eisner_covariance(scores, values, single_root):
    """Return each arc's probability and its covariance with a tree's sum of ``values``, if a tree exists."""
    size = scores.shape[0]
    last = size - 1
    first = 1 if single_root else 0
    closed, opened, links = _inside_with_slopes(scores, values, first)
    # Probabilities, then their slopes: of closed spans, and of arcs.
    flow, arcs = np.zeros((2, size, size)), np.zeros((2, size, size))
    if single_root:
        root = np.empty((2, last))
        root[0], root[1] = closed[0, 1:, 1] + scores[0, 1:], closed[1, 1:, 1] + values[0, 1:]
        total, tilt = _combine_with_slope(root, closed[:, 1:, last])
        _divide(1.0, 0.0, total, tilt, root, closed[:, 1:, last], arcs[:, 0, 1:], np.zeros((2, last)))
        for k in range(1, size):
            for row in range(2):
                flow[row, k, 1] += arcs[row, 0, k]
                flow[row, k, last] += arcs[row, 0, k]
    else:
        flow[0, 0, last] = 1.0
    for width in range(last - first, 0, -1):
        for i in range(first, size - width):
            j = i + width
            low, high = i + 1, j + 1
            for head, end, begin, stop in ((i, j, low, high), (j, i, i, j)):
                _divide(
                    flow[0, head, end],
                    flow[1, head, end],
                    closed[0, head, end],
                    closed[1, head, end],
                    opened[:, head, begin:stop],
                    closed[:, begin:stop, end],
                    arcs[:, head, begin:stop],
                    flow[:, begin:stop, end],
                )
            _divide(
                arcs[0, i, j] + arcs[0, j, i],
                arcs[1, i, j] + arcs[1, j, i],
                links[0, i, j],
                links[1, i, j],
                closed[:, i, i:j],
                closed[:, j, low:high],
                flow[:, i, i:j],
                flow[:, j, low:high],
            )
    return arcs[0], arcs[1]
