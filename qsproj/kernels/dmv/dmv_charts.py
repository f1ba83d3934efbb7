"""Inside-outside for head automata with valence, for the DMV and the QG-DMV (docs/notes/qg-dmv.md).

The chart is over *nodes*: a word in one of its senses, sorted by word, so that those of a span of words are a
slice. Words count from 0 here; the root is outside the chart::

    half[a, e]           a's dependents between word i and e, complete, and all below them; 1 for e = i.
                         The side of e gives the direction. The decision to stop is not included yet.
    sealed_by_end[e, a]  the same, transposed, for e != i, and a has stopped
    opened[a, b]         the words between a and its new dependent b, with the arc, a not yet stopped

    opened[a, b] = weights[a, b] * sum over i <= k < j of (half[a, k] go[a]) * (half[b, k + 1] stop[b])
    half[a, j]   = sum over nodes b of the words in i < k <= j of  opened[a, b] * (half[b, j] stop[b])

``go`` and ``stop``, [node, direction, valence], are probabilities; an empty half takes them at valence 0, any
other at valence 1. In probability space: the caller scales the weights so that the goal is in range. O(n^3
k^2) time for n words of k nodes, O(n^2 k^2) memory.

*Source*: Eisner and Satta 1999 (split heads); Klein and Manning 2004 (valence); thesis 4.6.2 (senses).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.compilation import njit

# No flags that change rounding: their effect depends on inlining, and that on whether callees were just
# compiled or read from the cache, so that two workers would give different results.
FLAGS = {"nsz"}
LEFT, RIGHT = 0, 1
NONE, SOME = 0, 1


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def valence_inside(first, space):
    """Fill the charts ``half``, ``sealed``, ``opened`` over nodes ``first[i] : first[i + 1]`` of word i."""
    weights, stop, go = space.weights, space.stop, space.go
    half, sealed_by_end, opened = space.half, space.sealed, space.opened
    n = first.shape[0] - 1
    for i in range(n):
        for a in range(first[i], first[i + 1]):
            half[a, i] = 1.0
    for width in range(1, n):
        for i in range(n - width):
            j = i + width
            for a in range(first[i], first[i + 1]):
                for b in range(first[j], first[j + 1]):
                    if width == 1:
                        rightwards = go[a, RIGHT, NONE] * stop[b, LEFT, NONE]
                        leftwards = stop[a, RIGHT, NONE] * go[b, LEFT, NONE]
                    else:
                        # The splits at which both halves have dependents.
                        core = 0.0
                        for k in range(i + 1, j - 1):
                            core += half[a, k] * half[b, k + 1]
                        near, far = half[b, i + 1], half[a, j - 1]
                        rightwards = (
                            go[a, RIGHT, SOME] * (core * stop[b, LEFT, SOME] + far * stop[b, LEFT, NONE])
                            + go[a, RIGHT, NONE] * near * stop[b, LEFT, SOME]
                        )
                        leftwards = (
                            stop[a, RIGHT, SOME] * (core * go[b, LEFT, SOME] + far * go[b, LEFT, NONE])
                            + stop[a, RIGHT, NONE] * near * go[b, LEFT, SOME]
                        )
                    opened[a, b] = rightwards * weights[a, b]
                    opened[b, a] = leftwards * weights[b, a]
            for a in range(first[i], first[i + 1]):
                total = 0.0
                for c in range(first[i + 1], first[j]):
                    total += opened[a, c] * sealed_by_end[j, c]
                for c in range(first[j], first[j + 1]):
                    total += opened[a, c] * stop[c, RIGHT, NONE]
                half[a, j] = total
                sealed_by_end[j, a] = total * stop[a, RIGHT, SOME]
            for b in range(first[j], first[j + 1]):
                total = 0.0
                for c in range(first[i], first[i + 1]):
                    total += opened[b, c] * stop[c, LEFT, NONE]
                for c in range(first[i + 1], first[j]):
                    total += opened[b, c] * sealed_by_end[i, c]
                half[b, i] = total
                sealed_by_end[i, b] = total * stop[b, LEFT, SOME]


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _ends(first, stop, half, a, word):
    """Return the sealed left and the sealed right half of a node that spans the sentence."""
    last = first.shape[0] - 2
    left = stop[a, LEFT, NONE] if word == 0 else half[a, 0] * stop[a, LEFT, SOME]
    right = stop[a, RIGHT, NONE] if word == last else half[a, last] * stop[a, RIGHT, SOME]
    return left, right


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def valence_goal(first, space):
    """Return the total weight of all derivations: one child of the root, its halves reaching both ends."""
    n = first.shape[0] - 1
    total = 0.0
    for word in range(n):
        for a in range(first[word], first[word + 1]):
            left, right = _ends(first, space.stop, space.half, a, word)
            total += space.root_weights[a] * left * right
    return total


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def valence_outside(first, space, goal):
    """Turn the charts of :func:`valence_inside` into expectations; ``goal`` is finite, above 0.

    Overwritten by posterior probabilities: ``opened``, of each arc between nodes (0 between nodes of one
    word), and ``root_weights``, of each node as the child of the root. ``empty`` is filled.
    """
    weights, root_weights, stop, go, half, sealed_by_end, opened, d_half, d_sealed, d_opened, empty = space
    n = first.shape[0] - 1
    nodes = first[n]
    empty[:nodes] = 0.0
    d_half[:nodes, :n] = 0.0
    d_opened[:nodes, :nodes] = 0.0
    d_sealed[:n, :nodes] = 0.0
    for word in range(n):
        for a in range(first[word], first[word + 1]):
            left, right = _ends(first, stop, half, a, word)
            share = root_weights[a] / goal
            root_weights[a] = share * left * right
            if word == 0:
                empty[a, LEFT] += root_weights[a]
            else:
                d_half[a, 0] += share * stop[a, LEFT, SOME] * right
            if word == n - 1:
                empty[a, RIGHT] += root_weights[a]
            else:
                d_half[a, n - 1] += share * stop[a, RIGHT, SOME] * left
    for width in range(n - 1, 0, -1):
        for i in range(n - width):
            j = i + width
            _halves_outside(first, stop, sealed_by_end, opened, d_half, d_sealed, d_opened, empty, i, j)
            for a in range(first[i], first[i + 1]):
                for b in range(first[j], first[j + 1]):
                    _link_outside(weights, stop, go, half, d_half, d_opened, empty, a, b, i, j)
                    opened[a, b] *= d_opened[a, b]
                    opened[b, a] *= d_opened[b, a]
    for word in range(n):
        for a in range(first[word], first[word + 1]):
            opened[a, first[word] : first[word + 1]] = 0.0


@njit(cache=True, error_model="numpy", fastmath=FLAGS, forceinline=True)
def _halves_outside(first, stop, sealed_by_end, opened, d_half, d_sealed, d_opened, empty, i, j):
    """Propagate the derivatives of the halves that span i..j, in both directions, to their parts."""
    for a in range(first[i], first[i + 1]):
        rate = d_half[a, j] + d_sealed[j, a] * stop[a, RIGHT, SOME]
        for c in range(first[i + 1], first[j]):
            d_opened[a, c] += rate * sealed_by_end[j, c]
            d_sealed[j, c] += rate * opened[a, c]
        for c in range(first[j], first[j + 1]):
            d_opened[a, c] += rate * stop[c, RIGHT, NONE]
            empty[c, RIGHT] += rate * opened[a, c] * stop[c, RIGHT, NONE]
    for b in range(first[j], first[j + 1]):
        rate = d_half[b, i] + d_sealed[i, b] * stop[b, LEFT, SOME]
        for c in range(first[i], first[i + 1]):
            d_opened[b, c] += rate * stop[c, LEFT, NONE]
            empty[c, LEFT] += rate * opened[b, c] * stop[c, LEFT, NONE]
        for c in range(first[i + 1], first[j]):
            d_opened[b, c] += rate * sealed_by_end[i, c]
            d_sealed[i, c] += rate * opened[b, c]


@njit(cache=True, error_model="numpy", fastmath=FLAGS, forceinline=True)
def _link_outside(weights, stop, go, half, d_half, d_opened, empty, a, b, i, j):
    """Propagate the derivatives of a -> b and b -> a to their halves."""
    rightwards = d_opened[a, b] * weights[a, b]
    leftwards = d_opened[b, a] * weights[b, a]
    if j == i + 1:
        empty[b, LEFT] += rightwards * go[a, RIGHT, NONE] * stop[b, LEFT, NONE]
        empty[a, RIGHT] += leftwards * stop[a, RIGHT, NONE] * go[b, LEFT, NONE]
        return
    core = rightwards * go[a, RIGHT, SOME] * stop[b, LEFT, SOME]
    core += leftwards * stop[a, RIGHT, SOME] * go[b, LEFT, SOME]
    for k in range(i + 1, j - 1):
        d_half[a, k] += core * half[b, k + 1]
        d_half[b, k + 1] += core * half[a, k]
    b_empty = rightwards * go[a, RIGHT, SOME] * stop[b, LEFT, NONE]
    a_empty = leftwards * stop[a, RIGHT, NONE] * go[b, LEFT, SOME]
    d_half[a, j - 1] += b_empty + leftwards * stop[a, RIGHT, SOME] * go[b, LEFT, NONE]
    d_half[b, i + 1] += a_empty + rightwards * go[a, RIGHT, NONE] * stop[b, LEFT, SOME]
    empty[b, LEFT] += b_empty * half[a, j - 1]
    empty[a, RIGHT] += a_empty * half[b, i + 1]


# The weight of each word is scaled to bring the goal between these: far enough from the limits of float64
# for the parts of a derivation to stay in range too.
LOWEST, HIGHEST = 1e-200, 1e200
DECADES_A_STEP = 300.0
MOST_STEPS = 12


class ChartSpace(NamedTuple):
    """Work arrays for the sums of one sentence; entries beyond its N nodes and its words are not read."""

    weights: NDArray[np.float64]  # [N, N]: of each arc between nodes, [head, dependent]
    root_weights: NDArray[np.float64]  # [N]: of each node as the child of the root
    stop: NDArray[np.float64]  # [N, 2, 2]: probability of stopping, [node, direction, valence]
    go: NDArray[np.float64]  # [N, 2, 2]: of going on
    half: NDArray[np.float64]  # [N, n]; derivatives follow below
    sealed: NDArray[np.float64]  # [n, N]
    opened: NDArray[np.float64]  # [N, N]
    d_half: NDArray[np.float64]
    d_sealed: NDArray[np.float64]
    d_opened: NDArray[np.float64]
    empty: NDArray[np.float64]  # [N, 2]: expected count of no dependent in a direction


@njit(cache=True, error_model="numpy")
def chart_space(nodes, words):
    return ChartSpace(
        np.empty((nodes, nodes)),
        np.empty(nodes),
        np.empty((nodes, 2, 2)),
        np.empty((nodes, 2, 2)),
        np.empty((nodes, words)),
        np.empty((words, nodes)),
        np.empty((nodes, nodes)),
        np.empty((nodes, words)),
        np.empty((words, nodes)),
        np.empty((nodes, nodes)),
        np.empty((nodes, 2)),
    )


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def sum_derivations(first, tags, stop_by_tag, space, stop_counts):
    """Sum over the derivations of one sentence, and count its decisions to stop or go on.

    ``first`` int[n+1]: the first node of each word, and their number, N. ``tags`` int16[N]. ``stop_by_tag``
    float64[T, 2, 2]: probability of stopping, [tag, direction, valence]. ``space`` has ``weights`` and
    ``root_weights`` filled; on return ``opened[:N, :N]`` and ``root_weights[:N]`` are posterior
    probabilities. To ``stop_counts`` float64[T, 2, 2, {stop, go on}] expected decisions are added. Returns
    the natural log of the total; -inf, and nothing counted, where there is no derivation.
    """
    for a in range(tags.shape[0]):
        for direction in range(2):
            for valence in range(2):
                probability = stop_by_tag[tags[a], direction, valence]
                space.stop[a, direction, valence] = probability
                space.go[a, direction, valence] = 1.0 - probability
    goal, log_scale = _rescaled_goal(first, space)
    if goal == 0.0:
        return -np.inf
    valence_outside(first, space, goal)
    _add_stop_counts(tags, space.opened, space.root_weights, space.empty, stop_counts)
    return np.log(goal) + log_scale


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _rescaled_goal(first, space):
    """Fill the charts, scaling weights in place; return their total, 0 for none, and its log offset."""
    n = first.shape[0] - 1
    nodes = first[n]
    step = 10.0 ** (DECADES_A_STEP / n)
    log_scale = 0.0
    for _ in range(MOST_STEPS):
        valence_inside(first, space)
        goal = valence_goal(first, space)
        if LOWEST < goal < HIGHEST:
            return goal, log_scale
        # A NaN, from infinity times zero, also counts as too large.
        factor = step if goal <= LOWEST else 1.0 / step
        space.root_weights[:nodes] *= factor
        space.weights[:nodes, :nodes] *= factor
        log_scale -= n * np.log(factor)
    return 0.0, log_scale


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _add_stop_counts(tags, arcs, root_arcs, empty, stop_counts):
    """Add the expected decisions to ``stop_counts`` [tag, direction, valence, {stop, go}].

    A node that is used stops once in each direction, and goes on once for each dependent there.
    """
    nodes = tags.shape[0]
    for a in range(nodes):
        used = root_arcs[a]
        for b in range(nodes):
            used += arcs[b, a]
        for direction in range(2):
            dependents = 0.0
            for b in range(a) if direction == LEFT else range(a + 1, nodes):
                dependents += arcs[a, b]
            without = min(empty[a, direction], used)
            cell = stop_counts[tags[a], direction]
            cell[NONE, 0] += without
            cell[NONE, 1] += used - without
            cell[SOME, 0] += used - without
            cell[SOME, 1] += max(dependents - (used - without), 0.0)
