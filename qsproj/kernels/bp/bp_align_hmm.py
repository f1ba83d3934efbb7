"""ALIGNHMM: forward-backward over the target words of a sentence pair, in O(n m c) for c candidates a word.

Every target word takes one of its candidate links or none (NULL). The state after word j is the source
position that was linked last, 0 at the start; NULL keeps it (Och and Ney 2003). Scores, natural log, go by
the jump from there: entry ``jump + W`` of ``2 W + 2``, jumps clipped to -W..W, NULL in the last entry.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import others_totals, plus, settle_forced
from qsproj.kernels.compilation import njit

FLAGS = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def jump_place(scores, before, position):
    """Return which score a jump from ``before`` to ``position`` counts."""
    widest = (scores.shape[0] - 2) // 2
    return min(max(position - before, -widest), widest) + widest


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _null_weight(messages, scores):
    """Return the log weight of taking no link: impossible where one is certain."""
    for e in range(messages.shape[0]):
        if messages[e] == np.inf:
            return -np.inf
    return scores[scores.shape[0] - 1]


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _forward(incoming, settled, starts, positions, scores, reached, maximise):
    """Fill ``reached`` float64[n+1, m+1]: total of the choices up to word j that end at a position."""
    reached[:] = -np.inf
    reached[0, 0] = 0.0
    for j in range(starts.shape[0] - 1):
        first, last = starts[j], starts[j + 1]
        null = _null_weight(incoming[first:last], scores)
        for p in range(reached.shape[1]):
            reached[j + 1, p] = reached[j, p] + null
        for e in range(first, last):
            total = -np.inf
            for p in range(reached.shape[1]):
                step = scores[jump_place(scores, p, positions[e])]
                total = plus(total, reached[j, p] + step, maximise)
            here = positions[e]
            reached[j + 1, here] = plus(reached[j + 1, here], total + settled[e], maximise)


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _backward(incoming, settled, starts, positions, scores, ahead, maximise):
    """Fill ``ahead`` float64[n+1, m+1]: total of the choices after word j, from a position on."""
    n = starts.shape[0] - 1
    ahead[n] = 0.0
    for j in range(n - 1, -1, -1):
        first, last = starts[j], starts[j + 1]
        null = _null_weight(incoming[first:last], scores)
        for p in range(ahead.shape[1]):
            total = ahead[j + 1, p] + null
            for e in range(first, last):
                step = scores[jump_place(scores, p, positions[e])]
                total = plus(total, step + settled[e] + ahead[j + 1, positions[e]], maximise)
            ahead[j, p] = total


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _charts(incoming, starts, positions, scores, n_source, maximise):
    """Return the settled weights float64[E] and both charts."""
    n = starts.shape[0] - 1
    settled = np.empty(incoming.shape[0])
    for j in range(n):
        settle_forced(incoming[starts[j] : starts[j + 1]], settled[starts[j] : starts[j + 1]])
    reached = np.empty((n + 1, n_source + 1))
    ahead = np.empty((n + 1, n_source + 1))
    _forward(incoming, settled, starts, positions, scores, reached, maximise)
    _backward(incoming, settled, starts, positions, scores, ahead, maximise)
    return settled, reached, ahead


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def align_hmm_messages(incoming, starts, positions, scores, n_source, maximise):
    """Return the outgoing log-odds, float64[E].

    ``incoming`` float64[E]: log-odds of the candidate links, target word after target word. ``starts``
    int64[n+1]: where the candidates of each target word begin. ``positions`` int32[E]: source word of each,
    1..m. ``scores`` float64[2 W + 2]: natural log, as the module says. ``n_source``: m.
    """
    _, reached, ahead = _charts(incoming, starts, positions, scores, n_source, maximise)
    outgoing = np.empty(incoming.shape[0])
    weighed = np.empty(incoming.shape[0])
    workspace = np.empty(incoming.shape[0])
    others = np.empty(incoming.shape[0])
    for j in range(starts.shape[0] - 1):
        first, last = starts[j], starts[j + 1]
        null = -np.inf
        for p in range(n_source + 1):
            null = plus(null, reached[j, p] + scores[-1] + ahead[j + 1, p], maximise)
        for e in range(first, last):
            taken = -np.inf
            for p in range(n_source + 1):
                taken = plus(taken, reached[j, p] + scores[jump_place(scores, p, positions[e])], maximise)
            outgoing[e] = taken + ahead[j + 1, positions[e]]
            weighed[e] = -np.inf if outgoing[e] == -np.inf else outgoing[e] + incoming[e]
        others_totals(weighed[first:last], workspace[first:last], others[first:last], maximise)
        for e in range(first, last):
            outgoing[e] -= plus(null, others[e], maximise)
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def align_hmm_beliefs(incoming, starts, positions, scores, n_source):
    """Return log partition and float64[2 W + 2], how often each score is expected to count."""
    settled, reached, ahead = _charts(incoming, starts, positions, scores, n_source, False)
    partition = ahead[0, 0]
    expected = np.zeros(scores.shape[0])
    if partition == -np.inf:
        return partition, expected
    for j in range(starts.shape[0] - 1):
        first, last = starts[j], starts[j + 1]
        null = _null_weight(incoming[first:last], scores)
        for p in range(n_source + 1):
            expected[-1] += np.exp(reached[j, p] + null + ahead[j + 1, p] - partition)
            for e in range(first, last):
                place = jump_place(scores, p, positions[e])
                weight = reached[j, p] + scores[place] + settled[e] + ahead[j + 1, positions[e]]
                expected[place] += np.exp(weight - partition)
    return partition, expected
