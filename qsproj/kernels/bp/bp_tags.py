"""Factors over tags, variables of several states.

TAG: unary scores. TAGLINK: a score on an arc and the tags of its two words; O(K^2) for K tags. TRIGRAM:
scores of three adjacent tags along a sentence; forward-backward over pairs, O(n K^3), skipping tags that
incoming messages rule out. Tags are 0..K-1; K is the boundary, twice before the first word and
once after the last. Charts are indexed [word, tag before, tag].
"""

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import (
    plus,
    ratios_against_state_0,
    state_weights,
    total,
    weight_if_false,
    weight_if_true,
)
from qsproj.kernels.compilation import FAST, njit


@njit(cache=True, error_model="numpy", fastmath=FAST)
def tag_messages(incoming, scores):
    """Return the outgoing log-ratios float64[F, K-1]; incoming ones only rule out states."""
    outgoing = np.empty(incoming.shape)
    weights = np.empty(scores.shape[1])
    for f in range(scores.shape[0]):
        state_weights(incoming[f], weights)
        ratios_against_state_0(scores[f], weights, outgoing[f])
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FAST)
def tag_beliefs(incoming, scores):
    """Return the sum of log partitions and the probabilities float64[F, K]; incoming float64[F, K-1]."""
    beliefs = np.empty(scores.shape)
    log_partition = 0.0
    for f in range(scores.shape[0]):
        state_weights(incoming[f], beliefs[f])
        beliefs[f] += scores[f]
        partition = total(beliefs[f], False)
        log_partition += partition
        beliefs[f] = np.exp(beliefs[f] - partition)
    return log_partition, beliefs


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _sum_out(scores, head_weights, dependent_weights, by_head, by_dependent, maximise):
    """Fill ``by_head[t]``, the total over the dependent's tags of score and weight, and its mirror image."""
    work = np.empty(scores.shape[0])
    for t in range(scores.shape[0]):
        by_head[t] = total(scores[t] + dependent_weights, maximise)
    for u in range(scores.shape[1]):
        for t in range(scores.shape[0]):
            work[t] = scores[t, u] + head_weights[t]
        by_dependent[u] = total(work, maximise)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def tag_link_messages(links, heads, dependents, scores, maximise):
    """Return the outgoing messages, shaped like the incoming ones.

    ``links`` float64[F], log-odds; ``heads``, ``dependents`` float64[F, H-1], float64[F, D-1]: log-ratios of
    their tags. ``scores`` float64[F, H, D]: natural log for a true arc, [head's tag, dependent's tag].
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


@njit(cache=True, error_model="numpy", fastmath=FAST)
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


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _possible_tags(incoming, n_tags):
    """Return weights of tags float64[n, K], the possible ones int64[n, K], and their number."""
    n = incoming.shape[0]
    weights = np.empty((n, n_tags))
    tags = np.empty((n, n_tags), np.int64)
    counts = np.zeros(n, np.int64)
    for i in range(n):
        state_weights(incoming[i], weights[i])
        for t in range(n_tags):
            if weights[i, t] > -np.inf:
                tags[i, counts[i]] = t
                counts[i] += 1
    return weights, tags, counts


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _trigram_charts(weights, tags, counts, scores, maximise):
    """Return totals before and after each pair of tags, float64[n, K+1, K] each.

    ``before[i, s, t]``: up to tag t of word i after s, without i's own weight; ``after[i, s, t]``: the rest.
    """
    n, k = weights.shape
    before = np.full((n, k + 1, k), -np.inf)
    after = np.full((n, k + 1, k), -np.inf)
    work = np.empty(k + 1)
    for t in tags[0, : counts[0]]:
        before[0, k, t] = scores[k, k, t]
    for i in range(1, n):
        for s in tags[i - 1, : counts[i - 1]]:
            for t in tags[i, : counts[i]]:
                if i == 1:
                    before[1, s, t] = before[0, k, s] + scores[k, s, t] + weights[0, s]
                    continue
                for r in range(counts[i - 2]):
                    first = tags[i - 2, r]
                    work[r] = before[i - 1, first, s] + scores[first, s, t]
                before[i, s, t] = total(work[: counts[i - 2]], maximise) + weights[i - 1, s]
    for i in range(n - 1, -1, -1):
        for t in tags[i, : counts[i]]:
            for r in range(counts[i - 1] if i else 1):
                s = tags[i - 1, r] if i else k
                if i == n - 1:
                    after[i, s, t] = scores[s, t, k]
                    continue
                for u in range(counts[i + 1]):
                    following = tags[i + 1, u]
                    work[u] = scores[s, t, following] + weights[i + 1, following] + after[i + 1, t, following]
                after[i, s, t] = total(work[: counts[i + 1]], maximise)
    return before, after


@njit(cache=True, error_model="numpy", fastmath=FAST)
def trigram_messages(incoming, scores, maximise):
    """Return the outgoing log-ratios float64[n, K-1]; ``scores`` float64[K+1, K+1, K+1], boundary K."""
    n, k = incoming.shape[0], scores.shape[0] - 1
    weights, tags, counts = _possible_tags(incoming, k)
    before, after = _trigram_charts(weights, tags, counts, scores, maximise)
    outgoing = np.empty(incoming.shape)
    beliefs = np.empty(k)
    work = np.empty(k + 1)
    for i in range(n):
        beliefs[:] = -np.inf
        for t in tags[i, : counts[i]]:
            for s in range(k + 1):
                work[s] = before[i, s, t] + after[i, s, t]
            beliefs[t] = total(work, maximise)
        ratios_against_state_0(beliefs, weights[i], outgoing[i])
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FAST)
def trigram_beliefs(incoming, scores):
    """Return the log partition and float64[K+1, K+1, K+1], the expected number of uses of each score."""
    n, k = incoming.shape[0], scores.shape[0] - 1
    weights, tags, counts = _possible_tags(incoming, k)
    before, after = _trigram_charts(weights, tags, counts, scores, False)
    partition = total(weights[0] + before[0, k] + after[0, k], False)
    expected = np.zeros(scores.shape)
    for t in tags[0, : counts[0]]:
        expected[k, k, t] = np.exp(weights[0, t] + before[0, k, t] + after[0, k, t] - partition)
    for i in range(n):
        for s in range(k + 1):
            for t in tags[i, : counts[i]]:
                reached = before[i, s, t] + weights[i, t] - partition
                if reached == -np.inf:
                    continue
                if i == n - 1:
                    expected[s, t, k] += np.exp(reached + scores[s, t, k])
                    continue
                for u in tags[i + 1, : counts[i + 1]]:
                    ahead = scores[s, t, u] + weights[i + 1, u] + after[i + 1, t, u]
                    expected[s, t, u] += np.exp(reached + ahead)
    return partition, expected
