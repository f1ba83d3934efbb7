"""NOCROSS: a score where the arcs into two words cross; O(n) for each pair of words.

A factor sees the candidate heads of words j and l and allows exactly one of each. For every head of the one
it needs the total weight of the heads of the other whose arcs cross, and of those whose arcs do not. Both are
contiguous ranges of positions, so running totals from either end and from the word outwards suffice.

*Source*: thesis 3.4.2, eq. 3.23; it takes differences of prefix sums, here every range is a running total of
its own, so that nothing cancels.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from qsproj.kernels.bp_arithmetic import others_totals, plus, settle_forced, total

FLAGS = {"reassoc", "contract", "nsz", "arcp"}

# Rows of the workspace.
UP_TO, FROM, OUTWARD, CROSSING, CLEAR = 0, 1, 2, 3, 4


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _split(word, other, weights, work, maximise):
    """Fill, for every head of ``word``, the totals of the heads of ``other`` that cross it and that do not.

    ``weights`` float64[n+1] are the log weights of the heads of ``other`` by position, -inf where it has
    none. ``work`` is float64[5, n+3]; totals go to its rows CROSSING and CLEAR, by position of the head.
    """
    size = weights.shape[0]
    up_to, from_, outward = work[UP_TO], work[FROM], work[OUTWARD]
    # up_to[t + 1] covers the positions 0..t, from_[t] the positions t..n; outward[t] those strictly after
    # (before) the word up to t, and the word itself has none.
    up_to[0] = -np.inf
    from_[size] = -np.inf
    outward[word] = -np.inf
    for t in range(size):
        up_to[t + 1] = plus(up_to[t], weights[t], maximise)
    for t in range(size - 1, -1, -1):
        from_[t] = plus(from_[t + 1], weights[t], maximise)
    for t in range(word + 1, size):
        outward[t] = plus(outward[t - 1], weights[t], maximise)
    for t in range(word - 1, -1, -1):
        outward[t] = plus(outward[t + 1], weights[t], maximise)
    for head in range(size):
        low, high = min(head, word), max(head, word)
        if head == other:
            crossing, clear = -np.inf, from_[0]
        elif low < other < high:
            crossing = plus(up_to[low], from_[high + 1], maximise)
            clear = plus(outward[head], weights[word], maximise)
        else:
            crossing = outward[head + 1 if head < word else head - 1]
            clear = plus(up_to[low + 1], from_[high], maximise)
        work[CROSSING, head] = crossing
        work[CLEAR, head] = clear


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _spread(messages, heads, weights):
    """Put the messages of one word's candidate heads at their positions, certain ones settled."""
    settled = np.empty(messages.shape[0])
    settle_forced(messages, settled)
    weights[:] = -np.inf
    for e in range(messages.shape[0]):
        weights[heads[e]] = settled[e]


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def no_cross_messages(incoming, heads, starts, dependents, scores, size, maximise):
    """Return the outgoing log-odds, float64[E].

    Parameters
    ----------
    incoming : float64[E]
        Log-odds of the arcs into the first word of a factor, then of those into the second.
    heads : int32[E]
        Head of each arc.
    starts : int64[2 F + 1]
        Where the arcs into each word begin.
    dependents : int32[F, 2]
        The two words of each factor.
    scores : float64[F]
        Natural log of the factor's value where the arcs cross.
    size : int
        n + 1.
    maximise : bool
        Maxima for sums.
    """
    outgoing = np.empty(incoming.shape[0])
    weights = np.empty(size)
    work = np.empty((5, size + 2))
    own, before, others = np.empty(size), np.empty(size), np.empty(size)
    for f in range(scores.shape[0]):
        for side in range(2):
            first, last = starts[2 * f + side], starts[2 * f + side + 1]
            rival = 2 * f + 1 - side
            _spread(
                incoming[starts[rival] : starts[rival + 1]], heads[starts[rival] : starts[rival + 1]], weights
            )
            _split(dependents[f, side], dependents[f, 1 - side], weights, work, maximise)
            for e in range(first, last):
                value = plus(work[CROSSING, heads[e]] + scores[f], work[CLEAR, heads[e]], maximise)
                outgoing[e] = value
                own[e - first] = value + incoming[e] if value > -np.inf else -np.inf
            count = last - first
            others_totals(own[:count], before[:count], others[:count], maximise)
            for e in range(first, last):
                outgoing[e] -= others[e - first]
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def no_cross_beliefs(incoming, heads, starts, dependents, scores, size):
    """Return the sum of log partitions and float64[F], the probability of a crossing; arguments as above."""
    weights, own = np.empty(size), np.empty(size)
    work = np.empty((5, size + 2))
    fired = np.empty(scores.shape[0])
    log_partition = 0.0
    for f in range(scores.shape[0]):
        first, middle, last = starts[2 * f], starts[2 * f + 1], starts[2 * f + 2]
        _spread(incoming[middle:last], heads[middle:last], weights)
        _split(dependents[f, 0], dependents[f, 1], weights, work, False)
        _spread(incoming[first:middle], heads[first:middle], own)
        crossing = total(own + work[CROSSING, :size], False) + scores[f]
        partition = plus(crossing, total(own + work[CLEAR, :size], False), False)
        log_partition += partition
        fired[f] = np.exp(crossing - partition)
    return log_partition, fired
