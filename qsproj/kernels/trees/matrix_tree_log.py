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


@njit(cache=True, error_model="numpy")
def _plus(left, right, maximise):
    high, low = (left, right) if left > right else (right, left)
    if maximise or low == -np.inf:
        return high
    return high + np.log1p(np.exp(low - high))


@njit(cache=True, error_model="numpy")
def _eliminate(block, start, stop, gone, left, single_root, maximise, takes_root):
    """Eliminate the words of one half of ``start..stop-1``; columns of those gone become log-odds of heads.

    In place; ``takes_root`` bool[n+1] is set for words that replace the root. Returns the sum of the
    log-pivots, -inf when there is no tree, and whether the root row must still be used exactly once: a word
    in its place may have any number of dependents.
    """
    log_pivots = 0.0
    for step in range(stop - gone if gone > left else left - gone):
        k = stop - 1 - step if gone > left else gone + step
        first, last = (start, k) if gone > left else (k + 1, stop)
        pivot = -np.inf if single_root else block[0, k]
        for h in range(first, last):
            pivot = _plus(pivot, block[h, k], maximise)
        takes_root[k] = pivot == -np.inf
        if takes_root[k]:
            log_pivots += block[0, k]
            for m in range(first, last):
                block[0, m] = block[k, m]
            if not single_root or log_pivots == -np.inf:
                return -np.inf, single_root
            single_root = False
            continue
        log_pivots += pivot
        block[0, k] -= pivot
        for m in range(first, last):
            block[0, m] = _plus(block[0, m], block[0, k] + block[k, m], maximise)
        for h in range(first, last):
            block[h, k] -= pivot
            odds = block[h, k]
            if odds > -np.inf:
                for m in range(first, last):
                    if m != h:
                        block[h, m] = _plus(block[h, m], odds + block[k, m], maximise)
    return log_pivots, single_root


@njit(cache=True, error_model="numpy")
def _substitute(block, start, stop, gone, left, maximise, takes_root, reach):
    """Complete ``reach[h, m]`` for the words h that are gone and the words m that are left."""
    begin, end = (start, gone) if gone > left else (left, stop)
    for step in range(stop - gone if gone > left else left - gone):
        k = gone + step if gone > left else left - 1 - step
        first, last = (start, k) if gone > left else (k + 1, stop)
        for m in range(begin, end):
            if takes_root[k]:
                # For the words eliminated before k, the root is behind k.
                reach[k, m] = reach[0, m]
                reach[0, m] = -np.inf
                continue
            total = block[0, k] + reach[0, m]
            for h in range(first, last):
                total = _plus(total, block[h, k] + reach[h, m], maximise)
            reach[k, m] = total


@njit(cache=True, error_model="numpy")
def matrix_tree_log(scores, single_root, maximise):
    """Sum or maximise over all trees, projective or not, in log space; returns as ``eisner_log``."""
    size = scores.shape[0]
    steps, depth = leave_one_out_schedule(size - 1)
    blocks = np.full((depth, size, size), -np.inf)
    for h in range(size):
        for d in range(1, size):
            if h != d:
                blocks[0, h, d] = scores[h, d]
    reach = np.full((size, size), -np.inf)
    for d in range(1, size):
        reach[0, d] = 0.0
    log_pivots = np.zeros(depth)
    once = np.full(depth, single_root)
    takes_root = np.zeros((depth, size), np.bool_)
    with_arc = np.full((size, size), -np.inf)
    total = 0.0
    for step in range(steps.shape[0]):
        kind, level, start, stop = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3]
        gone, left, below = steps[step, 4], steps[step, 5], steps[step, 1] + 1
        if kind != ELIMINATE:
            _substitute(blocks[below], start, stop, gone, left, maximise, takes_root[below], reach)
            continue
        for row in range(start - 1, stop):
            h = row if row >= start else 0
            for m in range(start, stop):
                blocks[below, h, m] = blocks[level, h, m]
        logs, once[below] = _eliminate(
            blocks[below], start, stop, gone, left, once[level], maximise, takes_root[below]
        )
        log_pivots[below] = log_pivots[level] + logs
        if log_pivots[below] == -np.inf:
            return -np.inf, with_arc
        if left == 1 and gone == 2:
            # Only word 1 remains; its own pivot is the sum over column 1 below.
            total = log_pivots[below]
    for d in range(1, size):
        pivot = -np.inf
        for h in range(size):
            with_arc[h, d] = blocks[0, h, d] + reach[h, d]
            pivot = _plus(pivot, with_arc[h, d], maximise)
        if d == 1:
            total += pivot
        if pivot == -np.inf:
            return -np.inf, np.full((size, size), -np.inf)
        for h in range(size):
            with_arc[h, d] -= pivot
    return total, with_arc + total


@njit(cache=True, error_model="numpy")
def _add_with_slope(target, slope, value, value_slope):
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
def _eliminate_with_slopes(block, slope, start, stop, gone, left, single_root, takes_root):
    """Apply :func:`_eliminate` with slopes; return whether the root row must still be used exactly once."""
    for step in range(stop - gone if gone > left else left - gone):
        k = stop - 1 - step if gone > left else gone + step
        first, last = (start, k) if gone > left else (k + 1, stop)
        pivot, tilt = -np.inf, 0.0
        if not single_root:
            pivot, tilt = block[0, k], slope[0, k]
        for h in range(first, last):
            pivot, tilt = _add_with_slope(pivot, tilt, block[h, k], slope[h, k])
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
                    block[h, m], slope[h, m] = _add_with_slope(
                        block[h, m], slope[h, m], block[h, k] + block[k, m], slope[h, k] + slope[k, m]
                    )
    return single_root


@njit(cache=True, error_model="numpy")
def _substitute_with_slopes(block, slope, start, stop, gone, left, takes_root, reach, reach_slope):
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
                total, tilt = _add_with_slope(
                    total, tilt, block[h, k] + reach[h, m], slope[h, k] + reach_slope[h, m]
                )
            reach[k, m], reach_slope[k, m] = total, tilt


@njit(cache=True, error_model="numpy")
def matrix_tree_covariance(scores, values, single_root):
    """Return each arc's probability and its covariance with a tree's sum of ``values``, if a tree exists."""
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
            _substitute_with_slopes(block, slope, start, stop, gone, left, flags, reach, reach_slope)
            continue
        for row in range(start - 1, stop):
            h = row if row >= start else 0
            for m in range(start, stop):
                block[h, m], slope[h, m] = blocks[level, h, m], slopes[level, h, m]
        once[below] = _eliminate_with_slopes(block, slope, start, stop, gone, left, once[level], flags)
    marginals = np.zeros((size, size))
    gradient = np.zeros((size, size))
    for d in range(1, size):
        total, tilt = -np.inf, 0.0
        for h in range(size):
            reach[h, d] += blocks[0, h, d]
            reach_slope[h, d] += slopes[0, h, d]
            total, tilt = _add_with_slope(total, tilt, reach[h, d], reach_slope[h, d])
        for h in range(size):
            if reach[h, d] > -np.inf:
                marginals[h, d] = np.exp(reach[h, d] - total)
                gradient[h, d] = marginals[h, d] * (reach_slope[h, d] - tilt)
    return marginals, gradient
