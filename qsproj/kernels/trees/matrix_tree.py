"""Sums over all non-projective trees in probability space, without a subtraction, and in logs: O(n^3) time.

Gaussian elimination in the form of Grassmann, Taksar and Heyman: to eliminate word k, let ``pivot`` be the
sum of the weights into k from the heads that remain; then ``weights[h, m] += weights[h, k] / pivot *
weights[k, m]``. ``reach[h, m]``: odds that a walk from h up to heads meets the root before m. Each word is
last once, by halving blocks of words. With a single root, the root is excluded from every pivot but the last.

*Source*: thesis 3.2 and Koo et al. (2007) for the theorem; the rest is ours: docs/notes/tree-inference.md.
"""

import numpy as np

from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.trees.semirings import LOG, MAXIMUM, plus

# Not literals, so that a row is a tuple of one type.
ELIMINATE, SUBSTITUTE, _VISIT = np.int64(0), np.int64(1), np.int64(2)
_ZERO, _ONE = np.int64(0), np.int64(1)


@njit(cache=True, error_model="numpy")
def leave_one_out_schedule(n):
    """List the steps for the words 1..n, int64[4 (n - 1), 6], and the number of levels.

    Rows are (kind, level, start, stop, gone, left). ``start..stop-1`` are the words of a block, whose reduced
    weights are at ``level``; ``gone`` is the first word of the eliminated half, ``left`` that of the
    remaining half. ELIMINATE copies the block to ``level + 1`` and eliminates there; SUBSTITUTE follows when
    the remaining half is done, and undoes it from the last word to the first.
    """
    depth = 1
    while (1 << (depth - 1)) < n:
        depth += 1
    steps = np.empty((max(4 * (n - 1), 1), 6), np.int64)
    stack = np.empty((6 * depth + 6, 6), np.int64)
    stack[0] = (_VISIT, _ZERO, _ONE, n + 1, _ZERO, _ZERO)
    top, count = 1, 0
    while top > 0:
        top -= 1
        kind, level, start, stop = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        if kind != _VISIT:
            steps[count] = stack[top]
            count += 1
        elif stop - start > 1:
            middle = (start + stop) // 2
            # The stack is last in, first out: these six lines read from the last step to the first.
            stack[top] = (SUBSTITUTE, level, start, stop, middle, start)
            stack[top + 1] = (_VISIT, level + 1, start, middle, _ZERO, _ZERO)
            stack[top + 2] = (ELIMINATE, level, start, stop, middle, start)
            stack[top + 3] = (SUBSTITUTE, level, start, stop, start, middle)
            stack[top + 4] = (_VISIT, level + 1, middle, stop, _ZERO, _ZERO)
            stack[top + 5] = (ELIMINATE, level, start, stop, start, middle)
            top += 6
    return steps[:count], depth


# Parts are inlined into their caller (forceinline). Otherwise the compiling process calls separately compiled
# copies, later ones those stored with the caller, with sums in another order and other last digits.

# Weights are at most 1. The error of underflow, 1e-308, is magnified by one over the pivots below 1. While
# their product stays above this limit, probabilities are exact; derivatives of at most UNDERFLOW over the
# square of that product may have lost digits and are returned as 0.
LIMIT = 1e-120
UNDERFLOW = 1e-290
# From this number of words on, eliminating two words at a time is faster.
LARGE = 16


@njit(cache=True, error_model="numpy", fastmath=FAST, forceinline=True)
def _to_odds(column, first, last, single_root):
    """Divide the weights into a word, of heads 0 and ``first..last-1``, by their sum, which is returned."""
    pivot = 0.0 if single_root else column[0]
    for h in range(first, last):
        pivot += column[h]
    if pivot == 0.0:
        return pivot
    inverse = 1.0 / pivot
    column[0] *= inverse
    for h in range(first, last):
        column[h] *= inverse
    return pivot


