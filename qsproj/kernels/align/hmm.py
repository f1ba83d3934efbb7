"""Hidden Markov model of alignment: forward-backward over a sentence pair, and sweeps over a bitext.

Each generated word j is linked to one of the m generating words, or to NULL. A link jumps from the last
linked position p in 0..m (0: none yet) to q with probability ``jump[q - p] / Z[p]``; after the last word
comes a jump to m + 1. NULL keeps p. Jumps longer than ``reach`` share one weight on either side, so that a
step costs O(m reach), not O(m^2): ``jump`` has 2 reach + 3 entries, distance d at index d + reach + 1.

Vectors over p and over q are padded with zeros: entry p is at ``centre + p``, where ``centre = reach + 1``,
and there are m + 2 + 2 centre places in all, so that no jump in reach leaves them. Entry 0 of those over q is
zero. Four distances are processed at a time, by loops over positions that can be vectorised.

In a sweep, each sentence is aligned by the counts of all the others: lexical probabilities are computed from
expected counts and Dirichlet priors, and a sentence's own share is subtracted before it is aligned.
Otherwise, a rare word explains everything in its only sentence (docs/notes/word-alignment.md).

Source: Vogel, Ney and Tillmann (1996); NULL as in Och and Ney (2003), section 2.1.2, in one chain of states
(the last position) instead of two. Collapsed variational inference in its zero-order form (Asuncion et al.
2009), sentence by sentence; posteriors of both directions multiplied (Liang, Taskar and Klein 2006, 3.2).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.align.ibm1 import ibm1_posteriors
from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.prefetch import prefetch


@njit(cache=True, error_model="numpy", fastmath=FAST)
def arrivals(departures, jump, result):
    """Fill ``result[q]``, not padded, with the sum over p of ``departures[p] * jump[q - p]``."""
    centre = jump.size // 2
    m = departures.size - 2 - 2 * centre
    result[:] = 0.0
    # Entry k of ``jump`` is for the distance k - centre; those at its ends cover all longer distances.
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
    """Sum ``values`` over arrivals into ``result``, and count jumps, weighed by departures, in ``sums``."""
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
    """Fill the posteriors of one sentence pair and return the log-likelihood; O(n m reach), O(nm) memory.

    Arguments and results as in :func:`qsproj.kernels.align.ibm1.ibm1_posteriors`, and ``jump`` float64[2
    reach + 3]: weights > 0 of jumps, up to a factor. Added to, of that shape: ``jump_counts``, the expected
    number of jumps of each distance; ``jump_exposures``, of positions left with such a jump in range, each
    over its Z. Their quotient is the next ``jump`` (minorise-maximise, Hunter 2004).
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
    # One over Z[p]; departures and counts are still zero.
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


class Cells(NamedTuple):
    """The bitext; sentence pair s has m * n cells from ``cell_offsets[s]`` on, source word by source word."""

    source_words: NDArray[np.int32]  # [T]: vocabulary numbers of all tokens
    source_offsets: NDArray[np.int64]  # [S+1]: the start of each sentence
    target_words: NDArray[np.int32]
    target_offsets: NDArray[np.int64]
    cell_offsets: NDArray[np.int64]
    cell_pairs: NDArray[np.int32]  # [cells]: number of the word pair in each cell


class LexicalCounts(NamedTuple):
    """Expected counts or Dirichlet pseudo-counts of links, >= 0."""

    pairs: NDArray[np.floating]  # [P], float64 or float32: links of each word pair
    sources: NDArray[np.float64]  # [V]: their sums by source word
    targets: NDArray[np.float64]  # [W]: and by target word
    null_sources: NDArray[np.float64]  # [V]: count of each word's alignments to NULL
    null_targets: NDArray[np.float64]
    null_totals: NDArray[np.float64]  # [2]: the sums of the last two


class Shares(NamedTuple):
    """Parts of each cell and token in the counts, float32: cells, source tokens, target tokens."""

    cells: NDArray[np.float32]
    null_sources: NDArray[np.float32]
    null_targets: NDArray[np.float32]


class Jumps(NamedTuple):
    """Jump weights and statistics of both directions, float64[2, 2 reach + 3]; row 0 generates the target."""

    weights: NDArray[np.float64]
    counts: NDArray[np.float64]
    exposures: NDArray[np.float64]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def add_shares(s, bitext, shares, counts, sign):
    """Add (``sign`` 1) or subtract (-1) the share of sentence pair ``s`` in the counts."""
    source, target = bitext.source_offsets[s], bitext.target_offsets[s]
    cell = bitext.cell_offsets[s]
    for i in range(source, bitext.source_offsets[s + 1]):
        e = bitext.source_words[i]
        counts.null_sources[e] += sign * shares.null_sources[i]
        counts.null_totals[0] += sign * shares.null_sources[i]
        for j in range(target, bitext.target_offsets[s + 1]):
            share = sign * shares.cells[cell]
            counts.pairs[bitext.cell_pairs[cell]] += share
            counts.sources[e] += share
            counts.targets[bitext.target_words[j]] += share
            cell += 1
    for j in range(target, bitext.target_offsets[s + 1]):
        counts.null_targets[bitext.target_words[j]] += sign * shares.null_targets[j]
        counts.null_totals[1] += sign * shares.null_targets[j]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def add_all_shares(bitext, shares, counts):
    for s in range(bitext.cell_offsets.size - 1):
        add_shares(s, bitext, shares, counts, 1.0)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def fill_parts(words, counts, priors, parts):
    for i in range(words.size):
        parts[i] = 1.0 / (max(counts[words[i]], 0.0) + priors[words[i]])


