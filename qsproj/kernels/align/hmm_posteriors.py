"""Hidden Markov model of alignment: forward-backward over one sentence pair.

Each generated word j is linked to one of the m generating words, or to NULL. A link jumps from the last
linked position p in 0..m (0: none yet) to q with probability ``jump[q - p] / Z[p]``; after the last word
comes a jump to m + 1. NULL keeps p. Jumps longer than ``reach`` share one weight on either side, so that a
step costs O(m reach), not O(m^2): ``jump`` has 2 reach + 3 entries, distance d at index d + reach + 1.

Vectors over p have m + 1 entries, vectors over q have m + 2, of which the first is unused.

Source: Vogel, Ney and Tillmann (1996); NULL as in Och and Ney (2003), section 2.1.2, in one chain of
states (the last position) instead of two.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit

FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FAST)
def arrivals(departures, jump, result):
    """Fill ``result[q]`` with the sum over p of ``departures[p] * jump[q - p]``."""
    m = departures.size - 1
    centre = jump.size // 2
    result[:] = 0.0
    for d in range(-min(centre - 1, m), min(centre - 1, m + 1) + 1):
        weight = jump[centre + d]
        for q in range(max(1, d), min(m + 1, m + d) + 1):
            result[q] += weight * departures[q - d]
    passed = 0.0
    for q in range(centre, m + 2):
        passed += departures[q - centre]
        result[q] += jump[2 * centre] * passed
    passed = 0.0
    for q in range(m - centre, 0, -1):
        passed += departures[q + centre]
        result[q] += jump[0] * passed


@njit(cache=True, error_model="numpy", fastmath=FAST)
def returns(values, jump, result):
    """Fill ``result[p]`` with the sum over q of ``values[q] * jump[q - p]``."""
    m = result.size - 1
    centre = jump.size // 2
    result[:] = 0.0
    for d in range(-min(centre - 1, m), min(centre - 1, m + 1) + 1):
        weight = jump[centre + d]
        for q in range(max(1, d), min(m + 1, m + d) + 1):
            result[q - d] += weight * values[q]
    passed = 0.0
    for p in range(m + 1 - centre, -1, -1):
        passed += values[p + centre]
        result[p] += jump[2 * centre] * passed
    passed = 0.0
    for p in range(centre + 1, m + 1):
        passed += values[p - centre]
        result[p] += jump[0] * passed


@njit(cache=True, error_model="numpy", fastmath=FAST)
def add_by_distance(departures, values, sums):
    """Add ``departures[p] * values[q]`` of every p and q to the entry of ``sums`` for the jump q - p."""
    m = departures.size - 1
    centre = sums.size // 2
    for d in range(-min(centre - 1, m), min(centre - 1, m + 1) + 1):
        total = 0.0
        for q in range(max(1, d), min(m + 1, m + d) + 1):
            total += departures[q - d] * values[q]
        sums[centre + d] += total
    passed = 0.0
    for q in range(centre, m + 2):
        passed += departures[q - centre]
        sums[2 * centre] += passed * values[q]
    passed = 0.0
    for q in range(m - centre, 0, -1):
        passed += departures[q + centre]
        sums[0] += passed * values[q]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def hmm_posteriors(
    emissions,
    null_emissions,
    null_probability,
    jump,
    posteriors,
    null_posteriors,
    jump_counts,
    jump_exposures,
):
    """Fill the posteriors of one sentence pair and return the log-likelihood (natural log).

    Parameters
    ----------
    emissions : float64[n, m]
        Probability of generated word j given generating word i.
    null_emissions : float64[n]
        Probability of generated word j given NULL, > 0.
    null_probability : float
        Probability that a word comes from NULL.
    jump : float64[2 reach + 3]
        Weights > 0 of jumps, up to a factor.
    posteriors, null_posteriors : float64[n, m], float64[n]
        Outputs: p(j comes from i), p(j comes from NULL); each row and its NULL sum to 1.
    jump_counts, jump_exposures : float64[2 reach + 3]
        Added to: the expected number of jumps of each distance; and of positions left with such a jump in
        range, each over its Z. Their quotient is the next ``jump`` (minorise-maximise, Hunter 2004).

    O(n m reach) time, O(nm) memory.
    """
    n, m = emissions.shape
    linked = np.empty((n + 1, m + 1))
    last = np.zeros((n + 1, m + 1))
    scale = np.empty(n + 1)
    arriving = np.empty(m + 2)
    values = np.ones(m + 2)
    normaliser = np.empty(m + 1)
    departing = np.empty(m + 1)
    returns(values, jump, normaliser)

    # Forward; last[j, p]: p(last linked position after j words is p | the first j words).
    log_likelihood = 0.0
    last[0, 0] = 1.0
    for j in range(1, n + 1):
        for p in range(m + 1):
            departing[p] = last[j - 1, p] / normaliser[p]
        arrivals(departing, jump, arriving)
        null = null_probability * null_emissions[j - 1]
        linked[j, 0] = 0.0
        for p in range(1, m + 1):
            linked[j, p] = (1.0 - null_probability) * arriving[p] * emissions[j - 1, p - 1]
        total = 0.0
        for p in range(m + 1):
            last[j, p] = linked[j, p] + null * last[j - 1, p]
            total += last[j, p]
        for p in range(m + 1):
            last[j, p] /= total
            linked[j, p] /= total
        scale[j] = total
        log_likelihood += np.log(total)
    for p in range(m + 1):
        departing[p] = last[n, p] / normaliser[p]
    arrivals(departing, jump, arriving)
    log_likelihood += np.log(arriving[m + 1])

    # Backward; ahead[p]: p(the rest | last position p), over p(the rest | the words before).
    ahead = np.empty(m + 1)
    onward = np.empty(m + 1)
    left = np.empty(m + 1)
    counts = np.zeros(jump.size)
    values[:] = 0.0
    values[m + 1] = 1.0 / arriving[m + 1]
    add_by_distance(departing, values, counts)
    returns(values, jump, ahead)
    for p in range(m + 1):
        ahead[p] /= normaliser[p]
        left[p] = departing[p] * ahead[p]
    values[m + 1] = 0.0
    for j in range(n, 0, -1):
        null = null_probability * null_emissions[j - 1] / scale[j]
        null_posterior = 0.0
        for p in range(m + 1):
            null_posterior += null * last[j - 1, p] * ahead[p]
            departing[p] = last[j - 1, p] / normaliser[p]
        null_posteriors[j - 1] = null_posterior
        for q in range(1, m + 1):
            posteriors[j - 1, q - 1] = linked[j, q] * ahead[q]
            values[q] = (1.0 - null_probability) / scale[j] * emissions[j - 1, q - 1] * ahead[q]
        add_by_distance(departing, values, counts)
        returns(values, jump, onward)
        for p in range(m + 1):
            onward[p] /= normaliser[p]
            left[p] += departing[p] * onward[p]
            ahead[p] = onward[p] + null * ahead[p]
    for k in range(jump.size):
        jump_counts[k] += jump[k] * counts[k]
    values[:] = 1.0
    add_by_distance(left, values, jump_exposures)
    return log_likelihood
