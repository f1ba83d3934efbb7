"""EXACTLY1 and ATMOST1: at most one of a factor's booleans is true; messages from odds sums, O(d)."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import others_totals, plus, settle_forced, total
from qsproj.kernels.compilation import njit

FLAGS = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def exactly_one_messages(incoming, starts, log_weight_of_none, maximise):
    """Return the outgoing log-odds, float64[E].

    ``incoming`` float64[E]: log-odds, factor after factor. ``starts`` int64[F+1]: where the booleans of each
    factor begin. ``log_weight_of_none``: -inf for EXACTLY1, 0 for ATMOST1.

    *Source*: thesis 2.5.2. It subtracts each odds from their sum; the sum of the others is formed here
    without, so that nothing cancels.
    """
    outgoing = np.empty(incoming.shape[0])
    before = np.empty(incoming.shape[0])
    for f in range(starts.shape[0] - 1):
        first, last = starts[f], starts[f + 1]
        others_totals(incoming[first:last], before[first:last], outgoing[first:last], maximise)
        for e in range(first, last):
            outgoing[e] = -plus(log_weight_of_none, outgoing[e], maximise)
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def exactly_one_log_partition(incoming, starts, log_weight_of_none):
    """Return the sum of the factors' log partitions; arguments as above."""
    weights = np.empty(incoming.shape[0])
    result = 0.0
    for f in range(starts.shape[0] - 1):
        messages = incoming[starts[f] : starts[f + 1]]
        settled = weights[starts[f] : starts[f + 1]]
        settle_forced(messages, settled)
        certain = False
        for e in range(messages.shape[0]):
            certain = certain or messages[e] == np.inf
        none = -np.inf if certain else log_weight_of_none
        result += plus(none, total(settled, False), False)
    return result
