"""Hildreth's algorithm: the least change of hashed weights that satisfies linear constraints.

Minimise ``|change|^2 / 2`` so that every constraint's vector times the change is at least its slack. In the
dual, each constraint has a multiplier, 0 or more, and the change is the sum of their vectors, times the
multipliers; the algorithm maximises over one multiplier after the other. No matrix of products is needed:
violations are computed from the change itself, over all buckets.

The kernels share rows of features, ``row_starts`` int64[rows + 1], ``buckets`` uint64, as of
:func:`~qsproj.kernels.features.arc_features.list_arcs`; ``starts`` int64[constraints + 1], ``members``
int32[k], ``signs`` float64[k]: the vector of a constraint is a sum of rows, each with its sign; and
``change`` float[buckets]: minus the change of the weights, as a gradient to step down.

*Source*: Hildreth 1957; Censor and Zenios 1997, whom McDonald, Crammer and Pereira 2006 follow (3.1).
"""

import numpy as np

from qsproj.kernels.compilation import njit


@njit(cache=True, error_model="numpy")
def product(constraint, starts, members, signs, row_starts, buckets, change):
    total = 0.0
    for k in range(starts[constraint], starts[constraint + 1]):
        row, of_row = members[k], 0.0
        for f in range(row_starts[row], row_starts[row + 1]):
            of_row += change[buckets[f]]
        total += signs[k] * of_row
    return total


@njit(cache=True, error_model="numpy")
def add_vector(constraint, factor, starts, members, signs, row_starts, buckets, change):
    for k in range(starts[constraint], starts[constraint + 1]):
        row, slope = members[k], factor * signs[k]
        for f in range(row_starts[row], row_starts[row + 1]):
            change[buckets[f]] += slope


@njit(cache=True, error_model="numpy")
def hildreth(
    starts, members, signs, row_starts, buckets, slacks, limit, tolerance, most, multipliers, change
):
    """Raise the dual objective, one multiplier after the other, until the constraints hold; return passes.

    ``slacks`` float64[constraints]: violations before the change. ``tolerance``: a pass without larger
    violations is the last. ``multipliers``: current ones, mutated, up to ``limit``. ``change``: zero.
    """
    # Squared lengths of the vectors, each added to the zero ``change`` and removed again.
    lengths = np.empty(starts.shape[0] - 1)
    for constraint in range(lengths.shape[0]):
        add_vector(constraint, 1.0, starts, members, signs, row_starts, buckets, change)
        lengths[constraint] = product(constraint, starts, members, signs, row_starts, buckets, change)
        for k in range(starts[constraint], starts[constraint + 1]):
            change[buckets[row_starts[members[k]] : row_starts[members[k] + 1]]] = 0.0
    for passed in range(most):
        furthest = 0.0
        for constraint in range(lengths.shape[0]):
            # Arcs with equal features, which no weights can distinguish.
            if lengths[constraint] == 0.0:
                continue
            lacking = slacks[constraint] + product(
                constraint, starts, members, signs, row_starts, buckets, change
            )
            before = multipliers[constraint]
            now = min(max(before + lacking / lengths[constraint], 0.0), limit)
            if now != before:
                furthest = max(furthest, abs(now - before) * lengths[constraint])
                multipliers[constraint] = now
                add_vector(constraint, before - now, starts, members, signs, row_starts, buckets, change)
        if furthest <= tolerance:
            return passed + 1
    return most
