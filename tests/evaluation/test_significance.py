"""Paired permutation tests against the enumeration of all swaps, and their level under the null."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qsproj.evaluation.attachment import exact_paired_test
from tests.oracles.permutation import enumerate_swaps

differences = st.lists(st.integers(-6, 6), max_size=9)


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


def test_p_is_uniform_where_the_systems_are_equally_good():
    """Under the null P(p <= a) is at most a, and nearly a where the p-values are dense."""
    rng = np.random.default_rng(11)
    sentence_difficulty = rng.uniform(0.5, 0.95, size=(2000, 60))
    first, second = rng.binomial(20, sentence_difficulty), rng.binomial(20, sentence_difficulty)
    p_values = np.array([exact_paired_test(one - other) for one, other in zip(first, second)])
    for level in (0.01, 0.05, 0.1, 0.5):
        slack = 4 * (level * (1 - level) / len(p_values)) ** 0.5
        assert level - slack - 0.01 < np.mean(p_values <= level) < level + slack