@njit(cache=True, error_model="numpy", fastmath=FAST, forceinline=True)
def _eliminate_two(block, odds, start, stop, k, j, single_root):
    """Eliminate the word k, then its neighbour j, of ``start..stop-1``; return both pivots."""
    by_k, by_j = odds[0], odds[1]
    first, last = (start, j) if j < k else (j + 1, stop)
    by_k[0], by_k[j] = block[0, k], block[j, k]
    for h in range(first, last):
        by_k[h] = block[h, k]
    pivot = _to_odds(by_k, min(first, j), max(last, j + 1), single_root)
    by_j[0] = block[0, j] + by_k[0] * block[k, j]
    for h in range(first, last):
        by_j[h] = block[h, j] + by_k[h] * block[k, j]
        block[j, h] += by_k[j] * block[k, h]
    other = _to_odds(by_j, first, last, single_root)
    for m in range(first, last):
        block[0, m] += by_k[0] * block[k, m] + by_j[0] * block[j, m]
    odd = first + (last - first) % 2
    for h in range(first, odd):
        for m in range(first, last):
            block[h, m] += by_k[h] * block[k, m] + by_j[h] * block[j, m]
    # Two heads at a time, for less memory traffic.
    for h in range(odd, last, 2):
        upper_k, upper_j, lower_k, lower_j = by_k[h], by_j[h], by_k[h + 1], by_j[h + 1]
        for m in range(first, last):
            from_k, from_j = block[k, m], block[j, m]
            block[h, m] += upper_k * from_k + upper_j * from_j
            block[h + 1, m] += lower_k * from_k + lower_j * from_j
    block[0, k], block[0, j], block[j, k] = by_k[0], by_j[0], by_k[j]
    for h in range(first, last):
        block[h, k], block[h, j] = by_k[h], by_j[h]
    return pivot, other


@njit(cache=True, error_model="numpy", fastmath=FAST, forceinline=True)
def _eliminate(block, odds, start, stop, gone, left, single_root):
    """Eliminate the words of one half of ``start..stop-1`` in place; their columns become odds of heads.

    Returns the sum of the logs of the pivots and the product of those below 1, 0 when a pivot is 0.
    """
    log_pivots, small = 0.0, 1.0
    backward = gone > left
    count = stop - gone if backward else left - gone
    paired = count // 2 * 2 if stop - start >= LARGE else 0
    for step in range(0, paired, 2):
        k = stop - 1 - step if backward else gone + step
        begin, end = (start, k) if backward else (k + 1, stop)
        pivot, other = _eliminate_two(block, odds, begin, end, k, k - 1 if backward else k + 1, single_root)
        if pivot == 0.0 or other == 0.0:
            return -np.inf, 0.0
        log_pivots += np.log(pivot) + np.log(other)
        small *= min(pivot.real, 1.0) * min(other.real, 1.0)
    for step in range(paired, count):
        k = stop - 1 - step if backward else gone + step
        first, last = (start, k) if backward else (k + 1, stop)
        pivot = 0.0 if single_root else block[0, k]
        for h in range(first, last):
            pivot += block[h, k]
        if pivot == 0.0:
            return -np.inf, 0.0
        log_pivots += np.log(pivot)
        small *= min(pivot.real, 1.0)
        for row in range(first - 1, last):
            h = row if row >= first else 0
            block[h, k] /= pivot
            by_k = block[h, k]
            for m in range(first, last):
                block[h, m] += by_k * block[k, m]
    return log_pivots, small


@njit(cache=True, error_model="numpy", fastmath=FAST, forceinline=True)
def _substitute(block, start, stop, gone, left, reach):
    """Complete ``reach[h, m]`` for the words h that are gone and the words m that are left."""
    begin, end = (start, gone) if gone > left else (left, stop)
    for step in range(stop - gone if gone > left else left - gone):
        k = gone + step if gone > left else left - 1 - step
        first, last = (start, k) if gone > left else (k + 1, stop)
        for m in range(begin, end):
            reach[k, m] = block[0, k] * reach[0, m]
        # Four heads at a time, for less memory traffic.
        rest = first + (last - first) // 4 * 4
        for h in range(first, rest, 4):
            by_0, by_1, by_2, by_3 = block[h, k], block[h + 1, k], block[h + 2, k], block[h + 3, k]
            for m in range(begin, end):
                reach[k, m] += (by_0 * reach[h, m] + by_1 * reach[h + 1, m]) + (
                    by_2 * reach[h + 2, m] + by_3 * reach[h + 3, m]
                )
        for h in range(rest, last):
            odds = block[h, k]
            for m in range(begin, end):
                reach[k, m] += odds * reach[h, m]