@njit(cache=True, error_model="numpy", fastmath=FAST)
def null_emissions(words, counts, priors, count, prior):
    """Return the probability of each word given NULL; ``count``, ``prior``: of all words together."""
    emissions, total = np.empty(words.size), max(count, 0.0) + prior
    for i in range(words.size):
        emissions[i] = (max(counts[words[i]], 0.0) + priors[words[i]]) / total
    return emissions


@njit(cache=True, error_model="numpy", fastmath=FAST)
def fill_emissions(s, bitext, counts, prior, forward, backward):
    """Fill p(target | source) float64[n, m] and p(source | target) float64[m, n]: Dirichlet means."""
    n, m = forward.shape
    source, target = bitext.source_offsets[s], bitext.target_offsets[s]
    of_source, of_target = np.empty(m), np.empty(n)
    fill_parts(bitext.source_words[source : source + m], counts.sources, prior.sources, of_source)
    fill_parts(bitext.target_words[target : target + n], counts.targets, prior.targets, of_target)
    cell = bitext.cell_offsets[s]
    for i in range(m):
        for j in range(n):
            pair = bitext.cell_pairs[cell]
            weight = max(counts.pairs[pair], 0.0) + prior.pairs[pair]
            forward[j, i] = weight * of_source[i]
            backward[i, j] = weight * of_target[j]
            cell += 1


@njit(cache=True, error_model="numpy", fastmath=FAST)
def sweep(bitext, counts, prior, shares, jumps, null_probability, use_jumps, posteriors):
    """Align the sentence pairs in turn, updating ``counts``, ``shares`` and statistics of ``jumps``.

    ``use_jumps``: the hidden Markov model, agreeing counts (product of the directions); else IBM model 1,
    mean of the directions: its posteriors are too flat to multiply. ``posteriors`` float32[cells, 2] are
    written, or float32[0, 2]: p(target word comes from source word), p(source word comes from target word).
    Returns the sum of both directions' log-likelihoods, each sentence given all others.
    """
    log_likelihood, last = 0.0, bitext.cell_offsets.size - 1
    for s in range(last):
        source, target = bitext.source_offsets[s], bitext.target_offsets[s]
        m, n = bitext.source_offsets[s + 1] - source, bitext.target_offsets[s + 1] - target
        if m == 0 or n == 0:
            continue
        add_shares(s, bitext, shares, counts, -1.0)
        forward, backward = np.empty((n, m)), np.empty((m, n))
        fill_emissions(s, bitext, counts, prior, forward, backward)
        words, totals = bitext.source_words[source : source + m], (counts.null_totals, prior.null_totals)
        null_backward = null_emissions(
            words, counts.null_sources, prior.null_sources, totals[0][0], totals[1][0]
        )
        words = bitext.target_words[target : target + n]
        null_forward = null_emissions(
            words, counts.null_targets, prior.null_targets, totals[0][1], totals[1][1]
        )
        p_forward, p_backward = np.empty((n, m)), np.empty((m, n))
        p_null_forward, p_null_backward = np.empty(n), np.empty(m)
        # What the next sentence pair reads is prefetched while this one is aligned.
        for cell in range(bitext.cell_offsets[s + 1], bitext.cell_offsets[min(s + 2, last)]):
            prefetch(counts.pairs, bitext.cell_pairs[cell])
            prefetch(prior.pairs, bitext.cell_pairs[cell])
        for direction in range(2):
            emissions, null, p, p_null = forward, null_forward, p_forward, p_null_forward
            if direction == 1:
                emissions, null, p, p_null = backward, null_backward, p_backward, p_null_backward
            if use_jumps:
                log_likelihood += hmm_posteriors(
                    emissions,
                    null,
                    null_probability,
                    jumps.weights[direction],
                    p,
                    p_null,
                    jumps.counts[direction],
                    jumps.exposures[direction],
                )
            else:
                log_likelihood += ibm1_posteriors(emissions, null, null_probability, p, p_null)
        cell = bitext.cell_offsets[s]
        for i in range(m):
            for j in range(n):
                there, back = p_forward[j, i], p_backward[i, j]
                shares.cells[cell] = there * back if use_jumps else 0.5 * (there + back)
                if posteriors.size:
                    posteriors[cell, 0], posteriors[cell, 1] = there, back
                cell += 1
            shares.null_sources[source + i] = p_null_backward[i]
        for j in range(n):
            shares.null_targets[target + j] = p_null_forward[j]
        add_shares(s, bitext, shares, counts, 1.0)
    return log_likelihood
