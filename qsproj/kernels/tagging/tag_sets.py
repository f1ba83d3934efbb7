"""Learning the linear chain from sets of tags: a word may be left several tags, weighted or not.

Arrays and scales are those of :mod:`qsproj.kernels.tagging.linear_chain`. Evidence of a word is a natural-log
weight for each tag: 0 for one that may be, -inf for one that may not, anything between for a doubtful one.

Source: Taeckstroem, Das, McDonald, Petrov and Nivre (2013), section 3; there weights are 0 and -inf only.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.features.adagrad import adagrad_entries
from qsproj.kernels.tagging.linear_chain import FAST, add_emissions, posterior

# Slopes smaller than this move no weight: nearly all are, once a word's tags are learned.
FLAT = 1e-4


@njit(cache=True, error_model="numpy", fastmath=FAST)
def set_gradient(rows, log_evidence, weights, transitions, residuals, pair_residuals):
    """Fill the gradient of log sum over tag sequences of p(sequence) evidence(sequence); return that value.

    ``rows`` int32[n, K]: the rows of ``weights`` that fire at each word, -1 for none. ``log_evidence``
    float32[n, T]: natural-log weights, at most 0, of which -inf forbids; at least one of a word finite.
    ``weights``, ``transitions`` float32[R, T], float64[T+1, T]: the model. ``residuals`` float64[n, T],
    written: d/d emissions, the tag's posterior with the evidence less that without. ``pair_residuals``
    float64[T+1, T], written: d/d transitions. O(n (K T + T^2)) time.
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
def step_steep_emissions(rows, slopes, weights, state, rate, step):
    """Do what :func:`qsproj.kernels.tagging.linear_chain.step_emissions` does, but along steep slopes alone.

    To pass over slopes below FLAT takes two thirds of the time away.
    """
    steep = np.empty(slopes.shape[1], np.int64)
    for i in range(rows.shape[0]):
        n_steep = _steep(slopes[i], steep)
        for row in rows[i]:
            if row >= 0:
                adagrad_entries(weights, state, row, steep[:n_steep], slopes[i], rate, step)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def step_steep_transitions(slopes, weights, state, rate, step):
    """As :func:`step_steep_emissions` for ``slopes`` float64[T+1, T], by the transitions."""
    steep = np.empty(slopes.shape[1], np.int64)
    for previous in range(slopes.shape[0]):
        n_steep = _steep(slopes[previous], steep)
        adagrad_entries(weights, state, previous, steep[:n_steep], slopes[previous], rate, step)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _steep(slopes, steep):
    """List the tags whose slope is not flat in ``steep`` int64[T]; return how many they are."""
    count = 0
    for t in range(len(slopes)):
        if abs(slopes[t]) > FLAT:
            steep[count] = t
            count += 1
    return count
