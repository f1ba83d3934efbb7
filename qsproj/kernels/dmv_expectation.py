"""The E-step of the DMV over many sentences in one call, and the posterior of one.

Sentences are packed: ``tags[starts[s] : starts[s + 1]]`` are those of sentence s.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from qsproj.kernels.dmv_charts import valence_goal, valence_inside, valence_outside

FLAGS = {"reassoc", "contract", "nsz", "arcp"}
FREE = -1
LEFT, RIGHT = 0, 1
NONE, SOME = 0, 1
# The weight of each word is multiplied by a scale that brings the goal between these: far enough from the
# ends of float64 for the parts of a derivation to stay within it too.
LOWEST, HIGHEST = 1e-200, 1e200
DECADES_A_STEP = 300.0
MOST_STEPS = 12


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def rescaled_goal(first, weights, root_weights, stop, go, half, sealed_by_end, opened):
    """Fill the charts, scaling the weights in place until the goal is in range.

    Returns
    -------
    goal : float64
        The total weight of all derivations as scaled; 0 when there is none.
    log_scale : float64
        What to add to the log of the goal for the log of the total without scaling.
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
def fill_node_stops(tags, stop_by_tag, stop, go):
    """Look up the stop probabilities of each node, and their complements."""
    for a in range(tags.shape[0]):
        for direction in range(2):
            for valence in range(2):
                probability = stop_by_tag[tags[a], direction, valence]
                stop[a, direction, valence] = probability
                go[a, direction, valence] = 1.0 - probability


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def add_stop_counts(tags, arcs, root_arcs, empty, stop_counts):
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


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _fill_weights(tags, heads, child, root, weights, root_weights):
    """Look up the weight of every arc that the known heads allow; the others get 0."""
    n = tags.shape[0]
    for h in range(n):
        for d in range(n):
            direction = RIGHT if d > h else LEFT
            allowed = heads[d] == FREE or heads[d] == h + 1
            weights[h, d] = child[tags[h], direction, tags[d]] if allowed else 0.0
    for d in range(n):
        root_weights[d] = root[tags[d]] if heads[d] <= 0 else 0.0


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def dmv_expectation(tags, starts, heads, stop_by_tag, child, root):
    """Sum the expected counts of all derivations over packed sentences.

    Parameters
    ----------
    tags : int16[W]
        Tags 0..T-1 of the words of S sentences.
    starts : int64[S+1]
        Where each sentence starts.
    heads : int16[W]
        Head of each word that has to be kept, 1-based within its sentence, 0 for the root; -1 where free.
    stop_by_tag : float64[T, 2, 2]
        Probability of stopping, [tag, direction, valence].
    child : float64[T, 2, T]
        Probability of a dependent's tag, [head tag, direction, dependent tag].
    root : float64[T]
        Probability of the tag of the root's one child.

    Returns
    -------
    stop_counts : float64[T, 2, 2, 2]
        Expected decisions, the last axis {stop, go on}.
    child_counts : float64[T, 2, T]
    root_counts : float64[T]
    log_likelihoods : float64[S]
        Natural log probability of each sentence (with its known heads); -inf, and no counts, where it is 0.
    arcs, root_arcs : float64[longest, longest], float64[longest]
        Posterior probability of the arcs of the last sentence, words from 0.
    """
    size = root.shape[0]
    stop_counts = np.zeros((size, 2, 2, 2))
    child_counts = np.zeros((size, 2, size))
    root_counts = np.zeros(size)
    sentences = starts.shape[0] - 1
    log_likelihoods = np.empty(sentences)
    longest = 0
    for s in range(sentences):
        longest = max(longest, starts[s + 1] - starts[s])
    weights, root_weights = np.empty((longest, longest)), np.empty(longest)
    stop, go = np.empty((longest, 2, 2)), np.empty((longest, 2, 2))
    half, sealed, opened = (
        np.empty((longest, longest)),
        np.empty((longest, longest)),
        np.empty((longest, longest)),
    )
    d_half, d_sealed, d_opened = np.empty_like(half), np.empty_like(half), np.empty_like(half)
    empty = np.empty((longest, 2))
    first_node = np.arange(longest + 1)
    for s in range(sentences):
        words = tags[starts[s] : starts[s + 1]]
        n = words.shape[0]
        first = first_node[: n + 1]
        _fill_weights(words, heads[starts[s] : starts[s + 1]], child, root, weights, root_weights)
        fill_node_stops(words, stop_by_tag, stop, go)
        goal, log_scale = rescaled_goal(first, weights, root_weights, stop, go, half, sealed, opened)
        log_likelihoods[s] = np.log(goal) + log_scale if goal > 0.0 else -np.inf
        if goal == 0.0:
            continue
        valence_outside(
            first,
            weights,
            root_weights,
            stop,
            go,
            half,
            sealed,
            opened,
            goal,
            d_half,
            d_sealed,
            d_opened,
            empty,
        )
        add_stop_counts(words, opened, root_weights, empty, stop_counts)
        for h in range(n):
            root_counts[words[h]] += root_weights[h]
            for d in range(h):
                child_counts[words[h], LEFT, words[d]] += opened[h, d]
            for d in range(h + 1, n):
                child_counts[words[h], RIGHT, words[d]] += opened[h, d]
    return stop_counts, child_counts, root_counts, log_likelihoods, opened, root_weights
