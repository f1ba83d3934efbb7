"""One sweep of alignment over a bitext, each sentence aligned by the counts of all the others.

Expected counts stand for the lexical probabilities, under Dirichlet priors, and a sentence's own share is
taken out before it is aligned. Without that, a rare word explains everything in the one sentence it was
seen in; see ``docs/alignment.md``.

Source: collapsed variational inference in its zero-order form (Asuncion et al. 2009), sentence by sentence;
posteriors of both directions multiplied as in Liang, Taskar and Klein (2006), section 3.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.align.hmm_posteriors import hmm_posteriors
from qsproj.kernels.align.ibm1_posteriors import ibm1_posteriors
from qsproj.kernels.compilation import njit

FAST = {"reassoc", "contract", "nsz", "arcp"}


class Cells(NamedTuple):
    """The bitext; sentence pair s has m * n cells from ``cell_offsets[s]`` on, source word by source word.

    ``source_words``, ``target_words`` int32[T]: vocabulary numbers of all tokens. ``source_offsets``,
    ``target_offsets``, ``cell_offsets`` int64[S+1]: where each sentence begins. ``cell_pairs`` int32[cells]:
    number of the word pair in each cell.
    """

    source_words: NDArray[np.int32]
    source_offsets: NDArray[np.int64]
    target_words: NDArray[np.int32]
    target_offsets: NDArray[np.int64]
    cell_offsets: NDArray[np.int64]
    cell_pairs: NDArray[np.int32]


class LexicalCounts(NamedTuple):
    """Expected counts or Dirichlet pseudo-counts of links, >= 0.

    ``pairs`` float64[P] or float32[P]: links of each word pair. ``sources``, ``targets`` float64[V],
    float64[W]: the sums of ``pairs`` by source and by target word. ``null_sources``, ``null_targets``
    float64[V], float64[W]: how often each word is aligned to NULL. ``null_totals`` float64[2]: the sums of
    ``null_sources`` and ``null_targets``.
    """

    pairs: NDArray[np.floating]
    sources: NDArray[np.float64]
    targets: NDArray[np.float64]
    null_sources: NDArray[np.float64]
    null_targets: NDArray[np.float64]
    null_totals: NDArray[np.float64]


class Shares(NamedTuple):
    """What each cell and token has in the counts, float32: cells, source tokens, target tokens."""

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
    """Add (``sign`` 1) or take out (-1) the share of sentence pair ``s`` in the counts."""
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
    """Add the shares of every sentence pair to the counts."""
    for s in range(bitext.cell_offsets.size - 1):
        add_shares(s, bitext, shares, counts, 1.0)


@njit(cache=True)
def add_differences(changed, numbers, after, before):
    """Add ``after[k] - before[numbers[k]]`` to ``changed[numbers[k]]`` for each k; no number comes twice."""
    for k in range(numbers.size):
        changed[numbers[k]] += after[k] - before[numbers[k]]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def fill_parts(words, counts, priors, parts):
    """Fill one over count plus pseudo-count of each word; counts that rounding left below zero are zero."""
    for i in range(words.size):
        parts[i] = 1.0 / (max(counts[words[i]], 0.0) + priors[words[i]])


@njit(cache=True, error_model="numpy", fastmath=FAST)
def fill_null_emissions(words, counts, priors, total, emissions):
    """Fill the probability of each word given NULL, of which there are ``total`` with pseudo-counts."""
    for i in range(words.size):
        emissions[i] = (max(counts[words[i]], 0.0) + priors[words[i]]) / total


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
    """Align the sentence pairs in turn, updating counts and shares after each.

    ``bitext``, ``counts``, ``prior``, ``shares``, ``jumps`` NamedTuple: see their classes; ``counts``,
    ``shares`` and the statistics of ``jumps`` are updated. ``null_probability``: prior probability of NULL.
    ``use_jumps``: True: hidden Markov model, agreeing counts (product of the directions). False: IBM model 1,
    mean of the directions, for its posteriors are too flat to multiply. ``posteriors`` float32[cells, 2] or
    float32[0, 2], written: p(target word comes from source word), p(source word comes from target word); or
    none. Returns float: sum of both directions' log-likelihoods (natural log), each sentence given all
    others.
    """
    log_likelihood = 0.0
    for s in range(bitext.cell_offsets.size - 1):
        source, target = bitext.source_offsets[s], bitext.target_offsets[s]
        m, n = bitext.source_offsets[s + 1] - source, bitext.target_offsets[s + 1] - target
        if m == 0 or n == 0:
            continue
        add_shares(s, bitext, shares, counts, -1.0)
        forward, backward = np.empty((n, m)), np.empty((m, n))
        null_forward, null_backward = np.empty(n), np.empty(m)
        fill_emissions(s, bitext, counts, prior, forward, backward)
        fill_null_emissions(
            bitext.source_words[source : source + m],
            counts.null_sources,
            prior.null_sources,
            max(counts.null_totals[0], 0.0) + prior.null_totals[0],
            null_backward,
        )
        fill_null_emissions(
            bitext.target_words[target : target + n],
            counts.null_targets,
            prior.null_targets,
            max(counts.null_totals[1], 0.0) + prior.null_totals[1],
            null_forward,
        )
        p_forward, p_backward = np.empty((n, m)), np.empty((m, n))
        p_null_forward, p_null_backward = np.empty(n), np.empty(m)
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
