"""TRIGRAM: scores of three adjacent tags along a sentence; forward-backward over pairs, O(n K^3).

Tags are 0..K-1; K is the boundary, twice before the first word and once after the last. Charts are indexed
[word, tag before, tag].
"""

from __future__ import annotations

import numpy as np
from numba import njit

from qsproj.kernels.bp_arithmetic import ratios_against_state_0, state_weights, total

FLAGS = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _charts(incoming, scores, maximise):
    """Return the weights of tags float64[n, K], and totals before and after each pair of tags.

    ``before[i, s, t]`` covers all up to tag t of word i, s being the tag before, without word i's own weight;
    ``after[i, s, t]`` covers all that follows. float64[n, K+1, K] each.
    """
    n, k = incoming.shape[0], scores.shape[0] - 1
    weights = np.empty((n, k))
    before = np.full((n, k + 1, k), -np.inf)
    after = np.full((n, k + 1, k), -np.inf)
    work = np.empty(k + 1)
    for i in range(n):
        state_weights(incoming[i], weights[i])
    before[0, k] = scores[k, k, :k]
    for i in range(1, n):
        for s in range(k):
            for t in range(k):
                for r in range(k + 1):
                    work[r] = before[i - 1, r, s] + scores[r, s, t]
                before[i, s, t] = total(work, maximise) + weights[i - 1, s]
    for s in range(k + 1):
        after[n - 1, s] = scores[s, :k, k]
    for i in range(n - 2, -1, -1):
        for s in range(k + 1):
            for t in range(k):
                after[i, s, t] = total(scores[s, t, :k] + weights[i + 1] + after[i + 1, t], maximise)
    return weights, before, after


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def trigram_messages(incoming, scores, maximise):
    """Return the outgoing log-ratios, float64[n, K-1].

    Parameters
    ----------
    incoming : float64[n, K-1]
        Log-ratios of the tags of each word, n >= 1.
    scores : float64[K+1, K+1, K+1]
        Natural log [tag before the last, last tag, tag], boundary K.
    maximise : bool
        Maxima for sums.
    """
    n, k = incoming.shape[0], scores.shape[0] - 1
    weights, before, after = _charts(incoming, scores, maximise)
    outgoing = np.empty(incoming.shape)
    beliefs = np.empty(k)
    work = np.empty(k + 1)
    for i in range(n):
        for t in range(k):
            for s in range(k + 1):
                work[s] = before[i, s, t] + after[i, s, t]
            beliefs[t] = total(work, maximise)
        ratios_against_state_0(beliefs, weights[i], outgoing[i])
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def trigram_beliefs(incoming, scores):
    """Return the log partition and float64[K+1, K+1, K+1], the expected number of uses of each score."""
    n, k = incoming.shape[0], scores.shape[0] - 1
    weights, before, after = _charts(incoming, scores, False)
    partition = total(weights[0] + before[0, k] + after[0, k], False)
    expected = np.zeros(scores.shape)
    for t in range(k):
        expected[k, k, t] = np.exp(weights[0, t] + before[0, k, t] + after[0, k, t] - partition)
    for i in range(n):
        for s in range(k + 1):
            for t in range(k):
                reached = before[i, s, t] + weights[i, t] - partition
                if reached == -np.inf:
                    continue
                if i == n - 1:
                    expected[s, t, k] += np.exp(reached + scores[s, t, k])
                else:
                    for u in range(k):
                        ahead = scores[s, t, u] + weights[i + 1, u] + after[i + 1, t, u]
                        expected[s, t, u] += np.exp(reached + ahead)
    return partition, expected
