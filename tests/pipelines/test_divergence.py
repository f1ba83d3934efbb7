"""Trigram counts and their divergence against plain Python."""

import math
from collections import Counter

import numpy as np
import pytest

from qsproj.pipelines.treebanks import BACKOFF, divergence, similarity_weights, trigram_counts


def plain_divergence(target, other, kinds):
    """Two Counters of trigrams."""
    total, others = sum(target.values()), sum(other.values())

    def singly(place, symbol):
        seen = sum(count for trigram, count in other.items() if trigram[place] == symbol)
        return (seen + 1) / (others + kinds + 1)

    result = 0.0
    for trigram, count in target.items():
        backoff = math.prod(singly(place, symbol) for place, symbol in enumerate(trigram))
        q = (1 - BACKOFF) * other[trigram] / others + BACKOFF * backoff
        result += count / total * math.log(count / total / q)
    return result


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
    assert divergence(*counts) == pytest.approx(plain_divergence(*plain, 3))
    assert 0.0 < divergence(counts[0], counts[0]) < divergence(*counts)


def test_few_sentences_are_not_more_alike_than_many():
    rng = np.random.default_rng(5)
    many = random_sequences(rng, 2000)
    target = trigram_counts(random_sequences(rng, 2000), 3)
    distances = [divergence(target, trigram_counts(many[:count], 3)) for count in (10, 100, 2000)]
    assert distances == sorted(distances, reverse=True)


def test_the_most_alike_weighs_one_and_the_others_by_the_square():
    np.testing.assert_allclose(similarity_weights(np.array([0.5, 1.0, 2.0])), [1.0, 0.25, 0.0625])
    np.testing.assert_allclose(similarity_weights(np.array([0.0, 0.0])), [1.0, 1.0])
