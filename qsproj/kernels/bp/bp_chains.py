"""Factors over the dependents of a head on one side, a chain of booleans.

CHILDSEQ: bigram scores over the sequence of a head's dependents; O(m^2) for m candidates 1..m, nearest first;
0 and m + 1 are boundaries. A step p -> q: q is the next dependent after p, with no dependent between them.
Forward over "the last dependent is q", backward likewise (thesis 2.5.3, without its intermediate variables).
No step may skip a certainly true candidate. The scores of a chain are a block of (m + 1) x (m + 1) natural
logs [p, q - 1]; q <= p is not read.

VALENCE: scores of the number of true booleans, with a last, open bin B of B and more; forward and backward
over the count so far (thesis 2.5.3); O(m B).
"""

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import plus, weight_if_false, weight_if_true
from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.copying import copy_into

# Sums of products of shares down to 1e-308 are exact above this.
SMALLEST = 1e-280


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _forward(messages, scores, before, reached, maximise):
    """Fill ``before[q]``, paths up to candidate q, and ``reached[q]``, with q's own weight; float64[m+2]."""
    m = messages.shape[0]
    before[0], reached[0] = 0.0, 0.0
    earliest = 0
    for q in range(1, m + 2):
        high = -np.inf
        for p in range(earliest, q):
            high = max(high, reached[p] + scores[p, q - 1])
        before[q] = high
        if not maximise and high > -np.inf:
            mass = 0.0
            for p in range(earliest, q):
                mass += np.exp(reached[p] + scores[p, q - 1] - high)
            before[q] = high + np.log(mass)
        if q <= m:
            reached[q] = before[q] + weight_if_true(messages[q - 1])
            if messages[q - 1] == np.inf:
                earliest = q


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _backward(messages, scores, reached, after, skipped, maximise):
    """Fill ``after[p]``, paths on from candidate p, and ``skipped[q]``, those without q; float64[m+2]."""
    m = messages.shape[0]
    after[m + 1] = 0.0
    skipped[:] = -np.inf
    latest = m + 1
    for p in range(m, -1, -1):
        running = -np.inf
        for q in range(latest, p, -1):
            weight = weight_if_true(messages[q - 1]) if q <= m else 0.0
            running = plus(running, scores[p, q - 1] + weight + after[q], maximise)
            # Now ``running`` covers all steps from p that land on q or beyond.
            if q - 1 > p:
                skipped[q - 1] = plus(skipped[q - 1], reached[p] + running, maximise)
        after[p] = running
        if p > 0 and messages[p - 1] == np.inf:
            latest = p


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _fast_backward(messages, scores, before, reached, after, skipped):
    """Compute ``_backward`` for sums, with one exponential a step; return whether the result is exact.

    Relative to the best steps and paths, underflow loses less than 1e-300 of the whole.
    """
    m = messages.shape[0]
    partition = before[m + 1]
    if partition == -np.inf:
        return False
    after[m + 1] = 0.0
    skipped[:] = 0.0
    latest = m + 1
    steps = np.empty(m + 2)
    for p in range(m, -1, -1):
        high = -np.inf
        for q in range(p + 1, latest + 1):
            weight = weight_if_true(messages[q - 1]) if q <= m else 0.0
            steps[q] = scores[p, q - 1] + weight + after[q]
            high = max(high, steps[q])
        after[p] = high
        if high > -np.inf:
            share = np.exp(reached[p] + high - partition)
            running = 0.0
            for q in range(latest, p + 1, -1):
                running += np.exp(steps[q] - high)
                skipped[q - 1] += share * running
            after[p] = high + np.log(running + np.exp(steps[p + 1] - high))
        if p > 0 and messages[p - 1] == np.inf:
            latest = p
    for q in range(1, m + 1):
        if skipped[q] < SMALLEST and messages[q - 1] < np.inf:
            return False
        skipped[q] = np.log(skipped[q]) + partition
    return True


