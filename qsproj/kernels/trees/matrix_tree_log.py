"""Non-projective trees in log space: sums, maxima, and directional derivatives of probabilities.

At any scale, in O(n^3) time, by the elimination of :mod:`qsproj.kernels.trees.matrix_tree`, which is also
valid with maxima for sums. Slopes are computed by the elimination in forward mode: each log weight has a
slope along ``values``; that of a marginal is its covariance with the sum of the values over a tree's arcs.

*Source*: thesis 3.2.4 for the covariances; the algorithms are ours (docs/notes/tree-inference.md).
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.trees.matrix_tree import ELIMINATE, leave_one_out_schedule


@njit(cache=True, error_model="numpy", forceinline=True)
def _add(target, slope, value, value_slope, maximise):
    """Return the log of exp(target) + exp(value) and its slope; or the maximum, without a slope."""
    if maximise:
        return value if value > target else target, 0.0
    if value == -np.inf:
        return target, slope
    if target == -np.inf:
        return value, value_slope
    if value > target:
        ratio = np.exp(target - value)
        return value + np.log1p(ratio), (value_slope + ratio * slope) / (1.0 + ratio)
    ratio = np.exp(value - target)
    return target + np.log1p(ratio), (slope + ratio * value_slope) / (1.0 + ratio)


@njit(cache=True, error_model="numpy", forceinline=True)
def _eliminate(block, slope, start, stop, gone, left, single_root, maximise, takes_root):
    """Eliminate the words of one half of ``start..stop-1`` in place; their columns become log-odds of heads.

    Returns the sum of the log-pivots, -inf when there is no tree, and whether the root row must still be used
    exactly once: a word in its place (``takes_root``) may have any number of dependents.
    """
    log_pivots = 0.0
    for step in range(stop - gone if gone > left else left - gone):
        k = stop - 1 - step if gone > left else gone + step
        first, last = (start, k) if gone > left else (k + 1, stop)
        pivot, tilt = -np.inf, 0.0
        if not single_root:
            pivot, tilt = block[0, k], slope[0, k]
        for h in range(first, last):
            pivot, tilt = _add(pivot, tilt, block[h, k], slope[h, k], maximise)
        takes_root[k] = pivot == -np.inf
        if takes_root[k]:
            log_pivots += block[0, k]
            for m in range(first, last):
                block[0, m], slope[0, m] = block[k, m], slope[k, m]
            if not single_root or log_pivots == -np.inf:
                return -np.inf, single_root
            single_root = False
            continue
        log_pivots += pivot
        for row in range(first - 1, last):
            h = row if row >= first else 0
            block[h, k] -= pivot
            slope[h, k] -= tilt
            odds, change = block[h, k], slope[h, k]
            if odds > -np.inf:
                for m in range(first, last):
                    if m != h:
                        block[h, m], slope[h, m] = _add(
                            block[h, m], slope[h, m], odds + block[k, m], change + slope[k, m], maximise
                        )
    return log_pivots, single_root


@njit(cache=True, error_model="numpy", forceinline=True)
def _substitute(block, slope, start, stop, gone, left, maximise, takes_root, reach, reach_slope):
    """Complete ``reach[h, m]`` for the words h that are gone and the words m that are left."""
    begin, end = (start, gone) if gone > left else (left, stop)
    for step in range(stop - gone if gone > left else left - gone):
        k = gone + step if gone > left else left - 1 - step
        first, last = (start, k) if gone > left else (k + 1, stop)
        for m in range(begin, end):
            if takes_root[k]:
                # For the words eliminated before k, the root is behind k.
                reach[k, m], reach_slope[k, m] = reach[0, m], reach_slope[0, m]
                reach[0, m] = -np.inf
                continue
            total, tilt = block[0, k] + reach[0, m], slope[0, k] + reach_slope[0, m]
            for h in range(first, last):
                total, tilt = _add(
                    total, tilt, block[h, k] + reach[h, m], slope[h, k] + reach_slope[h, m], maximise
                )
            reach[k, m], reach_slope[k, m] = total, tilt


@njit(cache=True, error_model="numpy", forceinline=True)
def _shares(scores, values, single_root, maximise):
    """Return log Z or the best score; shares (or differences) of arcs in it, and their slopes."""
    size = scores.shape[0]
    steps, depth = leave_one_out_schedule(size - 1)
    blocks, slopes = np.full((depth, size, size), -np.inf), np.zeros((depth, size, size))
    reach, reach_slope = np.full((size, size), -np.inf), np.zeros((size, size))
    for d in range(1, size):
        reach[0, d] = 0.0
        for h in range(size):
            if h != d and scores[h, d] > -np.inf:
                blocks[0, h, d], slopes[0, h, d] = scores[h, d], values[h, d]
    log_pivots, once = np.zeros(depth), np.full(depth, single_root)
    takes_root = np.zeros((depth, size), np.bool_)
    total = 0.0
    for step in range(steps.shape[0]):
        kind, level, start, stop = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3]
        gone, left, below = steps[step, 4], steps[step, 5], steps[step, 1] + 1
        block, slope, flags = blocks[below], slopes[below], takes_root[below]
        if kind != ELIMINATE:
            _substitute(block, slope, start, stop, gone, left, maximise, flags, reach, reach_slope)
            continue
        for row in range(start - 1, stop):
            h = row if row >= start else 0
            for m in range(start, stop):
                block[h, m], slope[h, m] = blocks[level, h, m], slopes[level, h, m]
        logs, once[below] = _eliminate(block, slope, start, stop, gone, left, once[level], maximise, flags)
        log_pivots[below] = log_pivots[level] + logs
        if left == 1 and gone == 2:
            # Only word 1 remains; its own pivot is the sum over column 1 below.
            total = log_pivots[below]
        if log_pivots[below] == -np.inf:
            return -np.inf, np.full((size, size), -np.inf), reach_slope
    for d in range(1, size):
        pivot, tilt = -np.inf, 0.0
        for h in range(size):
            reach[h, d] += blocks[0, h, d]
            reach_slope[h, d] += slopes[0, h, d]
            pivot, tilt = _add(pivot, tilt, reach[h, d], reach_slope[h, d], maximise)
        if pivot == -np.inf:
            return -np.inf, np.full((size, size), -np.inf), reach_slope
        total += pivot if d == 1 else 0.0
        for h in range(size):
            reach[h, d] -= pivot
            reach_slope[h, d] -= tilt
    return total, reach, reach_slope


@njit(cache=True, error_model="numpy")
def matrix_tree_log(scores, single_root, maximise):
    """Sum or maximise over all trees, projective or not, in log space; returns as ``eisner_log``."""
    # Each call is compiled for its own operation.
    if maximise:
        total, shares, _ = _shares(scores, scores, single_root, True)
    else:
        total, shares, _ = _shares(scores, scores, single_root, False)
    return total, shares + total


@njit(cache=True, error_model="numpy")
def matrix_tree_covariance(scores, values, single_root):
    """Return each arc's probability and its covariance with a tree's sum of ``values``, if a tree exists."""
    _, shares, slopes = _shares(scores, values, single_root, False)
    marginals = np.exp(shares)
    return marginals, np.where(marginals > 0.0, marginals * slopes, 0.0)
