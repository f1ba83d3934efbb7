"""Hidden Markov model of alignment: forward-backward over one sentence pair.

Each generated word j is linked to one of the m generating words, or to NULL. A link jumps from the last
linked position p in 0..m (0: none yet) to q with probability ``jump[q - p] / Z[p]``; after the last word
comes a jump to m + 1. NULL keeps p. Jumps longer than ``reach`` share one weight on either side, so that a
step costs O(m reach), not O(m^2): ``jump`` has 2 reach + 3 entries, distance d at index d + reach + 1.

Vectors over p and over q are padded with zeros: entry p is at ``centre + p``, where ``centre = reach + 1``,
and there are m + 2 + 2 centre places in all, so that no jump in reach leaves them. Entry 0 of those over q is
zero. Four distances are taken at a time, which leaves loops over positions that a processor can take several
steps of at once.

Source: Vogel, Ney and Tillmann (1996); NULL as in Och and Ney (2003), section 2.1.2, in one chain of
states (the last position) instead of two.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit

FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FAST)
def arrivals(departures, jump, result):
    """Fill ``result[q]``, not padded, with the sum over p of ``departures[p] * jump[q - p]``."""
    centre = jump.size // 2
    m = departures.size - 2 - 2 * centre
    result[:] = 0.0
    # Entry k of ``jump`` is for the distance k - centre; those at its ends are for all that lie further.
    k = 1
    while k + 3 < 2 * centre:
        start = 2 * centre - k
        one, two, three, four = jump[k], jump[k + 1], jump[k + 2], jump[k + 3]
        for q in range(m + 2):
            at = start + q
            result[q] += (
                one * departures[at]
                + two * departures[at - 1]
                + three * departures[at - 2]
                + four * departures[at - 3]
            )
        k += 4
    while k < 2 * centre:
        for q in range(m + 2):
            result[q] += jump[k] * departures[2 * centre - k + q]
        k += 1
    passed = 0.0
    for q in range(centre, m + 2):
        passed += departures[q]
        result[q] += jump[2 * centre] * passed
    passed = 0.0
    for q in range(m - centre, 0, -1):
        passed += departures[q + 2 * centre]
        result[q] += jump[0] * passed


@njit(cache=True, error_model="numpy", fastmath=FAST)
def returns(departures, values, jump, result, sums):
    """Sum over arrivals, and count jumps by their distance.

    ``result[p]``, not padded, becomes the sum over q of ``values[q] * jump[q - p]``; to the entry of ``sums``
    for the jump q - p is added ``departures[p] * values[q]`` of every p and q.
    """
    centre = jump.size // 2
    m = departures.size - 2 - 2 * centre
    result[:] = 0.0
    k = 1
    while k + 3 < 2 * centre:
        one, two, three, four = jump[k], jump[k + 1], jump[k + 2], jump[k + 3]
        first = second = third = fourth = 0.0
        for p in range(m + 1):
            departing = departures[centre + p]
            at = k + p
            result[p] += (
                one * values[at] + two * values[at + 1] + three * values[at + 2] + four * values[at + 3]
            )
            first += departing * values[at]
            second += departing * values[at + 1]
            third += departing * values[at + 2]
            fourth += departing * values[at + 3]
        sums[k] += first
        sums[k + 1] += second
        sums[k + 2] += third
        sums[k + 3] += fourth
        k += 4
    while k < 2 * centre:
        total = 0.0
        for p in range(m + 1):
            result[p] += jump[k] * values[k + p]
            total += departures[centre + p] * values[k + p]
        sums[k] += total
        k += 1
    passed = total = 0.0
    for p in range(m + 1 - centre, -1, -1):
        passed += values[p + 2 * centre]
        result[p] += jump[2 * centre] * passed
        total += departures[centre + p] * passed
    sums[2 * centre] += total
    passed = total = 0.0
    for p in range(centre + 1, m + 1):
        passed += values[p]
        result[p] += jump[0] * passed
        total += departures[centre + p] * passed
    sums[0] += total


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

    ``emissions`` float64[n, m]: probability of generated word j given generating word i. ``null_emissions``
    float64[n]: probability of generated word j given NULL, > 0. ``null_probability``: prior probability of
    NULL. ``jump`` float64[2 reach + 3]: weights > 0 of jumps, up to a factor. ``posteriors``,
    ``null_posteriors`` float64[n, m], float64[n], written: p(j comes from i), p(j comes from NULL); each row
    and its NULL sum to 1. ``jump_counts``, ``jump_exposures`` float64[2 reach + 3]: added to: the expected
    number of jumps of each distance; and of positions left with such a jump in range, each over its Z. Their
    quotient is the next ``jump`` (minorise-maximise, Hunter 2004). O(n m reach) time, O(nm) memory.
    """
    n, m = emissions.shape
    centre = jump.size // 2
    linked = np.empty((n + 1, m + 1))
    last = np.zeros((n + 1, m + 1))
    scale = np.empty(n + 1)
    arriving = np.empty(m + 2)
    values = np.zeros(m + 2 + 2 * centre)
    departing = np.zeros(m + 2 + 2 * centre)
    counts = np.zeros(jump.size)
    onward = np.empty(m + 1)
    # One over Z[p]; nothing departs yet, and nothing is counted.
    share = np.empty(m + 1)
    values[centre + 1 : centre + m + 2] = 1.0
    returns(departing, values, jump, share, counts)
    for p in range(m + 1):
        share[p] = 1.0 / share[p]

    # Forward; last[j, p]: p(last linked position after j words is p | the first j words).
    log_likelihood = 0.0
    last[0, 0] = 1.0
    for j in range(1, n + 1):
        for p in range(m + 1):
            departing[centre + p] = last[j - 1, p] * share[p]
        arrivals(departing, jump, arriving)
        null = null_probability * null_emissions[j - 1]
        linked[j, 0] = 0.0
        for p in range(1, m + 1):
            linked[j, p] = (1.0 - null_probability) * arriving[p] * emissions[j - 1, p - 1]
        total = 0.0
        for p in range(m + 1):
            last[j, p] = linked[j, p] + null * last[j - 1, p]
            total += last[j, p]
        part = 1.0 / total
        for p in range(m + 1):
            last[j, p] *= part
            linked[j, p] *= part
        scale[j] = part
        log_likelihood += np.log(total)
    for p in range(m + 1):
        departing[centre + p] = last[n, p] * share[p]
    arrivals(departing, jump, arriving)
    log_likelihood += np.log(arriving[m + 1])

    # Backward; ahead[p]: p(the rest | last position p), over p(the rest | the words before).
    ahead = np.empty(m + 1)
    left = np.zeros(m + 2 + 2 * centre)
    values[:] = 0.0
    values[centre + m + 1] = 1.0 / arriving[m + 1]
    returns(departing, values, jump, ahead, counts)
    for p in range(m + 1):
        ahead[p] *= share[p]
        left[centre + p] = departing[centre + p] * ahead[p]
    values[centre + m + 1] = 0.0
    for j in range(n, 0, -1):
        null = null_probability * null_emissions[j - 1] * scale[j]
        linking = (1.0 - null_probability) * scale[j]
        null_posterior = 0.0
        for p in range(m + 1):
            null_posterior += null * last[j - 1, p] * ahead[p]
            departing[centre + p] = last[j - 1, p] * share[p]
        null_posteriors[j - 1] = null_posterior
        for q in range(1, m + 1):
            posteriors[j - 1, q - 1] = linked[j, q] * ahead[q]
            values[centre + q] = linking * emissions[j - 1, q - 1] * ahead[q]
        returns(departing, values, jump, onward, counts)
        for p in range(m + 1):
            onward[p] *= share[p]
            left[centre + p] += departing[centre + p] * onward[p]
            ahead[p] = onward[p] + null * ahead[p]
    for k in range(jump.size):
        jump_counts[k] += jump[k] * counts[k]
    values[centre + 1 : centre + m + 2] = 1.0
    returns(left, values, jump, onward, jump_exposures)
    return log_likelihood
