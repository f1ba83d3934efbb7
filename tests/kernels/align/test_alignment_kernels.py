"""Alignment kernels against enumeration of every alignment of tiny sentence pairs."""

from functools import partial
from itertools import chain

import numpy as np
import pytest

from qsproj.alignment.hmm import token_order
from qsproj.kernels.align.hmm import hmm_posteriors
from qsproj.kernels.align.ibm1 import ibm1_posteriors, number_pairs
from tests.oracles import alignment as oracle

SIZES = [(1, 1), (1, 4), (4, 1), (3, 3), (5, 4), (3, 7)]


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_ibm1(n, m):
    rng = np.random.default_rng(n * 10 + m)
    emissions, null = rng.random((n, m)), rng.random(n)
    posteriors, null_posteriors = np.empty((n, m)), np.empty(n)
    log_likelihood = ibm1_posteriors(emissions, null, 0.2, posteriors, null_posteriors)
    weight = partial(oracle.ibm1_weight, emissions=emissions, null_emissions=null, null_probability=0.2)
    expected = oracle.posteriors(n, m, weight)
    np.testing.assert_allclose(posteriors, expected[0], atol=1e-12)
    np.testing.assert_allclose(null_posteriors, expected[1], atol=1e-12)
    assert log_likelihood == pytest.approx(expected[2])


@pytest.mark.parametrize("reach", [0, 1, 2, 9])
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_hmm(n, m, reach):
    rng = np.random.default_rng(n * 100 + m * 10 + reach)
    emissions, null, jump = rng.random((n, m)), rng.random(n), rng.random(2 * reach + 3) + 0.05
    posteriors, null_posteriors = np.empty((n, m)), np.empty(n)
    counts, exposures = np.zeros(jump.size), np.zeros(jump.size)
    log_likelihood = hmm_posteriors(
        emissions, null, 0.2, jump, posteriors, null_posteriors, counts, exposures
    )
    weight = partial(
        oracle.hmm_weight, emissions=emissions, null_emissions=null, null_probability=0.2, jump=jump
    )
    expected = oracle.posteriors(n, m, weight)
    np.testing.assert_allclose(posteriors, expected[0], atol=1e-12)
    np.testing.assert_allclose(null_posteriors, expected[1], atol=1e-12)
    assert log_likelihood == pytest.approx(expected[2])
    expected_counts, expected_exposures = oracle.jump_statistics(n, m, weight, jump)
    np.testing.assert_allclose(counts, expected_counts, atol=1e-12)
    np.testing.assert_allclose(exposures, expected_exposures, atol=1e-12)


def test_hmm_of_a_long_sentence_is_finite():
    """2,000 words on one side: scaled forward vectors do not underflow."""
    rng = np.random.default_rng(5)
    emissions, null, jump = rng.random((300, 2000)) ** 20, np.full(300, 1e-9), np.ones(9)
    posteriors, null_posteriors = np.empty((300, 2000)), np.empty(300)
    hmm_posteriors(emissions, null, 0.2, jump, posteriors, null_posteriors, np.zeros(9), np.zeros(9))
    np.testing.assert_allclose(posteriors.sum(axis=1) + null_posteriors, 1.0, atol=1e-9)


def test_pairs_are_numbered_once_each():
    rng = np.random.default_rng(8)
    sources = [rng.integers(0, 5, size).tolist() for size in (3, 0, 4, 6, 1)]
    targets = [rng.integers(0, 7, size).tolist() for size in (4, 2, 0, 5, 3)]
    source_words, source_offsets = np.fromiter(chain(*sources), np.int32), np.cumsum([0, *map(len, sources)])
    target_words, target_offsets = np.fromiter(chain(*targets), np.int32), np.cumsum([0, *map(len, targets)])
    cell_offsets = np.cumsum([0, *(len(s) * len(t) for s, t in zip(sources, targets))])
    order = token_order(source_words, source_offsets, 5)
    pair_starts, pair_targets, cell_pairs = number_pairs(
        order, source_offsets, target_words, target_offsets, cell_offsets, 7
    )
    pairs = [(e, int(f)) for e in range(5) for f in pair_targets[pair_starts[e] : pair_starts[e + 1]]]
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == oracle.shared_pairs(sources, targets)
    cells = [(e, f) for source, target in zip(sources, targets) for e in source for f in target]
    assert [pairs[pair] for pair in cell_pairs] == cells
