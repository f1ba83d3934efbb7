"""Factors over booleans, in closed form (docs/notes/belief-propagation.md).

ALL TRUE fires when all of its d booleans are true: the weights of "all others true" and of "not all" are kept
separately, which avoids subtraction; O(d). ANY PAIR: a factor's first edge is its result, followed by its
pairs; "some pair is both true" and "none is" are running totals from either end; O(pairs). EXACTLY1 and
ATMOST1: sums of odds, O(d). LINK: unary. SYNCH: forbids states of four booleans in no synchronous derivation.
"""

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import (
    others_totals,
    plus,
    settle_forced,
    total,
    weight_if_false,
    weight_if_true,
)
from qsproj.kernels.compilation import FAST, njit

# Below this, exp() of the numbers and of their sums neither overflows nor underflows.
SAFE = 300.0
# exp(-SETTLED) is below the resolution of 1.
SETTLED = 40.0


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _two(other, score, reward, maximise):
    """Return the message of a factor of two booleans, given that of the other one; reward = exp(score)."""
    if other + max(score, 0.0) < -SETTLED:
        return 0.0
    if other - abs(score) > SETTLED:
        return score
    if not maximise and abs(other) < SAFE and abs(score) < SAFE:
        odds = np.exp(other)
        return np.log((1.0 + odds * reward) / (1.0 + odds))
    false, true = weight_if_false(other), weight_if_true(other)
    return plus(false, true + score, maximise) - plus(false, true, maximise)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _extend_all(every, rest, message, maximise):
    false, true = weight_if_false(message), weight_if_true(message)
    either = plus(false, true, maximise)
    return every + true, plus(rest + either, every + false, maximise)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def all_true_messages(incoming, scores, degree, maximise):
    """Return the outgoing log-odds float64[F * degree] of factors by their scores float64[F], natural log."""
    outgoing = np.empty(incoming.shape[0])
    if degree == 2:
        for f in range(scores.shape[0]):
            reward = np.exp(scores[f])
            outgoing[2 * f] = _two(incoming[2 * f + 1], scores[f], reward, maximise)
            outgoing[2 * f + 1] = _two(incoming[2 * f], scores[f], reward, maximise)
        return outgoing
    before = np.empty((degree, 2))
    for f in range(scores.shape[0]):
        messages = incoming[f * degree : (f + 1) * degree]
        every, rest = 0.0, -np.inf
        for i in range(degree):
            before[i, 0], before[i, 1] = every, rest
            every, rest = _extend_all(every, rest, messages[i], maximise)
        every, rest = 0.0, -np.inf
        for i in range(degree - 1, -1, -1):
            others = before[i, 0] + every
            mixed = plus(before[i, 1] + plus(every, rest, maximise), before[i, 0] + rest, maximise)
            fired = plus(mixed, others + scores[f], maximise)
            outgoing[f * degree + i] = fired - plus(mixed, others, maximise)
            every, rest = _extend_all(every, rest, messages[i], maximise)
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FAST)
def all_true_beliefs(incoming, scores, degree):
    """Return the sum of the factors' log partitions and float64[F], the probability that each one fires."""
    fired = np.empty(scores.shape[0])
    log_partition = 0.0
    for f in range(scores.shape[0]):
        every, rest = 0.0, -np.inf
        for i in range(f * degree, (f + 1) * degree):
            every, rest = _extend_all(every, rest, incoming[i], False)
        every += scores[f]
        partition = plus(every, rest, False)
        log_partition += partition
        fired[f] = np.exp(every - partition)
    return log_partition, fired


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _pair_weights(first, second, maximise):
    """Return the log weights of "both true" and of "not both", given the log-odds of the two."""
    first_true, second_true = weight_if_true(first), weight_if_true(second)
    first_false, second_false = weight_if_false(first), weight_if_false(second)
    either = plus(second_false, second_true, maximise)
    return first_true + second_true, plus(first_false + either, first_true + second_false, maximise)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _extend_any(some, none, both, rest, maximise):
    return plus(some + plus(both, rest, maximise), none + both, maximise), none + rest


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _member_message(partner, fired, idle, maximise):
    """Return the log-odds for one of a pair, given its partner's message and the weights of the pair."""
    true, false = weight_if_true(partner), weight_if_false(partner)
    if_true = plus(true + fired, false + idle, maximise)
    return if_true - (plus(true, false, maximise) + idle)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def any_pair_messages(incoming, starts, maximise):
    """Return the outgoing log-odds float64[E]; from ``starts`` int64[F+1], results and their pairs."""
    outgoing = np.empty(incoming.shape[0])
    before = np.empty((incoming.shape[0] // 2 + 1, 2))
    for f in range(starts.shape[0] - 1):
        first, last = starts[f] + 1, starts[f + 1]
        some, none = -np.inf, 0.0
        for e in range(first, last, 2):
            before[(e - first) // 2, 0], before[(e - first) // 2, 1] = some, none
            both, rest = _pair_weights(incoming[e], incoming[e + 1], maximise)
            some, none = _extend_any(some, none, both, rest, maximise)
        outgoing[starts[f]] = some - none
        result_true = weight_if_true(incoming[starts[f]])
        result_false = weight_if_false(incoming[starts[f]])
        some, none = -np.inf, 0.0
        for e in range(last - 2, first - 1, -2):
            earlier_some, earlier_none = before[(e - first) // 2, 0], before[(e - first) // 2, 1]
            # Weights of this pair being both true, or not, from the other pairs and the result.
            others_some = plus(earlier_some + plus(some, none, maximise), earlier_none + some, maximise)
            others_none = earlier_none + none
            fired = result_true + plus(others_some, others_none, maximise)
            idle = plus(result_true + others_some, result_false + others_none, maximise)
            outgoing[e] = _member_message(incoming[e + 1], fired, idle, maximise)
            outgoing[e + 1] = _member_message(incoming[e], fired, idle, maximise)
            both, rest = _pair_weights(incoming[e], incoming[e + 1], maximise)
            some, none = _extend_any(some, none, both, rest, maximise)
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FAST)
def any_pair_log_partition(incoming, starts):
    log_partition = 0.0
    for f in range(starts.shape[0] - 1):
        some, none = -np.inf, 0.0
        for e in range(starts[f] + 1, starts[f + 1], 2):
            both, rest = _pair_weights(incoming[e], incoming[e + 1], False)
            some, none = _extend_any(some, none, both, rest, False)
        result = incoming[starts[f]]
        log_partition += plus(weight_if_true(result) + some, weight_if_false(result) + none, False)
    return log_partition


@njit(cache=True, error_model="numpy", fastmath=FAST)
def exactly_one_messages(incoming, starts, log_weight_of_none, maximise):
    """Return the log-odds float64[E] of factors from ``starts`` int64[F+1]. *Source*: thesis 2.5.2.

    ``log_weight_of_none``: -inf for EXACTLY1, 0 for ATMOST1. Without the thesis's cancelling subtraction.
    """
    outgoing = np.empty(incoming.shape[0])
    before = np.empty(incoming.shape[0])
    for f in range(starts.shape[0] - 1):
        first, last = starts[f], starts[f + 1]
        others_totals(incoming[first:last], before[first:last], outgoing[first:last], maximise)
        for e in range(first, last):
            outgoing[e] = -plus(log_weight_of_none, outgoing[e], maximise)
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FAST)
def exactly_one_log_partition(incoming, starts, log_weight_of_none):
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


@njit(cache=True, error_model="numpy", fastmath=FAST)
def link_beliefs(incoming, scores):
    """Return log partition and the probability of each firing; for a score of +inf false weighs 0, true 1."""
    fired = np.empty(scores.shape[0])
    log_partition = 0.0
    for f in range(scores.shape[0]):
        false, true = weight_if_false(incoming[f]), weight_if_true(incoming[f])
        if scores[f] == np.inf:
            false = -np.inf
        else:
            true += scores[f]
        partition = plus(false, true, False)
        log_partition += partition
        fired[f] = np.exp(true - partition)
    return log_partition, fired


# Bit e of an assignment is the state of edge e; edge 0 is the link of the dependents. Forbidden: this link
# and exactly two of the other three.
FORBIDDEN = (0b0111, 0b1011, 0b1101)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _weight(messages, assignment, left_out):
    weight = 0.0
    for e in range(4):
        if e != left_out:
            if assignment >> e & 1:
                weight += weight_if_true(messages[e])
            else:
                weight += weight_if_false(messages[e])
    return weight


@njit(cache=True, error_model="numpy", fastmath=FAST)
def synch_messages(incoming, maximise):
    """Return the outgoing log-odds, float64[4 F]; ``incoming`` float64[4 F] are log-odds too."""
    outgoing = np.empty(incoming.shape[0])
    for start in range(0, incoming.shape[0], 4):
        messages = incoming[start : start + 4]
        for e in range(4):
            if_true, if_false = -np.inf, -np.inf
            for assignment in range(16):
                if assignment not in FORBIDDEN:
                    weight = _weight(messages, assignment, e)
                    if assignment >> e & 1:
                        if_true = plus(if_true, weight, maximise)
                    else:
                        if_false = plus(if_false, weight, maximise)
            outgoing[start + e] = if_true - if_false
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FAST)
def synch_log_partition(incoming):
    log_partition = 0.0
    for start in range(0, incoming.shape[0], 4):
        partition = -np.inf
        for assignment in range(16):
            if assignment not in FORBIDDEN:
                partition = plus(partition, _weight(incoming[start : start + 4], assignment, -1), False)
        log_partition += partition
    return log_partition
