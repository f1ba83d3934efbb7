"""Beliefs and their entropies, from totals of log-ratios."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import state_weights
from qsproj.kernels.compilation import njit

FLAGS = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _normalise(weights):
    """Turn log weights into probabilities, in place."""
    high = weights.max()
    mass = 0.0
    for k in range(weights.shape[0]):
        weights[k] = np.exp(weights[k] - high)
        mass += weights[k]
    for k in range(weights.shape[0]):
        weights[k] /= mass


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def state_probabilities(log_ratios, starts):
    """Return the probability of every state of every variable, float64[S + V], variable after variable.

    ``log_ratios`` float64[S] are the beliefs; those of variable v start at ``starts[v]`` of int64[V+1].
    """
    n_variables = starts.shape[0] - 1
    result = np.empty(log_ratios.shape[0] + n_variables)
    for v in range(n_variables):
        states = result[starts[v] + v : starts[v + 1] + v + 1]
        state_weights(log_ratios[starts[v] : starts[v + 1]], states)
        _normalise(states)
    return result


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def variable_entropies(probabilities, starts):
    """Return the entropy of every variable's belief, float64[V], in nats; arguments as above."""
    n_variables = starts.shape[0] - 1
    entropies = np.zeros(n_variables)
    for v in range(n_variables):
        for k in range(starts[v] + v, starts[v + 1] + v + 1):
            if probabilities[k] > 0.0:
                entropies[v] -= probabilities[k] * np.log(probabilities[k])
    return entropies


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def expected_messages(incoming, outgoing, starts):
    """Return the sum over edges of E[log weight that the incoming message gives to the variable's state].

    The expectation is under the factor's belief, incoming plus outgoing. ``starts`` int64[E+1] says where
    the log-ratios of each edge begin.
    """
    expected = 0.0
    n_edges = starts.shape[0] - 1
    widest = 0
    for e in range(n_edges):
        widest = max(widest, starts[e + 1] - starts[e])
    weights = np.empty(widest + 1)
    beliefs = np.empty(widest + 1)
    for e in range(n_edges):
        k = starts[e + 1] - starts[e] + 1
        state_weights(incoming[starts[e] : starts[e + 1]], weights[:k])
        state_weights(incoming[starts[e] : starts[e + 1]] + outgoing[starts[e] : starts[e + 1]], beliefs[:k])
        _normalise(beliefs[:k])
        for state in range(k):
            if beliefs[state] > 0.0:
                expected += beliefs[state] * weights[state]
    return expected
