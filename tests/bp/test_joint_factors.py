"""What the factors of two trees and an alignment are made from; that each is right is in test_factors."""

from __future__ import annotations

import numpy as np
import pytest

from qsproj.bp.factors.alignment import align_hmm, fertility
from qsproj.bp.factors.booleans import any_pair
from tests.oracles.factors import log_score


def test_fertility_counts_the_links_of_each_word():
    words = [2, 1, 2, 4, 2, 2]
    group = fertility(range(6), words, np.arange(16.0).reshape(4, 4))
    for seed in range(8):
        states = np.random.default_rng(seed).integers(2, size=6)
        counts = [sum(s for s, w in zip(states, words) if w == word) for word in (1, 2, 3, 4)]
        expected = sum(4 * row + min(int(count), 3) for row, count in enumerate(counts))
        assert log_score(group, states[group.edges].astype(np.int32)) == expected


def table(rows):
    return np.array(rows, dtype=np.int32)


def test_the_edges_of_any_pair_are_each_result_followed_by_its_pairs():
    found = any_pair(table([0, 0, 1, 11]), table([[2, 3], [4, 5], [6, 7], [8, 9]]))
    assert found.edges.tolist() == [0, 2, 3, 4, 5, 1, 6, 7, 11, 8, 9]
    assert found.starts.tolist() == [0, 5, 8, 11]


def test_a_result_that_nobody_asks_about_tells_its_arcs_nothing():
    group = any_pair(table([0, 0]), table([[1, 2], [3, 4]]))
    incoming = np.array([0.0, 2.0, -1.0, 0.5, 3.0])
    np.testing.assert_allclose(group.propagate(incoming)[1:], 0.0, atol=1e-12)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"words 1\.\.2"):
        fertility([0, 1], [1, 3], np.zeros((2, 4)))
    with pytest.raises(ValueError, match=r"outside 1\.\.2"):
        align_hmm([0], [0, 1], [3], np.zeros(4), n_source=2)
