"""Factors that fire when all of their booleans are true: messages in closed form.

A factor with reward theta over booleans with incoming log-odds sends boolean i the log-odds
``log(1 + (exp(theta) - 1) P)``, P the product over j != i of sigmoid(incoming j) (design section 5). Kept
apart, the weight of "all others true" and that of "not all" need no subtraction. O(d) for d booleans.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import plus, weight_if_false, weight_if_true
from qsproj.kernels.compilation import njit

FLAGS = {"reassoc", "contract", "nsz", "arcp"}

# Below this, exp() of the numbers and of their sums neither overflows nor underflows.
SAFE = 300.0
# exp(-SETTLED) is below the resolution of 1.
SETTLED = 40.0


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _two(other, score, reward, maximise):
    """Return the message of a factor of two booleans, given what the other one says; reward = exp(score)."""
    if other + max(score, 0.0) < -SETTLED:
        return 0.0
    if other - abs(score) > SETTLED:
        return score
    if not maximise and abs(other) < SAFE and abs(score) < SAFE:
        odds = np.exp(other)
        return np.log((1.0 + odds * reward) / (1.0 + odds))
    false, true = weight_if_false(other), weight_if_true(other)
    return plus(false, true + score, maximise) - plus(false, true, maximise)


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _extend(every, rest, message, maximise):
    """Take one more boolean into the weights of "all true" and of "not all true"."""
    false, true = weight_if_false(message), weight_if_true(message)
    either = plus(false, true, maximise)
    return every + true, plus(rest + either, every + false, maximise)


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def all_true_messages(incoming, scores, degree, maximise):
    """Return the outgoing log-odds, float64[F * degree].

    ``incoming`` float64[F * degree]: log-odds, factor after factor. ``scores`` float64[F]: natural log of the
    factor's value where all are true; -inf forbids it. ``degree``: number of booleans of each factor.
    """
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
            every, rest = _extend(every, rest, messages[i], maximise)
        every, rest = 0.0, -np.inf
        for i in range(degree - 1, -1, -1):
            others = before[i, 0] + every
            mixed = plus(before[i, 1] + plus(every, rest, maximise), before[i, 0] + rest, maximise)
            fired = plus(mixed, others + scores[f], maximise)
            outgoing[f * degree + i] = fired - plus(mixed, others, maximise)
            every, rest = _extend(every, rest, messages[i], maximise)
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def all_true_beliefs(incoming, scores, degree):
    """Return the sum of the factors' log partitions and float64[F], the probability that each one fires."""
    fired = np.empty(scores.shape[0])
    log_partition = 0.0
    for f in range(scores.shape[0]):
        every, rest = 0.0, -np.inf
        for i in range(f * degree, (f + 1) * degree):
            every, rest = _extend(every, rest, incoming[i], False)
        every += scores[f]
        partition = plus(every, rest, False)
        log_partition += partition
        fired[f] = np.exp(every - partition)
    return log_partition, fired
