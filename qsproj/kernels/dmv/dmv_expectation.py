"""Counts of the DMV: expected derivations, given trees, the harmonic initialiser.

Sentences are packed: ``tags[starts[s] : starts[s + 1]]``, int16, 0..T-1, are those of sentence s; ``heads``
int16[W] are 1-based within it, 0 for the root, -1 where free. Tables, of probabilities or counts: ``stop``
float64[T, 2, 2], [tag, direction, valence], counts with a last axis {stop, go on}; ``child`` float64[T, 2,
T], [head tag, direction, dependent tag]; ``root`` float64[T], the tag of the root's one child.
"""

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.compilation import njit
from qsproj.kernels.copying import copy_into
from qsproj.kernels.dmv.dmv_charts import FLAGS, LEFT, NONE, RIGHT, SOME, chart_space, sum_derivations

FREE = -1
STOP, GO = 0, 1


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _fill_weights(tags, heads, child, root, weights, root_weights):
    """Look up the weight of every arc allowed by the known heads; the others get 0."""
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

    Returns counts of ``stop``, ``child``, ``root``; and ``log_likelihoods`` float64[S], -inf, and no counts,
    where impossible.
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
    space = chart_space(longest, longest)
    arcs, root_arcs = space.opened, space.root_weights
    # The dtype of the QG-DMV, which calls the same kernels.
    first_node = np.arange(longest + 1, dtype=np.int32)
    for s in range(sentences):
        words = tags[starts[s] : starts[s + 1]]
        n = words.shape[0]
        its_heads = heads[starts[s] : starts[s + 1]]
        _fill_weights(words, its_heads, child, root, space.weights, space.root_weights)
        log_likelihoods[s] = sum_derivations(first_node[: n + 1], words, stop_by_tag, space, stop_counts)
        if log_likelihoods[s] == -np.inf:
            continue
        for h in range(n):
            root_counts[words[h]] += root_arcs[h]
            for d in range(n):
                child_counts[words[h], LEFT if d < h else RIGHT, words[d]] += arcs[h, d]
    return stop_counts, child_counts, root_counts, log_likelihoods


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def dmv_arcs(tags, stop_by_tag, weights, root_weights):
    """Sum over the derivations of one sentence by the weights of its arcs, 0 for impossible ones.

    Returns the natural log of the total, -inf where it is 0, and the posterior probability of the arcs
    float64[n, n], words from 0, and of the root's float64[n].
    """
    n = tags.shape[0]
    space = chart_space(n, n)
    for head in range(n):
        copy_into(space.weights[head], weights[head])
    copy_into(space.root_weights, root_weights)
    stop_counts = np.zeros((stop_by_tag.shape[0], 2, 2, 2))
    first_node = np.arange(n + 1, dtype=np.int32)
    log_likelihood = sum_derivations(first_node, tags, stop_by_tag, space, stop_counts)
    return log_likelihood, space.opened, space.root_weights


def dmv_tree_counts(
    tags: NDArray[np.int16], starts: NDArray[np.int64], heads: NDArray[np.int16], size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Count the decisions that build given trees, with T = ``size`` tags."""
    words = np.flatnonzero(heads)
    above = np.repeat(starts[:-1], np.diff(starts))[words] + heads[words] - 1
    sides = np.where(words > above, RIGHT, LEFT)
    child_counts, dependents = np.zeros((size, 2, size)), np.zeros((tags.size, 2))
    np.add.at(child_counts, (tags[above], sides, tags[words]), 1.0)
    np.add.at(dependents, (above, sides), 1.0)
    decisions, stop_counts = np.zeros((tags.size, 2, 2, 2)), np.zeros((size, 2, 2, 2))
    decisions[..., NONE, STOP] = dependents == 0.0
    decisions[..., NONE, GO] = decisions[..., SOME, STOP] = dependents > 0.0
    decisions[..., SOME, GO] = np.maximum(dependents - 1.0, 0.0)
    np.add.at(stop_counts, tags, decisions)
    root_counts = np.bincount(tags[heads == 0], minlength=size).astype(np.float64)
    return stop_counts, child_counts, root_counts


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def dmv_harmonic_counts(tags, starts, size):
    """Return the counts of the harmonic initialiser (Klein and Manning 2004, section 3).

    Head probabilities are proportional to 1 / distance. Stop decisions are computed as if the dependents of a
    head were independent of each other, which is ours.
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
