"""Sums and maxima of natural logs, and messages computed from them, for all factor kernels.

Everywhere ``maximise`` chooses between log(exp(x) + exp(y)) and max(x, y), so that one kernel serves
sum-product and max-product. A message to a boolean is one log-odds; infinite ones are legal.
"""

import numpy as np

from qsproj.kernels.compilation import FAST, njit

# A message that rules out state 0 of a variable with more than two states is written relative to the best
# other state and raised by this much: exp(-CERTAIN) is 0, and sums keep eleven decimals.
CERTAIN = 1e5


@njit(cache=True, error_model="numpy", fastmath=FAST)
def plus(x, y, maximise):
    """Return log(exp(x) + exp(y)), or max(x, y); infinities of either sign are legal."""
    high, low = (x, y) if x > y else (y, x)
    if maximise or low == -np.inf or high == np.inf:
        return high
    # Not log1p, which takes three times as long: logs have an absolute error of 1e-16 in any case.
    return high + np.log(1.0 + np.exp(low - high))


@njit(cache=True, error_model="numpy", fastmath=FAST)
def total(values, maximise):
    """Return the log of the sum of exp(values), or the maximum; -inf when there are none."""
    high = -np.inf
    for k in range(values.shape[0]):
        high = max(high, values[k])
    if maximise or high == -np.inf or high == np.inf:
        return high
    mass = 0.0
    for k in range(values.shape[0]):
        mass += np.exp(values[k] - high)
    return high + np.log(mass)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def weight_if_false(log_odds):
    """Return the log weight that a message gives to false: 0, or -inf for certainly true."""
    return -np.inf if log_odds == np.inf else 0.0


@njit(cache=True, error_model="numpy", fastmath=FAST)
def weight_if_true(log_odds):
    """Return the log weight that a message gives to true: its log-odds, or 0 for certainly true."""
    return 0.0 if log_odds == np.inf else log_odds


@njit(cache=True, error_model="numpy", fastmath=FAST)
def others_totals(values, before, result, maximise):
    """Fill ``result[k]`` with the total of all values but the k-th, without a subtraction; float64[d]."""
    d = values.shape[0]
    running = -np.inf
    for k in range(d):
        before[k] = running
        running = plus(running, values[k], maximise)
    running = -np.inf
    for k in range(d - 1, -1, -1):
        result[k] = plus(before[k], running, maximise)
        running = plus(running, values[k], maximise)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def state_weights(ratios, weights):
    """Fill the log weight of each state from K - 1 log-ratios; states of +inf are the only ones."""
    weights[0] = 0.0
    certain = False
    for k in range(ratios.shape[0]):
        weights[k + 1] = ratios[k]
        certain = certain or ratios[k] == np.inf
    if certain:
        for k in range(weights.shape[0]):
            weights[k] = 0.0 if weights[k] == np.inf else -np.inf


@njit(cache=True, error_model="numpy", fastmath=FAST)
def ratios_against_state_0(weights, incoming, ratios):
    """Fill ``ratios`` float64[K-1], a message, from the log weights that a factor gives to the K states.

    ``incoming``: the incoming ratios; where both leave no state, all ratios are NaN. Otherwise +inf when only
    one state, not 0, is possible; when state 0 is one of several impossible ones, see ``CERTAIN``.
    """
    possible = 0
    contradiction = True
    best = -np.inf
    for k in range(weights.shape[0]):
        possible += weights[k] > -np.inf
        contradiction = contradiction and (weights[k] == -np.inf or incoming[k] == -np.inf)
        best = max(best, weights[k])
    reference = weights[0]
    if reference == -np.inf and possible > 1:
        reference = best - CERTAIN
    for k in range(ratios.shape[0]):
        if contradiction:
            ratios[k] = np.nan
        elif weights[k + 1] == -np.inf:
            ratios[k] = -np.inf
        else:
            ratios[k] = weights[k + 1] - reference


@njit(cache=True, error_model="numpy", fastmath=FAST)
def settle_forced(log_odds, weights):
    """Fill ``weights`` with log-odds of exclusive alternatives: a certain one rules out all others."""
    certain = 0
    for k in range(log_odds.shape[0]):
        certain += log_odds[k] == np.inf
    for k in range(log_odds.shape[0]):
        if certain == 0:
            weights[k] = log_odds[k]
        else:
            weights[k] = 0.0 if certain == 1 and log_odds[k] == np.inf else -np.inf
