"""Trigram counts and their divergence against plain Python."""

import math
from collections import Counter

import numpy as np
import pytest

from qsproj.training.divergence import divergence, similarity_weights, trigram_counts


def plain_divergence(target, other):
    """Two Counters of trigrams."""
    total, others = sum(target.values()), sum(other.values())
    return sum(
        count / total * math.log((count / total) / (max(other[trigram], 1) / others))
        for trigram, count in target.items()
    )


def plain_counts(sequences):
    bounded = [(0, *symbols, 0) for symbols in sequences]
    return Counter(trigram for b in bounded for trigram in zip(b, b[1:], b[2:], strict=False))


def random_sequences(rng, count):
    return [rng.integers(1, 4, size=rng.integers(1, 9)) for _ in range(count)]


def test_counts_and_divergence_are_those_of_plain_python():
    rng = np.random.default_rng(3)
    first, second = random_sequences(rng, 30), random_sequences(rng, 5)
    counts = trigram_counts(first, 3), trigram_counts(second, 3)
    for table, sequences in zip(counts, (first, second), strict=True):
        plain = plain_counts([tuple(map(int, symbols)) for symbols in sequences])
        assert {place: int(table[place]) for place in zip(*np.nonzero(table), strict=True)} == plain
    plain = [plain_counts([tuple(map(int, symbols)) for symbols in each]) for each in (first, second)]
    assert divergence(*counts) == pytest.approx(plain_divergence(*plain))
    assert divergence(counts[0], counts[0]) == 0.0


def test_the_most_alike_weighs_one_and_the_others_by_the_square():
    np.testing.assert_allclose(similarity_weights(np.array([0.5, 1.0, 2.0])), [1.0, 0.25, 0.0625])
    np.testing.assert_allclose(similarity_weights(np.array([0.0, 0.0])), [1.0, 1.0])
