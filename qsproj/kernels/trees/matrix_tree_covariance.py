"""How the arc probabilities of all non-projective trees move when scores move along a given direction.

The elimination of :mod:`qsproj.kernels.trees.matrix_tree_log` in forward mode: beside each log weight stands
its slope along the direction. The slope of a marginal along ``values`` is its covariance with the sum of the
values over the arcs of a tree, that is the gradient of the expectation of that sum. O(n^3) time.

*Source*: thesis 3.2.4 for the quantity; the algorithm is ours.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.trees.matrix_tree_schedule import ELIMINATE, leave_one_out_schedule


@njit(cache=True, error_model="numpy")
def _add(target, slope, value, value_slope):
    """Return log(exp(target) + exp(value)) and its slope."""
    if value == -np.inf:
        return target, slope
    if target == -np.inf:
        return value, value_slope
    if value > target:
        ratio = np.exp(target - value)
        return value + np.log1p(ratio), (value_slope + ratio * slope) / (1.0 + ratio)
    ratio = np.exp(value - target)
    return target + np.log1p(ratio), (slope + ratio * value_slope) / (1.0 + ratio)


@njit(cache=True, error_model="numpy")
def _eliminate(block, slope, start, stop, gone, left, single_root, takes_root):
    """Do what the function of the same name in ``matrix_tree_log`` does, with slopes; return the last two."""
    for step in range(stop - gone if gone > left else left - gone):
        k = stop - 1 - step if gone > left else gone + step
        first, last = (start, k) if gone > left else (k + 1, stop)
        pivot, tilt = -np.inf, 0.0
        if not single_root:
            pivot, tilt = block[0, k], slope[0, k]
        for h in range(first, last):
            pivot, tilt = _add(pivot, tilt, block[h, k], slope[h, k])
        takes_root[k] = pivot == -np.inf
        if takes_root[k]:
            single_root = False
            for m in range(first, last):
                block[0, m], slope[0, m] = block[k, m], slope[k, m]
            continue
        for row in range(first - 1, last):
            h = row if row >= first else 0
            block[h, k] -= pivot
            slope[h, k] -= tilt
            if block[h, k] == -np.inf:
                continue
            for m in range(first, last):
                if m != h:
                    block[h, m], slope[h, m] = _add(
                        block[h, m], slope[h, m], block[h, k] + block[k, m], slope[h, k] + slope[k, m]
                    )
    return single_root


@njit(cache=True, error_model="numpy")
def _substitute(block, slope, start, stop, gone, left, takes_root, reach, reach_slope):
    """Complete ``reach`` and its slope for the words that are gone and the words that are left."""
    begin, end = (start, gone) if gone > left else (left, stop)
    for step in range(stop - gone if gone > left else left - gone):
        k = gone + step if gone > left else left - 1 - step
        first, last = (start, k) if gone > left else (k + 1, stop)
        for m in range(begin, end):
            if takes_root[k]:
                reach[k, m], reach_slope[k, m] = reach[0, m], reach_slope[0, m]
                reach[0, m] = -np.inf
                continue
            total, tilt = block[0, k] + reach[0, m], slope[0, k] + reach_slope[0, m]
            for h in range(first, last):
                total, tilt = _add(total, tilt, block[h, k] + reach[h, m], slope[h, k] + reach_slope[h, m])
            reach[k, m], reach_slope[k, m] = total, tilt


@njit(cache=True, error_model="numpy")
def matrix_tree_covariance(scores, values, single_root):
    """Give the arc marginals and their slopes along ``values``.

    At least one tree must be possible. ``values`` float64[n+1, n+1] are finite, of any scale. Returns
    float64[n+1, n+1] twice: the probability of each arc, and its covariance with the sum of the values of a
    tree's arcs.
    """
    size = scores.shape[0]
    steps, depth = leave_one_out_schedule(size - 1)
    blocks = np.full((depth, size, size), -np.inf)
    slopes = np.zeros((depth, size, size))
    for h in range(size):
        for d in range(1, size):
            if h != d and scores[h, d] > -np.inf:
                blocks[0, h, d], slopes[0, h, d] = scores[h, d], values[h, d]
    reach = np.full((size, size), -np.inf)
    reach_slope = np.zeros((size, size))
    for d in range(1, size):
        reach[0, d] = 0.0
    once = np.full(depth, single_root)
    takes_root = np.zeros((depth, size), np.bool_)
    for step in range(steps.shape[0]):
        kind, level, start, stop = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3]
        gone, left, below = steps[step, 4], steps[step, 5], steps[step, 1] + 1
        block, slope, flags = blocks[below], slopes[below], takes_root[below]
        if kind != ELIMINATE:
            _substitute(block, slope, start, stop, gone, left, flags, reach, reach_slope)
            continue
        for row in range(start - 1, stop):
            h = row if row >= start else 0
            for m in range(start, stop):
                block[h, m], slope[h, m] = blocks[level, h, m], slopes[level, h, m]
        once[below] = _eliminate(block, slope, start, stop, gone, left, once[level], flags)
    marginals = np.zeros((size, size))
    gradient = np.zeros((size, size))
    for d in range(1, size):
        total, tilt = -np.inf, 0.0
        for h in range(size):
            reach[h, d] += blocks[0, h, d]
            reach_slope[h, d] += slopes[0, h, d]
            total, tilt = _add(total, tilt, reach[h, d], reach_slope[h, d])
        for h in range(size):
            if reach[h, d] > -np.inf:
                marginals[h, d] = np.exp(reach[h, d] - total)
                gradient[h, d] = marginals[h, d] * (reach_slope[h, d] - tilt)
    return marginals, gradient
