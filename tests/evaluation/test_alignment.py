"""Alignment scores against sets in plain Python."""

import math

import numpy as np
import pytest

from qsproj.corpus.sentence import make_alignment
from qsproj.errors import DataError
from qsproj.evaluation.alignment import alignment_scores
from tests.oracles import alignment as oracle


def test_by_hand():
    """Sure 1-1 and 2-2, possible 2-1; found 1-1, 2-1 and 3-3: 1 of 2 sure, 2 of 3 right."""
    gold = make_alignment(3, 3, [(1, 1), (2, 2), (2, 1)], sure=[True, True, False])
    scores = alignment_scores([gold], [make_alignment(3, 3, [(1, 1), (2, 1), (3, 3)])])
    assert scores.precision == pytest.approx(100 * 2 / 3)
    assert scores.recall == pytest.approx(50)
    assert scores.f1 == pytest.approx(100 * 2 / (3 / 2 + 2))
    assert scores.error_rate == pytest.approx(100 * (1 - 3 / 5))


def test_random_corpus():
    rng = np.random.default_rng(4)
    gold, found, gold_sets, found_sets = [], [], [], []
    for _ in range(30):
        table = rng.random((5, 6))
        sure, possible, guess = (np.argwhere(table > t) + 1 for t in (0.8, 0.6, 0.7))
        flags = [tuple(link) in set(map(tuple, sure.tolist())) for link in possible.tolist()]
        gold.append(make_alignment(5, 6, possible, sure=flags))
        found.append(make_alignment(5, 6, guess))
        gold_sets.append((set(map(tuple, sure.tolist())), set(map(tuple, possible.tolist()))))
        found_sets.append(set(map(tuple, guess.tolist())))
    scores = alignment_scores(gold, found)
    expected = [100 * value for value in oracle.alignment_scores(gold_sets, found_sets)]
    assert [scores.precision, scores.recall, scores.error_rate] == pytest.approx(expected)


def test_nothing_found_and_nothing_to_find():
    empty = make_alignment(2, 2, [])
    scores = alignment_scores([empty], [empty])
    assert all(math.isnan(value) for value in (scores.precision, scores.recall, scores.error_rate))


def test_perfect():
    gold = make_alignment(2, 2, [(1, 1)])
    assert alignment_scores([gold], [gold]).error_rate == 0.0


@pytest.mark.parametrize(("gold", "system", "shorter"), [(1, 2, "gold"), (2, 1, "system")])
def test_unequal_numbers(gold, system, shorter):
    alignment = make_alignment(1, 1, [])
    with pytest.raises(DataError, match=f"{shorter}: found the links of 1 sentence pair, expected more"):
        alignment_scores([alignment] * gold, [alignment] * system)
