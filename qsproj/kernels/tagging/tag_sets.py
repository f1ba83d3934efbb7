"""Learning the linear chain from sets of tags: a word may be left several tags, weighted or not.

Arrays and scales are those of :mod:`qsproj.kernels.tagging.linear_chain`. Evidence of a word is a natural-log
weight for each tag: 0 for one that may be, -inf for one that may not, anything between for a doubtful one.

Source: Taeckstroem, Das, McDonald, Petrov and Nivre (2013), section 3; there weights are 0 and -inf only.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.tagging.linear_chain import FAST, add_emissions, posterior

# Slopes smaller than this move no weight: nearly all are, once a word's tags are learned.
FLAT = 1e-4


@njit(cache=True, error_model="numpy", fastmath=FAST)
def set_gradient(rows, log_evidence, weights, transitions, residuals, pair_residuals):
    """Fill the gradient of log sum over tag sequences of p(sequence) evidence(sequence); return that value.

    Parameters
    ----------
    rows : int32[n, K]
        The rows of ``weights`` that fire at each word, -1 for none.
    log_evidence : float32[n, T]
        Natural-log weights, at most 0, of which -inf forbids; at least one of a word finite.
    weights, transitions : float32[R, T], float64[T+1, T]
        The model.
    residuals : float64[n, T]
        Output: d/d emissions, the tag's posterior with the evidence less that without.
    pair_residuals : float64[T+1, T]
        Output: d/d transitions.

    Notes
    -----
    O(n (K T + T^2)) time.
    """
    n, n_tags = residuals.shape
    emissions = np.empty((n, n_tags))
    add_emissions(rows, weights, emissions)
    supported = emissions + log_evidence
    free = np.empty((n, n_tags))
    free_pairs = np.zeros((n_tags + 1, n_tags))
    pair_residuals[:] = 0.0
    log_supported = posterior(supported, transitions, residuals, pair_residuals)
    log_z = posterior(emissions, transitions, free, free_pairs)
    residuals -= free
    pair_residuals -= free_pairs
    return log_supported - log_z


@njit(cache=True, error_model="numpy", fastmath=FAST)
def train_sets_epoch(order, starts, rows, log_evidence, strengths, parameters, chain, rate, clock):
    """Run AdaGrad over the sentences in ``order`` and return the sum of their log-likelihoods.

    Parameters
    ----------
    order : int64[S]
        Sentences in the order to visit; sentence s holds words ``starts[s]:starts[s + 1]``.
    starts, rows, log_evidence : int64[S+1], int32[N, K], float32[N, T]
        Features and evidence of all words.
    strengths : float32[S]
        Weight of each sentence in the objective.
    parameters, chain : float32[3, R, T], float64[3, T+1, T]
        Updated: for features and for tag pairs the weights, AdaGrad's sums of squared gradients, and the
        sums of clock * update. The average of all weights visited is ``[0] - [2] / clock``.
    rate : float
        AdaGrad's step size.
    clock : int
        Number of sentences seen before.

    Notes
    -----
    *Source*: Duchi, Hazan and Singer (2011); averaging as in Daume's thesis (2006), figure 2.3. Slopes below
    FLAT are passed over, which takes two thirds of the time away.
    """
    n_tags = parameters.shape[2]
    pair_residuals = np.empty((n_tags + 1, n_tags))
    steep = np.empty(n_tags, np.int64)
    total = 0.0
    for s in order:
        clock += 1
        begin, end = starts[s], starts[s + 1]
        residuals = np.empty((end - begin, n_tags))
        total += strengths[s] * set_gradient(
            rows[begin:end], log_evidence[begin:end], parameters[0], chain[0], residuals, pair_residuals
        )
        residuals *= strengths[s]
        pair_residuals *= strengths[s]
        for i in range(end - begin):
            n_steep = _steep(residuals[i], steep)
            for row in rows[begin + i]:
                if row >= 0:
                    _step(parameters, row, residuals[i], steep[:n_steep], rate, clock)
        for previous in range(n_tags + 1):
            n_steep = _steep(pair_residuals[previous], steep)
            _step(chain, previous, pair_residuals[previous], steep[:n_steep], rate, clock)
    return total


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _steep(slopes, steep):
    """List the tags whose slope is not flat in ``steep`` int64[T]; return how many they are."""
    count = 0
    for t in range(len(slopes)):
        if abs(slopes[t]) > FLAT:
            steep[count] = t
            count += 1
    return count


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _step(parameters, row, slopes, steep, rate, clock):
    """Climb along some of ``slopes`` float64[T] in one row of the weights, squares and moments."""
    for t in steep:
        parameters[1, row, t] += slopes[t] * slopes[t]
        update = rate * slopes[t] / np.sqrt(parameters[1, row, t] + 1e-8)
        parameters[0, row, t] += update
        parameters[2, row, t] += clock * update
