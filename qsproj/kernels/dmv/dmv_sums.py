"""Sums over the derivations of one sentence, for the DMV and the QG-DMV, and the space they are made in.

A sentence is a row of nodes, one or more for each word; a node of the DMV is a word, of the QG-DMV a word in
one of its senses. See :mod:`qsproj.kernels.dmv.dmv_charts` for the charts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.compilation import njit
from qsproj.kernels.dmv.dmv_charts import valence_goal, valence_inside, valence_outside

# None that changes rounding; see dmv_charts.
FLAGS = {"nsz"}
LEFT, RIGHT = 0, 1
NONE, SOME = 0, 1
# The weight of each word is multiplied by a scale that brings the goal between these: far enough from the
# ends of float64 for the parts of a derivation to stay within it too.
LOWEST, HIGHEST = 1e-200, 1e200
DECADES_A_STEP = 300.0
MOST_STEPS = 12


class ChartSpace(NamedTuple):
    """What the sums of one sentence are made in; entries beyond its nodes and words are not read.

    ``weights`` float64[>=N, >=N]: weight of each arc between nodes, [head, dependent]. ``root_weights``
    float64[>=N]: weight of each node as the child of the root. ``stop``, ``go`` float64[>=N, 2, 2]:
    probabilities of stopping and going on, [node, direction, valence]. ``half``, ``sealed``, ``opened``,
    ``d_half``, ``d_sealed``, ``d_opened``: charts and their derivatives. ``empty`` float64[>=N, 2]: expected
    number of times that a node has no dependent in a direction.
    """

    weights: NDArray[np.float64]
    root_weights: NDArray[np.float64]
    stop: NDArray[np.float64]
    go: NDArray[np.float64]
    half: NDArray[np.float64]
    sealed: NDArray[np.float64]
    opened: NDArray[np.float64]
    d_half: NDArray[np.float64]
    d_sealed: NDArray[np.float64]
    d_opened: NDArray[np.float64]
    empty: NDArray[np.float64]


@njit(cache=True, error_model="numpy")
def chart_space(nodes, words):
    """Return room for sentences of at most so many nodes and words."""
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

    ``first`` int[n+1]: the first node of each word, and the number of nodes, N. ``tags`` int16[N].
    ``stop_by_tag`` float64[T, 2, 2]: probability of stopping, [tag, direction, valence]. ``space``
    ChartSpace: with ``weights`` and ``root_weights`` filled. On return ``opened[:N, :N]`` and
    ``root_weights[:N]`` are the posterior probabilities of the arcs. ``stop_counts`` float64[T, 2, 2, 2]:
    expected decisions are added, the last axis {stop, go on}. Returns float64: natural log of the total;
    -inf, and nothing counted, where there is no derivation.
    """
    weights, root_weights, stop, go, half, sealed, opened, d_half, d_sealed, d_opened, empty = space
    _fill_node_stops(tags, stop_by_tag, stop, go)
    goal, log_scale = _rescaled_goal(first, weights, root_weights, stop, go, half, sealed, opened)
    if goal == 0.0:
        return -np.inf
    valence_outside(
        first, weights, root_weights, stop, go, half, sealed, opened, goal, d_half, d_sealed, d_opened, empty
    )
    _add_stop_counts(tags, opened, root_weights, empty, stop_counts)
    return np.log(goal) + log_scale


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _rescaled_goal(first, weights, root_weights, stop, go, half, sealed_by_end, opened):
    """Fill the charts, scaling the weights in place until the goal is in range.

    Returns ``goal``: the total weight of all derivations as scaled; 0 when there is none; ``log_scale``: what
    to add to the log of the goal for the log of the total without scaling.
    """
    n = first.shape[0] - 1
    nodes = first[n]
    step = 10.0 ** (DECADES_A_STEP / n)
    log_scale = 0.0
    for _ in range(MOST_STEPS):
        valence_inside(first, weights, stop, go, half, sealed_by_end, opened)
        goal = valence_goal(first, root_weights, stop, half)
        if LOWEST < goal < HIGHEST:
            return goal, log_scale
        # Infinity times zero may have left a NaN: that too is too much.
        factor = step if goal <= LOWEST else 1.0 / step
        for a in range(nodes):
            root_weights[a] *= factor
            for b in range(nodes):
                weights[a, b] *= factor
        log_scale -= n * np.log(factor)
    return 0.0, log_scale


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _fill_node_stops(tags, stop_by_tag, stop, go):
    """Look up the stop probabilities of each node, and their complements."""
    for a in range(tags.shape[0]):
        for direction in range(2):
            for valence in range(2):
                probability = stop_by_tag[tags[a], direction, valence]
                stop[a, direction, valence] = probability
                go[a, direction, valence] = 1.0 - probability


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _add_stop_counts(tags, arcs, root_arcs, empty, stop_counts):
    """Add the expected decisions to stop or go on to ``stop_counts`` [tag, direction, valence, {stop, go}].

    A node that is used stops once in each direction; it has dependents there unless empty, and goes on once
    for each of them.
    """
    nodes = tags.shape[0]
    for a in range(nodes):
        used = root_arcs[a]
        for b in range(nodes):
            used += arcs[b, a]
        dependents_left = 0.0
        for b in range(a):
            dependents_left += arcs[a, b]
        dependents_right = 0.0
        for b in range(a + 1, nodes):
            dependents_right += arcs[a, b]
        for direction in range(2):
            dependents = dependents_left if direction == LEFT else dependents_right
            without = min(empty[a, direction], used)
            cell = stop_counts[tags[a], direction]
            cell[NONE, 0] += without
            cell[NONE, 1] += used - without
            cell[SOME, 0] += used - without
            cell[SOME, 1] += max(dependents - (used - without), 0.0)
