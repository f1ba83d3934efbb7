"""How the arc probabilities of all projective trees move when scores move along a given direction.

Inside in log space with slopes, then probabilities with slopes from the goal down: no number leaves its
range at any scale of the scores. The slope of a marginal along ``values`` is its covariance with the sum of
the values over the arcs of a tree. O(n^3) time. Charts are those of :mod:`qsproj.kernels.trees.eisner_best`.

*Source*: thesis 3.2.4 for the quantity (there for non-projective trees); the algorithm is ours.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit


@njit(cache=True, error_model="numpy")
def _combine(left, left_slope, right, right_slope):
    """Return the log of the sum of exp(left + right), and its slope."""
    high = -np.inf
    for k in range(left.shape[0]):
        high = max(high, left[k] + right[k])
    if high == -np.inf:
        return high, 0.0
    total, tilt = 0.0, 0.0
    for k in range(left.shape[0]):
        share = np.exp(left[k] + right[k] - high)
        total += share
        if share > 0.0:
            tilt += share * (left_slope[k] + right_slope[k])
    return high + np.log(total), tilt / total


@njit(cache=True, error_model="numpy")
def _divide(
    flow, drift, whole, tilt, left, left_slope, right, right_slope, to_left, by_left, to_right, by_right
):
    """Divide the probability ``flow`` of a span, of slope ``drift``, over its splits.

    ``whole`` and ``tilt`` are the span's log sum and its slope; the next four rows those of the halves. Added
    to in place: ``to_left, to_right``, the probabilities of the halves, and ``by_left, by_right``, their
    slopes.
    """
    if flow == 0.0:
        return
    for k in range(left.shape[0]):
        share = np.exp(left[k] + right[k] - whole)
        if share > 0.0:
            part = flow * share
            change = drift * share + part * (left_slope[k] + right_slope[k] - tilt)
            to_left[k] += part
            to_right[k] += part
            by_left[k] += change
            by_right[k] += change


@njit(cache=True, error_model="numpy")
def _inside(scores, values, first):
    """Return the log charts of the words ``first..n``, each followed by its slope."""
    size = scores.shape[0]
    closed, closed_slope = np.full((size, size), -np.inf), np.zeros((size, size))
    opened, opened_slope = np.full((size, size), -np.inf), np.zeros((size, size))
    links, links_slope = np.full((size, size), -np.inf), np.zeros((size, size))
    for i in range(size):
        closed[i, i] = 0.0
    for width in range(1, size - first):
        for i in range(first, size - width):
            j = i + width
            low, high = i + 1, j + 1
            links[i, j], links_slope[i, j] = _combine(
                closed[i, i:j], closed_slope[i, i:j], closed[j, low:high], closed_slope[j, low:high]
            )
            opened[i, j] = links[i, j] + scores[i, j]
            opened_slope[i, j] = links_slope[i, j] + values[i, j]
            closed[i, j], closed_slope[i, j] = _combine(
                opened[i, low:high], opened_slope[i, low:high], closed[low:high, j], closed_slope[low:high, j]
            )
            if i > 0:
                opened[j, i] = links[i, j] + scores[j, i]
                opened_slope[j, i] = links_slope[i, j] + values[j, i]
                closed[j, i], closed_slope[j, i] = _combine(
                    opened[j, i:j], opened_slope[j, i:j], closed[i:j, i], closed_slope[i:j, i]
                )
    return closed, closed_slope, opened, opened_slope, links, links_slope


@njit(cache=True, error_model="numpy")
def eisner_covariance(scores, values, single_root):
    """Give the arc marginals and their slopes along ``values``.

    At least one tree must be possible. ``values`` float64[n+1, n+1] are finite, of any scale. Returns
    float64[n+1, n+1] twice: the probability of each arc, and its covariance with the sum of the values of a
    tree's arcs.
    """
    size = scores.shape[0]
    last = size - 1
    first = 1 if single_root else 0
    closed, closed_slope, opened, opened_slope, links, links_slope = _inside(scores, values, first)
    flow, drift = np.zeros((size, size)), np.zeros((size, size))
    marginals, gradient = np.zeros((size, size)), np.zeros((size, size))
    if single_root:
        total, tilt = _combine(
            closed[1:, 1] + scores[0, 1:],
            closed_slope[1:, 1] + values[0, 1:],
            closed[1:, last],
            closed_slope[1:, last],
        )
        _divide(
            1.0,
            0.0,
            total,
            tilt,
            closed[1:, 1] + scores[0, 1:],
            closed_slope[1:, 1] + values[0, 1:],
            closed[1:, last],
            closed_slope[1:, last],
            marginals[0, 1:],
            gradient[0, 1:],
            np.zeros(last),
            np.zeros(last),
        )
        for k in range(1, size):
            flow[k, 1] += marginals[0, k]
            drift[k, 1] += gradient[0, k]
            flow[k, last] += marginals[0, k]
            drift[k, last] += gradient[0, k]
    else:
        flow[0, last] = 1.0
    for width in range(last - first, 0, -1):
        for i in range(first, size - width):
            j = i + width
            low, high = i + 1, j + 1
            _divide(
                flow[i, j],
                drift[i, j],
                closed[i, j],
                closed_slope[i, j],
                opened[i, low:high],
                opened_slope[i, low:high],
                closed[low:high, j],
                closed_slope[low:high, j],
                marginals[i, low:high],
                gradient[i, low:high],
                flow[low:high, j],
                drift[low:high, j],
            )
            _divide(
                flow[j, i],
                drift[j, i],
                closed[j, i],
                closed_slope[j, i],
                opened[j, i:j],
                opened_slope[j, i:j],
                closed[i:j, i],
                closed_slope[i:j, i],
                marginals[j, i:j],
                gradient[j, i:j],
                flow[i:j, i],
                drift[i:j, i],
            )
            _divide(
                marginals[i, j] + marginals[j, i],
                gradient[i, j] + gradient[j, i],
                links[i, j],
                links_slope[i, j],
                closed[i, i:j],
                closed_slope[i, i:j],
                closed[j, low:high],
                closed_slope[j, low:high],
                flow[i, i:j],
                drift[i, i:j],
                flow[j, low:high],
                drift[j, low:high],
            )
    return marginals, gradient
