"""Counts for the DMV that need no chart: of trees that are given, and of the harmonic initialiser.

Packed sentences and the layout of the counts are those of :mod:`qsproj.kernels.dmv.dmv_expectation`.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit

# None that changes rounding; see dmv_charts.
FLAGS = {"nsz"}
LEFT, RIGHT = 0, 1
NONE, SOME = 0, 1
STOP, GO = 0, 1


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def dmv_tree_counts(tags, starts, heads, size):
    """Count the decisions that build given trees.

    ``tags``, ``starts`` int16[W], int64[S+1]: packed tags. ``heads`` int16[W]: head of every word, 1-based
    within its sentence, 0 for the root: trees. ``size``: number of tags, T. Returns ``stop_counts``
    float64[T, 2, 2, 2]: [tag, direction, valence, {stop, go on}]; ``child_counts`` float64[T, 2, T]: [head
    tag, direction, dependent tag]; ``root_counts`` float64[T].
    """
    stop_counts = np.zeros((size, 2, 2, 2))
    child_counts = np.zeros((size, 2, size))
    root_counts = np.zeros(size)
    for s in range(starts.shape[0] - 1):
        start, end = starts[s], starts[s + 1]
        dependents = np.zeros((end - start, 2), np.int64)
        for d in range(start, end):
            if heads[d] == 0:
                root_counts[tags[d]] += 1.0
                continue
            h = start + heads[d] - 1
            direction = RIGHT if d > h else LEFT
            dependents[h - start, direction] += 1
            child_counts[tags[h], direction, tags[d]] += 1.0
        for h in range(start, end):
            for direction in range(2):
                number = dependents[h - start, direction]
                cell = stop_counts[tags[h], direction]
                if number == 0:
                    cell[NONE, STOP] += 1.0
                else:
                    cell[NONE, GO] += 1.0
                    cell[SOME, GO] += number - 1.0
                    cell[SOME, STOP] += 1.0
    return stop_counts, child_counts, root_counts


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def dmv_harmonic_counts(tags, starts, size):
    """Give the counts of the harmonic initialiser.

    Every word of a sentence is the root's child with the same probability; otherwise its head is another
    word with probability in proportion to 1 / distance. The stop decisions follow as if the dependents of a
    head were independent of each other. Parameters and returns as for :func:`dmv_tree_counts`.

    *Source*: Klein and Manning 2004, section 3 (the harmonic completion). They do not print how valence is
    initialised; the independence above is ours.
    """
    stop_counts = np.zeros((size, 2, 2, 2))
    child_counts = np.zeros((size, 2, size))
    root_counts = np.zeros(size)
    for s in range(starts.shape[0] - 1):
        start, n = starts[s], starts[s + 1] - starts[s]
        shares = np.empty(n)
        for d in range(n):
            total = 0.0
            for h in range(n):
                if h != d:
                    total += 1.0 / abs(h - d)
            root_counts[tags[start + d]] += 1.0 / n
            shares[d] = (1.0 - 1.0 / n) / total if n > 1 else 0.0
        for h in range(n):
            head = tags[start + h]
            for direction in range(2):
                low, high = (h + 1, n) if direction == RIGHT else (0, h)
                expected, empty = 0.0, 1.0
                for d in range(low, high):
                    probability = shares[d] / abs(h - d)
                    child_counts[head, direction, tags[start + d]] += probability
                    expected += probability
                    empty *= 1.0 - probability
                cell = stop_counts[head, direction]
                cell[NONE, STOP] += empty
                cell[NONE, GO] += 1.0 - empty
                cell[SOME, STOP] += 1.0 - empty
                cell[SOME, GO] += max(expected - (1.0 - empty), 0.0)
    return stop_counts, child_counts, root_counts
