"""TRIGRAM: scores of three adjacent tags along a sentence; forward-backward over pairs, O(n K^3).

Tags that incoming messages rule out cost nothing. Tags are 0..K-1; K is the boundary, twice before the first
word and once after the last. Charts are indexed [word, tag before, tag].
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import ratios_against_state_0, state_weights, total
from qsproj.kernels.compilation import njit

FLAGS = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _possible_tags(incoming, n_tags):
    """Return the weights of the tags, which tags of each word are not ruled out, and how many these are.

    float64[n, K]; int64[n, K], of which each row is filled so far as the count says; int64[n]. Loops run over
    these tags alone: with c of them left for each word, the time is O(n c^3).
    """
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


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _charts(weights, tags, counts, scores, maximise):
    """Return totals before and after each pair of tags, float64[n, K+1, K] each.

    ``before[i, s, t]`` covers all up to tag t of word i, s being the tag before, without word i's own weight;
    ``after[i, s, t]`` covers all that follows. -inf where s or t is ruled out.
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


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def trigram_messages(incoming, scores, maximise):
    """Return the outgoing log-ratios, float64[n, K-1].

    ``incoming`` float64[n, K-1]: log-ratios of the tags of each word, n >= 1. ``scores`` float64[K+1, K+1,
    K+1]: natural log [tag before the last, last tag, tag], boundary K.
    """
    n, k = incoming.shape[0], scores.shape[0] - 1
    weights, tags, counts = _possible_tags(incoming, k)
    before, after = _charts(weights, tags, counts, scores, maximise)
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


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def trigram_beliefs(incoming, scores):
    """Return the log partition and float64[K+1, K+1, K+1], the expected number of uses of each score."""
    n, k = incoming.shape[0], scores.shape[0] - 1
    weights, tags, counts = _possible_tags(incoming, k)
    before, after = _charts(weights, tags, counts, scores, False)
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
