"""Factors that say "this boolean is true if both members of some pair are": closed form, O(pairs).

A factor's edges are its result, then its pairs, two booleans each. With the weights of "both true" and of
"not both" of every pair, "some pair is both true" and "none is" are running totals from either end.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import plus, weight_if_false, weight_if_true
from qsproj.kernels.compilation import njit

FLAGS = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _pair_weights(first, second, maximise):
    """Return the log weights of "both true" and of "not both", given the log-odds of the two."""
    first_true, second_true = weight_if_true(first), weight_if_true(second)
    first_false, second_false = weight_if_false(first), weight_if_false(second)
    either = plus(second_false, second_true, maximise)
    return first_true + second_true, plus(first_false + either, first_true + second_false, maximise)


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _extend(some, none, both, rest, maximise):
    """Take one more pair into the weights of "some pair is both true" and of "none is"."""
    return plus(some + plus(both, rest, maximise), none + both, maximise), none + rest


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _member_message(partner, fired, idle, maximise):
    """Return the log-odds for one of a pair, by what its partner hears and what the pair's state is worth."""
    true, false = weight_if_true(partner), weight_if_false(partner)
    if_true = plus(true + fired, false + idle, maximise)
    return if_true - (plus(true, false, maximise) + idle)


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def any_pair_messages(incoming, starts, maximise):
    """Return the outgoing log-odds, float64[E].

    ``incoming`` float64[E]: log-odds, factor after factor: its result, then its pairs. ``starts`` int64[F+1]:
    where the edges of each factor begin.
    """
    outgoing = np.empty(incoming.shape[0])
    before = np.empty((incoming.shape[0] // 2 + 1, 2))
    for f in range(starts.shape[0] - 1):
        first, last = starts[f] + 1, starts[f + 1]
        some, none = -np.inf, 0.0
        for e in range(first, last, 2):
            before[(e - first) // 2, 0], before[(e - first) // 2, 1] = some, none
            both, rest = _pair_weights(incoming[e], incoming[e + 1], maximise)
            some, none = _extend(some, none, both, rest, maximise)
        outgoing[starts[f]] = some - none
        result_true = weight_if_true(incoming[starts[f]])
        result_false = weight_if_false(incoming[starts[f]])
        some, none = -np.inf, 0.0
        for e in range(last - 2, first - 1, -2):
            earlier_some, earlier_none = before[(e - first) // 2, 0], before[(e - first) // 2, 1]
            # What the other pairs, and the result, make of this pair being both true, or not.
            others_some = plus(earlier_some + plus(some, none, maximise), earlier_none + some, maximise)
            others_none = earlier_none + none
            fired = result_true + plus(others_some, others_none, maximise)
            idle = plus(result_true + others_some, result_false + others_none, maximise)
            outgoing[e] = _member_message(incoming[e + 1], fired, idle, maximise)
            outgoing[e + 1] = _member_message(incoming[e], fired, idle, maximise)
            both, rest = _pair_weights(incoming[e], incoming[e + 1], maximise)
            some, none = _extend(some, none, both, rest, maximise)
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def any_pair_log_partition(incoming, starts):
    """Return the sum of the factors' log partitions; arguments as above."""
    log_partition = 0.0
    for f in range(starts.shape[0] - 1):
        some, none = -np.inf, 0.0
        for e in range(starts[f] + 1, starts[f + 1], 2):
            both, rest = _pair_weights(incoming[e], incoming[e + 1], False)
            some, none = _extend(some, none, both, rest, False)
        result = incoming[starts[f]]
        log_partition += plus(weight_if_true(result) + some, weight_if_false(result) + none, False)
    return log_partition
