"""Paired permutation tests against the enumeration of all swaps, and their level under the null."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qsproj.evaluation.significance import approximate_paired_test, exact_paired_test
from tests.oracles.permutation import enumerate_swaps

differences = st.lists(st.integers(-6, 6), max_size=9)


def ratio(sums):
    return sums[..., 0] / sums[..., 1]


def difference_p_value(values):
    """Enumerate with one count of each system: the positive part and the negative part."""
    first = [[max(value, 0)] for value in values]
    second = [[max(-value, 0)] for value in values]
    return enumerate_swaps(first, second, lambda sums: sums[0])


@given(differences)
def test_exact_is_the_enumeration_of_all_swaps(values):
    assert exact_paired_test(np.array(values, dtype=int)) == pytest.approx(
        difference_p_value(values), abs=1e-12
    )


@given(differences)
def test_exact_does_not_care_which_system_is_first(values):
    array = np.array(values, dtype=np.int32)
    assert exact_paired_test(array) == exact_paired_test(-array)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], 1.0),
        ([0, 0, 0], 1.0),
        ([1, -1], 1.0),
        ([5], 1.0),
        ([1] * 20, 2.0**-19),
        ([3] * 1100, 0.0),
        ([1, -1] * 50_000, 1.0),
    ],
)
def test_exact_at_the_edges(values, expected):
    assert exact_paired_test(np.array(values, dtype=int)) == pytest.approx(expected, abs=1e-12)


def test_exact_is_the_sign_test_for_differences_of_one():
    values = np.repeat([1, -1, 0], [560, 470, 3000])
    tail = sum(comb(1030, heads) for heads in range(471))
    assert exact_paired_test(values) == pytest.approx(2 * tail / 2**1030, rel=1e-9)


@pytest.mark.parametrize("values", [np.array([0.5]), np.zeros((2, 2), dtype=int)])
def test_exact_takes_integers_in_one_dimension(values):
    with pytest.raises(ValueError, match=r"expected int\[S\]"):
        exact_paired_test(values)


def test_approximate_comes_near_the_enumeration():
    rng = np.random.default_rng(5)
    for _ in range(8):
        first = np.stack([rng.integers(0, 6, 8), rng.integers(6, 9, 8)], axis=1)
        second = np.stack([rng.integers(0, 6, 8), rng.integers(6, 9, 8)], axis=1)
        expected = enumerate_swaps(first.tolist(), second.tolist(), lambda sums: sums[0] / sums[1])
        p_value = approximate_paired_test(first, second, ratio, rng=rng, samples=20_000)
        # Four standard errors; ties that rounding broke would shift p by at least 1/128.
        assert p_value == pytest.approx(expected, abs=4 * (expected * (1 - expected) / 20_000) ** 0.5 + 1e-4)


def test_approximate_is_seeded_never_zero_and_one_for_equal_systems():
    counts = np.stack([np.arange(200), np.full(200, 300)], axis=1)
    better = counts + np.array([100, 0])
    values = [
        approximate_paired_test(counts, better, ratio, rng=np.random.default_rng(seed), samples=99)
        for seed in (1, 1, 2)
    ]
    assert values == [0.01, 0.01, 0.01]
    assert approximate_paired_test(counts, counts, ratio, rng=np.random.default_rng(1), samples=99) == 1.0


def test_approximate_draws_in_blocks_without_changing_the_level(monkeypatch):
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 9, (2, 30, 1))
    whole = exact_paired_test((second - first)[:, 0])
    monkeypatch.setattr("qsproj.evaluation.significance._BLOCK", 100)
    blocked = approximate_paired_test(first, second, lambda sums: sums[..., 0], rng=rng, samples=20_000)
    assert blocked == pytest.approx(whole, abs=0.015)


@pytest.mark.parametrize(
    ("first", "second", "samples"),
    [([[1.0]], [[1.0], [2.0]], 10), ([1.0], [1.0], 10), ([[1.0]], [[2.0]], 0)],
)
def test_approximate_checks_what_it_is_given(first, second, samples):
    with pytest.raises(ValueError, match="expected"):
        approximate_paired_test(first, second, ratio, rng=np.random.default_rng(1), samples=samples)


def test_p_is_uniform_where_the_systems_are_equally_good():
    """Under the null P(p <= a) is at most a, and nearly a where the p-values are dense."""
    rng = np.random.default_rng(11)
    sentence_difficulty = rng.uniform(0.5, 0.95, size=(2000, 60))
    first, second = rng.binomial(20, sentence_difficulty), rng.binomial(20, sentence_difficulty)
    p_values = np.array([exact_paired_test(one - other) for one, other in zip(first, second)])
    for level in (0.01, 0.05, 0.1, 0.5):
        slack = 4 * (level * (1 - level) / len(p_values)) ** 0.5
        assert level - slack - 0.01 < np.mean(p_values <= level) < level + slack