@njit(cache=True, error_model="numpy", fastmath=FAST, forceinline=True)
def _shifted_weights(scores, single_root):
    """Return weights of at most 1 and shifts; a word that only the root can head is its one dependent."""
    size = scores.shape[0]
    shifts = np.zeros(size)
    weights = np.zeros((size, size), scores.dtype)
    only_child = 0
    tops = np.full(size, -np.inf)
    for h in range(1 if single_root else 0, size):
        for d in range(1, h):
            tops[d] = max(tops[d], scores[h, d].real)
        for d in range(h + 1, size):
            tops[d] = max(tops[d], scores[h, d].real)
    for d in range(1, size):
        if tops[d] == -np.inf:
            only_child = d
            tops[d] = scores[0, d].real
        shifts[d] = max(tops[d], -1e300)
    if single_root:
        top = -np.inf
        for d in range(1, size):
            if only_child == 0 or d == only_child:
                top = max(top, scores[0, d].real - shifts[d])
        shifts[0] = max(top, -1e300)
    for h in range(size):
        for d in range(1, size):
            if h != d and (h > 0 or not single_root or only_child == 0 or d == only_child):
                weights[h, d] = np.exp(scores[h, d] - shifts[d] - (shifts[0] if h == 0 else 0.0))
    return weights, shifts, only_child


@njit(cache=True, error_model="numpy", fastmath=FAST)
def matrix_tree(scores, single_root):
    """Sum over all trees, projective or not.

    Returns log Z; the marginals; the derivatives d log Z / d weight, the weight being exp(score - shift), 0
    where underflow may have cost digits; ``shifts`` float64[n+1], subtracted from the columns, ``shifts[0]``
    from row 0; and False when numbers left the range in which the result is exact, or when there is no tree
    (then use ``matrix_tree_log``, which distinguishes the two).
    """
    size = scores.shape[0]
    weights, shifts, only_child = _shifted_weights(scores, single_root)
    rootless = single_root and only_child == 0
    steps, depth = leave_one_out_schedule(size - 1)
    blocks = np.empty((depth, size, size), scores.dtype)
    blocks[0] = weights
    reach = np.zeros((size, size), scores.dtype)
    reach[0, 1:] = 1.0
    odds = np.empty((2, size), scores.dtype)
    log_pivots, small = np.zeros(depth, scores.dtype), np.ones(depth)
    smallest, log_z = 1.0, scores.dtype.type(shifts.sum())
    for step in range(steps.shape[0]):
        kind, level, start, stop = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3]
        gone, left = steps[step, 4], steps[step, 5]
        block = blocks[level + 1]
        if kind != ELIMINATE:
            _substitute(block, start, stop, gone, left, reach)
            continue
        for row in range(start - 1, stop):
            h = row if row >= start else 0
            for m in range(start, stop):
                block[h, m] = blocks[level, h, m]
        logs, product = _eliminate(block, odds, start, stop, gone, left, rootless)
        log_pivots[level + 1] = log_pivots[level] + logs
        small[level + 1] = small[level] * product
        smallest = min(smallest, small[level + 1])
        if left == 1 and gone == 2:
            # Only word 1 remains; its own pivot is the sum over column 1 below.
            log_z += log_pivots[level + 1]
    marginals, totals = np.zeros((size, size), scores.dtype), np.zeros(size, scores.dtype)
    for h in range(size):
        for d in range(1, size):
            totals[d] += weights[h, d] * reach[h, d]
    limit = LIMIT / smallest
    floor = UNDERFLOW / (smallest * smallest)
    in_range = smallest > LIMIT
    for d in range(1, size):
        in_range = in_range and totals[d].real > limit
        if only_child > 0 and single_root and d != only_child:
            reach[0, d] = 0.0
    if not in_range:
        return log_z, marginals, reach, shifts, False
    for h in range(size):
        for d in range(1, size):
            derivative = reach[h, d] / totals[d]
            marginals[h, d] = weights[h, d] * derivative
            reach[h, d] = 0.0 if derivative.real < floor else derivative
    return log_z + np.log(totals[1]), marginals, reach, shifts, True


# The same in log space, for sums at any scale, and for maxima, with which the elimination is also valid.


@njit(cache=True, error_model="numpy", forceinline=True)
def _eliminate_logs(block, start, stop, gone, left, single_root, semiring, takes_root):
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
def _substitute_logs(block, start, stop, gone, left, semiring, takes_root, reach):
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
            _substitute_logs(block, start, stop, gone, left, semiring, flags, reach)
            continue
        for row in range(start - 1, stop):
            h = row if row >= start else 0
            for m in range(start, stop):
                block[h, m] = blocks[level, h, m]
        logs, once[below] = _eliminate_logs(block, start, stop, gone, left, once[level], semiring, flags)
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
