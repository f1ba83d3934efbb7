"""Message passing: messages of variables, replacement of old messages, and beliefs.

A *slot* is one log-ratio of one variable; a variable with K states has K - 1 adjacent slots. Totals over
slots separate finite messages from infinite ones: ``finite`` sums the former, ``infinite`` counts the latter
with their sign. So removing one message from a total never computes inf - inf.
"""

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import state_weights
from qsproj.kernels.compilation import FAST, njit


@njit(cache=True, error_model="numpy", fastmath=FAST)
def add_up(outgoing, slots, finite, infinite):
    """Replace sums by those of one group's messages float64[M] at their ``slots`` int32[M]."""
    finite[:] = 0.0
    infinite[:] = 0
    for e in range(outgoing.shape[0]):
        message = outgoing[e]
        if message == np.inf:
            infinite[slots[e]] += 1
        elif message == -np.inf:
            infinite[slots[e]] -= 1
        else:
            finite[slots[e]] += message


@njit(cache=True, error_model="numpy")
def total_of_groups(finite_by_group, infinite_by_group, finite, infinite):
    """Sum the groups' messages at each slot: float64[G, S] and int32[G, S] into float64[S] and int32[S]."""
    finite[:] = 0.0
    infinite[:] = 0
    for group in range(finite_by_group.shape[0]):
        of_finite, of_infinite = finite_by_group[group], infinite_by_group[group]
        for slot in range(finite.shape[0]):
            finite[slot] += of_finite[slot]
            infinite[slot] += of_infinite[slot]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def publish(outgoing, slots, group, finite_by_group, infinite_by_group, finite, infinite):
    add_up(outgoing, slots, finite_by_group[group], infinite_by_group[group])
    total_of_groups(finite_by_group, infinite_by_group, finite, infinite)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def leave_out(finite, infinite, slots, outgoing, incoming):
    """Fill ``incoming`` float64[M]: the total at each slot without the group's own message (eq. 2.7)."""
    for e in range(outgoing.shape[0]):
        slot = slots[e]
        own = outgoing[e]
        count = infinite[slot]
        rest = finite[slot]
        if own == np.inf:
            count -= 1
        elif own == -np.inf:
            count += 1
        else:
            rest -= own
        if count != 0:
            rest = np.inf if count > 0 else -np.inf
        incoming[e] = rest


@njit(cache=True, error_model="numpy", fastmath=FAST)
def largest_change(old, new):
    """Return the largest absolute difference of two message arrays; equal infinities do not differ."""
    change = 0.0
    for e in range(old.shape[0]):
        if old[e] != new[e]:
            change = max(change, abs(old[e] - new[e]))
    return change


@njit(cache=True, error_model="numpy", fastmath=FAST)
def replace_messages(incoming, proposed, outgoing, damping):
    """Move ``outgoing`` float64[M] to ``proposed`` with ``damping``, in place.

    Infinite messages are not damped: they are conclusions, not estimates. Returns the largest undamped
    change, inf where a message became or ceased to be infinite; and True, nothing changed, when a message is
    NaN or is infinite against an infinite incoming one.
    """
    residual = 0.0
    for e in range(proposed.shape[0]):
        if np.isnan(proposed[e] + incoming[e]):
            return np.inf, True
    for e in range(proposed.shape[0]):
        new = proposed[e]
        old = outgoing[e]
        if new != old:
            residual = max(residual, abs(new - old))
            if damping > 0.0 and abs(new) < np.inf and abs(old) < np.inf:
                new += damping * (old - new)
            outgoing[e] = new
    return residual, False


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _normalise(weights):
    high = weights.max()
    mass = 0.0
    for k in range(weights.shape[0]):
        weights[k] = np.exp(weights[k] - high)
        mass += weights[k]
    for k in range(weights.shape[0]):
        weights[k] /= mass


@njit(cache=True, error_model="numpy", fastmath=FAST)
def state_probabilities(log_ratios, starts):
    """Return the probability of every state, float64[S + V], from log-ratios that begin at ``starts``."""
    n_variables = starts.shape[0] - 1
    result = np.empty(log_ratios.shape[0] + n_variables)
    for v in range(n_variables):
        states = result[starts[v] + v : starts[v + 1] + v + 1]
        state_weights(log_ratios[starts[v] : starts[v + 1]], states)
        _normalise(states)
    return result


@njit(cache=True, error_model="numpy", fastmath=FAST)
def variable_entropies(probabilities, starts):
    """Return the entropy of every variable's belief, float64[V], in nats; arguments as above."""
    n_variables = starts.shape[0] - 1
    entropies = np.zeros(n_variables)
    for v in range(n_variables):
        for k in range(starts[v] + v, starts[v + 1] + v + 1):
            if probabilities[k] > 0.0:
                entropies[v] -= probabilities[k] * np.log(probabilities[k])
    return entropies


@njit(cache=True, error_model="numpy", fastmath=FAST)
def expected_messages(incoming, outgoing, starts):
    """Return the sum over edges of E[log weight of the incoming message] under the factor's belief."""
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
