"""Projective trees in log space: sums, maxima, and how probabilities move along a direction.

O(n^3) time, O(n^2) memory. Slower than :mod:`qsproj.kernels.trees.eisner` (an exponential for each product)
and exact at every scale; with ``maximise`` the same pass gives the best score of a tree with each arc. Charts
are those of :mod:`qsproj.kernels.trees.eisner`.

*Source*: thesis appendix B; the outside pass is its reverse mode.

Slopes: inside in log space with slopes, then probabilities with slopes from the goal down: no number leaves
its range at any scale of the scores. The slope of a marginal along ``values`` is its covariance with the sum
of the values over the arcs of a tree. O(n^3) time.

*Source*: thesis 3.2.4 for the quantity (there for non-projective trees); the algorithm is ours.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.trees.semirings import FLAGS


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _combine(start, left, right, maximise):
    """Return the log of exp(start) + sum of exp(left + right), or the maximum of the same terms."""
    best = start
    for k in range(left.shape[0]):
        value = left[k] + right[k]
        if value > best:
            best = value
    if maximise or best == -np.inf:
        return best
    total = np.exp(start - best)
    for k in range(left.shape[0]):
        total += np.exp(left[k] + right[k] - best)
    return best + np.log(total)


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def log_charts(scores, first, maximise):
    """Fill the charts over the words ``first..n`` with log sums, or maxima.

    Returns ``closed, closed_by_end, opened``, all float64[n+1, n+1].
    """
    size = scores.shape[0]
    closed = np.full((size, size), -np.inf)
    closed_by_end = np.full((size, size), -np.inf)
    opened = np.full((size, size), -np.inf)
    none = -np.inf
    for i in range(size):
        closed[i, i] = 0.0
        closed_by_end[i, i] = 0.0
    for width in range(1, size - first):
        for i in range(first, size - width):
            j = i + width
            link = _combine(none, closed[i, i:j], closed[j, i + 1 : j + 1], maximise)
            opened[i, j] = link + scores[i, j]
            closed[i, j] = _combine(none, opened[i, i + 1 : j + 1], closed_by_end[j, i + 1 : j + 1], maximise)
            closed_by_end[j, i] = closed[i, j]
            if i > 0:
                opened[j, i] = link + scores[j, i]
                closed[j, i] = _combine(none, opened[j, i:j], closed_by_end[i, i:j], maximise)
                closed_by_end[i, j] = closed[j, i]
    return closed, closed_by_end, opened


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _log_outside(scores, first, closed, closed_by_end, opened, outer, maximise):
    """Complete ``outer``, the log of what surrounds each closed span, and return it for the open spans.

    ``outer`` float64[n+1, n+1] comes in with the goal's own parts and -inf elsewhere.
    """
    size = scores.shape[0]
    outer_by_end = np.full((size, size), -np.inf)
    outer_open = np.full((size, size), -np.inf)
    links = np.full((size, size), -np.inf)
    by_dependent = opened.T.copy()
    for width in range(size - 1 - first, 0, -1):
        for i in range(first, size - width):
            j = i + width
            # Head i, end j: below a head g < i, or the left half of a link from i to some g > j.
            total = _combine(outer[i, j], outer_by_end[j, first:i], by_dependent[i, first:i], maximise)
            if j + 1 < size:
                total = _combine(total, links[i, j + 1 :], closed_by_end[j + 1, j + 1 :], maximise)
            outer[i, j] = total
            outer_by_end[j, i] = total
            outer_open[i, j] = _combine(-np.inf, outer[i, j:], closed[j, j:], maximise)
            link = outer_open[i, j] + scores[i, j]
            if i > 0:
                # Head j, end i: below a head g > j, or the right half of a link from some g < i to j.
                total = _combine(outer[j, i], outer_by_end[i, j + 1 :], by_dependent[j, j + 1 :], maximise)
                total = _combine(total, links[j, first:i], closed_by_end[i - 1, first:i], maximise)
                outer[j, i] = total
                outer_by_end[i, j] = total
                outer_open[j, i] = _combine(
                    -np.inf, outer[j, first : i + 1], closed[i, first : i + 1], maximise
                )
                back = outer_open[j, i] + scores[j, i]
                high = max(link, back)
                if maximise or high == -np.inf:
                    link = high
                else:
                    link = high + np.log(np.exp(link - high) + np.exp(back - high))
            links[i, j] = link
            links[j, i] = link
    return outer_open


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def eisner_log(scores, single_root, maximise):
    """Sum or maximise over all projective trees, in log space.

    Returns ``total``: log Z, or the best score; -inf when no tree is possible; ``with_arc`` float64[n+1,
    n+1]: log of the sum over the trees that have the arc (subtract log Z for the log-marginal), or the best
    score of such a tree; -inf where there is none.
    """
    size = scores.shape[0]
    last = size - 1
    first = 1 if single_root else 0
    closed, closed_by_end, opened = log_charts(scores, first, maximise)
    outer = np.full((size, size), -np.inf)
    root_arcs = np.full(size, -np.inf)
    total = closed[0, last]
    if single_root:
        for k in range(1, size):
            root_arcs[k] = scores[0, k] + closed[k, 1] + closed[k, last]
            outer[k, 1] = scores[0, k] + closed[k, last]
            outer[k, last] = scores[0, k] + closed[k, 1]
        total = _combine(-np.inf, root_arcs, np.zeros(size), maximise)
    else:
        outer[0, last] = 0.0
    with_arc = _log_outside(scores, first, closed, closed_by_end, opened, outer, maximise)
    with_arc += opened
    if single_root:
        with_arc[0] = root_arcs
    return total, with_arc


@njit(cache=True, error_model="numpy")
def _combine_with_slope(left, left_slope, right, right_slope):
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
            links[i, j], links_slope[i, j] = _combine_with_slope(
                closed[i, i:j], closed_slope[i, i:j], closed[j, low:high], closed_slope[j, low:high]
            )
            opened[i, j] = links[i, j] + scores[i, j]
            opened_slope[i, j] = links_slope[i, j] + values[i, j]
            closed[i, j], closed_slope[i, j] = _combine_with_slope(
                opened[i, low:high], opened_slope[i, low:high], closed[low:high, j], closed_slope[low:high, j]
            )
            if i > 0:
                opened[j, i] = links[i, j] + scores[j, i]
                opened_slope[j, i] = links_slope[i, j] + values[j, i]
                closed[j, i], closed_slope[j, i] = _combine_with_slope(
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
        total, tilt = _combine_with_slope(
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
