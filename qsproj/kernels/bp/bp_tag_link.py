"""TAGLINK: a score on an arc and the tags of its two words; O(K^2) a factor for K tags."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import (
    plus,
    ratios_against_state_0,
    state_weights,
    total,
    weight_if_false,
    weight_if_true,
)
from qsproj.kernels.compilation import njit

FLAGS = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _sum_out(scores, head_weights, dependent_weights, by_head, by_dependent, maximise):
    """Fill ``by_head[t]``, the total over the dependent's tags of score and weight, and its mirror image."""
    work = np.empty(scores.shape[0])
    for t in range(scores.shape[0]):
        by_head[t] = total(scores[t] + dependent_weights, maximise)
    for u in range(scores.shape[1]):
        for t in range(scores.shape[0]):
            work[t] = scores[t, u] + head_weights[t]
        by_dependent[u] = total(work, maximise)


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def tag_link_messages(links, heads, dependents, scores, maximise):
    """Return the outgoing messages, shaped like the first three arguments.

    ``links`` float64[F]: incoming log-odds of the arcs. ``heads``, ``dependents`` float64[F, H-1], float64[F,
    D-1]: incoming log-ratios of the tags of head and dependent. ``scores`` float64[F, H, D]: natural log of
    the factor's value where the arc is true, [tag of head, tag of dependent].
    """
    n_head, n_dependent = scores.shape[1], scores.shape[2]
    link_messages = np.empty(links.shape)
    head_messages, dependent_messages = np.empty(heads.shape), np.empty(dependents.shape)
    head_weights, by_head = np.empty(n_head), np.empty(n_head)
    dependent_weights, by_dependent = np.empty(n_dependent), np.empty(n_dependent)
    for f in range(links.shape[0]):
        state_weights(heads[f], head_weights)
        state_weights(dependents[f], dependent_weights)
        _sum_out(scores[f], head_weights, dependent_weights, by_head, by_dependent, maximise)
        head_total, dependent_total = total(head_weights, maximise), total(dependent_weights, maximise)
        linked = total(head_weights + by_head, maximise)
        link_messages[f] = linked - (head_total + dependent_total)
        false, true = weight_if_false(links[f]), weight_if_true(links[f])
        for t in range(n_head):
            by_head[t] = plus(true + by_head[t], false + dependent_total, maximise)
        for u in range(n_dependent):
            by_dependent[u] = plus(true + by_dependent[u], false + head_total, maximise)
        ratios_against_state_0(by_head, head_weights, head_messages[f])
        ratios_against_state_0(by_dependent, dependent_weights, dependent_messages[f])
    return link_messages, head_messages, dependent_messages


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def tag_link_beliefs(links, heads, dependents, scores):
    """Return the sum of log partitions and float64[F, H, D], the probability of arc and tags."""
    expected = np.empty(scores.shape)
    head_weights, dependent_weights = np.empty(scores.shape[1]), np.empty(scores.shape[2])
    log_partition = 0.0
    for f in range(links.shape[0]):
        state_weights(heads[f], head_weights)
        state_weights(dependents[f], dependent_weights)
        true = weight_if_true(links[f])
        for t in range(scores.shape[1]):
            for u in range(scores.shape[2]):
                expected[f, t, u] = scores[f, t, u] + head_weights[t] + dependent_weights[u] + true
        unlinked = weight_if_false(links[f]) + total(head_weights, False) + total(dependent_weights, False)
        partition = plus(unlinked, total(expected[f].reshape(-1), False), False)
        log_partition += partition
        for t in range(scores.shape[1]):
            for u in range(scores.shape[2]):
                expected[f, t, u] = np.exp(expected[f, t, u] - partition)
    return log_partition, expected
