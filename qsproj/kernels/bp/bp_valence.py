"""VALENCE: scores for how many of a chain of booleans are true, up to a last, open bin; O(m B).

Forward and backward over the count so far (thesis 2.5.3). Counts of B and more share bin B.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import plus, weight_if_false, weight_if_true
from qsproj.kernels.compilation import njit

FLAGS = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _forward(messages, counted, maximise):
    """Fill ``counted`` float64[m+1, B+1]: the total of the choices of the first j booleans by their count."""
    last = counted.shape[1] - 1
    counted[:] = -np.inf
    counted[0, 0] = 0.0
    for j in range(messages.shape[0]):
        false, true = weight_if_false(messages[j]), weight_if_true(messages[j])
        for c in range(last + 1):
            counted[j + 1, c] = plus(counted[j + 1, c], counted[j, c] + false, maximise)
            higher = min(c + 1, last)
            counted[j + 1, higher] = plus(counted[j + 1, higher], counted[j, c] + true, maximise)


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def valence_messages(incoming, starts, scores, maximise):
    """Return the outgoing log-odds, float64[E].

    ``incoming`` float64[E]: log-odds, chain after chain. ``starts`` int64[F+1]: where the booleans of each
    chain begin. ``scores`` float64[F, B+1]: natural log, by count.
    """
    outgoing = np.empty(incoming.shape[0])
    last = scores.shape[1] - 1
    after = np.empty(last + 1)
    for f in range(starts.shape[0] - 1):
        messages = incoming[starts[f] : starts[f + 1]]
        m = messages.shape[0]
        counted = np.empty((m + 1, last + 1))
        _forward(messages, counted, maximise)
        for c in range(last + 1):
            after[c] = scores[f, c]
        for j in range(m - 1, -1, -1):
            # Invariant: after[c] is the total of the choices from boolean j + 1 on, given c before it.
            if_true, if_false = -np.inf, -np.inf
            false, true = weight_if_false(messages[j]), weight_if_true(messages[j])
            for c in range(last + 1):
                higher = after[min(c + 1, last)]
                if_false = plus(if_false, counted[j, c] + after[c], maximise)
                if_true = plus(if_true, counted[j, c] + higher, maximise)
                after[c] = plus(after[c] + false, higher + true, maximise)
            outgoing[starts[f] + j] = if_true - if_false
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def valence_beliefs(incoming, starts, scores):
    """Return the sum of log partitions and float64[F, B+1], the probability of each count."""
    expected = np.empty(scores.shape)
    log_partition = 0.0
    for f in range(starts.shape[0] - 1):
        messages = incoming[starts[f] : starts[f + 1]]
        counted = np.empty((messages.shape[0] + 1, scores.shape[1]))
        _forward(messages, counted, False)
        partition = -np.inf
        for c in range(scores.shape[1]):
            expected[f, c] = counted[messages.shape[0], c] + scores[f, c]
            partition = plus(partition, expected[f, c], False)
        log_partition += partition
        for c in range(scores.shape[1]):
            expected[f, c] = np.exp(expected[f, c] - partition)
    return log_partition, expected