@njit(cache=True, error_model="numpy", fastmath=FAST)
def child_sequence_messages(incoming, starts, scores, score_starts, maximise):
    """Return the log-odds float64[E]; chains and their scores begin at ``starts``, ``score_starts``."""
    outgoing = np.empty(incoming.shape[0])
    longest = 0
    for f in range(starts.shape[0] - 1):
        longest = max(longest, starts[f + 1] - starts[f])
    before, reached = np.empty(longest + 2), np.empty(longest + 2)
    after, skipped = np.empty(longest + 2), np.empty(longest + 2)
    for f in range(starts.shape[0] - 1):
        messages = incoming[starts[f] : starts[f + 1]]
        m = messages.shape[0]
        block = scores[score_starts[f] : score_starts[f + 1]].reshape(m + 1, m + 1)
        _forward(messages, block, before, reached, maximise)
        if maximise or not _fast_backward(messages, block, before, reached, after, skipped):
            _backward(messages, block, reached, after, skipped, maximise)
        for q in range(1, m + 1):
            taken = before[q] + after[q]
            if messages[q - 1] == np.inf:
                outgoing[starts[f] + q - 1] = np.nan if taken == -np.inf else np.inf
            else:
                outgoing[starts[f] + q - 1] = taken - skipped[q]
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FAST)
def child_sequence_beliefs(incoming, starts, scores, score_starts):
    """Return the sum of log partitions and the probability of each step, laid out like ``scores``."""
    expected = np.zeros(scores.shape[0])
    log_partition = 0.0
    for f in range(starts.shape[0] - 1):
        messages = incoming[starts[f] : starts[f + 1]]
        m = messages.shape[0]
        block = scores[score_starts[f] : score_starts[f + 1]].reshape(m + 1, m + 1)
        before, reached = np.empty(m + 2), np.empty(m + 2)
        after, skipped = np.empty(m + 2), np.empty(m + 2)
        _forward(messages, block, before, reached, False)
        _backward(messages, block, reached, after, skipped, False)
        log_partition += before[m + 1]
        earliest = 0
        for q in range(1, m + 2):
            weight = weight_if_true(messages[q - 1]) if q <= m else 0.0
            for p in range(earliest, q):
                step = reached[p] + block[p, q - 1] + weight + after[q]
                expected[score_starts[f] + p * (m + 1) + q - 1] = np.exp(step - before[m + 1])
            if q <= m and messages[q - 1] == np.inf:
                earliest = q
    return log_partition, expected


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _count_forward(messages, counted, maximise):
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


@njit(cache=True, error_model="numpy", fastmath=FAST)
def valence_messages(incoming, starts, scores, maximise):
    """Return the log-odds float64[E] of chains; ``scores`` float64[F, B+1] by count."""
    outgoing = np.empty(incoming.shape[0])
    last = scores.shape[1] - 1
    after = np.empty(last + 1)
    for f in range(starts.shape[0] - 1):
        messages = incoming[starts[f] : starts[f + 1]]
        m = messages.shape[0]
        counted = np.empty((m + 1, last + 1))
        _count_forward(messages, counted, maximise)
        copy_into(after, scores[f])
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


@njit(cache=True, error_model="numpy", fastmath=FAST)
def valence_beliefs(incoming, starts, scores):
    """Return the sum of log partitions and float64[F, B+1], the probability of each count."""
    expected = np.empty(scores.shape)
    log_partition = 0.0
    for f in range(starts.shape[0] - 1):
        messages = incoming[starts[f] : starts[f + 1]]
        counted = np.empty((messages.shape[0] + 1, scores.shape[1]))
        _count_forward(messages, counted, False)
        partition = -np.inf
        for c in range(scores.shape[1]):
            expected[f, c] = counted[messages.shape[0], c] + scores[f, c]
            partition = plus(partition, expected[f, c], False)
        log_partition += partition
        for c in range(scores.shape[1]):
            expected[f, c] = np.exp(expected[f, c] - partition)
    return log_partition, expected
