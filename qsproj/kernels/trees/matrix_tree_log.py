"""Non-projective trees in log space: sums and maxima, at any scale, in O(n^3) time.

The elimination of :mod:`qsproj.kernels.trees.matrix_tree`, which is also valid with maxima for sums.

*Source*: ours (docs/notes/tree-inference.md).
"""

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.trees.matrix_tree import ELIMINATE, leave_one_out_schedule
from qsproj.kernels.trees.semirings import LOG, MAXIMUM, plus


@njit(cache=True, error_model="numpy", forceinline=True)
def _eliminate(block, start, stop, gone, left, single_root, semiring, takes_root):
    """Eliminate the words of one half of ``start..stop-1`` in place; their columns become log-odds of heads.

    Returns the sum of the log-pivots, -inf when there is no tree, and whether the root row must still be used
    exactly once: a word in its place (``takes_root``) may have any number of dependents.
    """
    log_pivots = block.dtype.type(0.0)
    for step in range(stop - gone if gone > left else left - gone):
        k = stop - 1 - step if gone > left else gone + step
        first, last = (start, k) if gone > left else (k + 1, stop)
        pivot = block.dtype.type(-np.inf) if single_root else block[0, k]
        for h in range(first, last):
            pivot = plus(pivot, block[h, k], semiring)
        takes_root[k] = pivot.real == -np.inf
        if takes_root[k]:
            log_pivots += block[0, k]
            for m in range(first, last):
                block[0, m] = block[k, m]
            if not single_root or log_pivots.real == -np.inf:
                return block.dtype.type(-np.inf), single_root
            single_root = False
            continue
        log_pivots += pivot
        for row in range(first - 1, last):
            h = row if row >= first else 0
            block[h, k] -= pivot
            odds = block[h, k]
            if odds.real > -np.inf:
                for m in range(first, last):
                    if m != h:
                        block[h, m] = plus(block[h, m], odds + block[k, m], semiring)
    return log_pivots, single_root


@njit(cache=True, error_model="numpy", forceinline=True)
def _substitute(block, start, stop, gone, left, semiring, takes_root, reach):
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
                total = plus(total, block[h, k] + reach[h, m], semiring)
            reach[k, m] = total


@njit(cache=True, error_model="numpy", forceinline=True)
def _with_arcs(scores, single_root, semiring):
    size = scores.shape[0]
    steps, depth = leave_one_out_schedule(size - 1)
    blocks = np.full((depth, size, size), -np.inf, scores.dtype)
    reach = np.full((size, size), -np.inf, scores.dtype)
    nowhere = np.full((size, size), -np.inf, scores.dtype)
    for d in range(1, size):
        reach[0, d] = 0.0
        for h in range(size):
            if h != d:
                blocks[0, h, d] = scores[h, d]
    log_pivots, once = np.zeros(depth, scores.dtype), np.full(depth, single_root)
    takes_root = np.zeros((depth, size), np.bool_)
    total = scores.dtype.type(0.0)
    for step in range(steps.shape[0]):
        kind, level, start, stop = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3]
        gone, left, below = steps[step, 4], steps[step, 5], steps[step, 1] + 1
        block, flags = blocks[below], takes_root[below]
        if kind != ELIMINATE:
            _substitute(block, start, stop, gone, left, semiring, flags, reach)
            continue
        for row in range(start - 1, stop):
            h = row if row >= start else 0
            for m in range(start, stop):
                block[h, m] = blocks[level, h, m]
        logs, once[below] = _eliminate(block, start, stop, gone, left, once[level], semiring, flags)
        log_pivots[below] = log_pivots[level] + logs
        if left == 1 and gone == 2:
            # Only word 1 remains; its own pivot is the sum over column 1 below.
            total = log_pivots[below]
        if log_pivots[below].real == -np.inf:
            return log_pivots[below], nowhere
    for d in range(1, size):
        pivot = scores.dtype.type(-np.inf)
        for h in range(size):
            reach[h, d] += blocks[0, h, d]
            pivot = plus(pivot, reach[h, d], semiring)
        if pivot.real == -np.inf:
            return pivot, nowhere
        if d == 1:
            total += pivot
        for h in range(size):
            reach[h, d] -= pivot
    return total, reach + total


@njit(cache=True, error_model="numpy")
def matrix_tree_log(scores, single_root, maximise):
    """Sum or maximise over all trees, projective or not, in log space; returns as ``eisner_log``."""
    # Each call is compiled for its semiring.
    return _with_arcs(scores, single_root, MAXIMUM) if maximise else _with_arcs(scores, single_root, LOG)
