"""Hill climbing: it climbs as its definition does, and ends where no change helps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from qsproj.errors import UsageError
from qsproj.trees import second_order
from qsproj.trees.second_order import second_order_scores
from tests.oracles.second_order import SecondOrderEnumeration
from tests.oracles.second_order import tree_score as score_by_definition
from tests.oracles.trees import is_tree
from tests.trees.second_order_cases import drawn, random_scores


def neighbours(heads: tuple):
    """Yield every tree in which one word has another head."""
    for d, h in itertools.product(range(1, len(heads)), range(len(heads))):
        changed = (*heads[:d], h, *heads[d + 1 :])
        if h not in (heads[d], d) and is_tree(changed):
            yield changed


@pytest.mark.parametrize("single_root", [False, True])
@settings(derandomize=True, max_examples=40)
@given(scores=drawn())
def test_hill_climbing_ends_where_no_change_helps(single_root: bool, scores: dict) -> None:
    oracle = SecondOrderEnumeration(scores, single_root=single_root)
    if not oracle.trees:
        return
    checked = second_order_scores(**scores)
    heads, score = second_order.hill_climb(checked, single_root=single_root)
    tree = tuple(heads.tolist())
    assert is_tree(tree)
    assert score >= oracle.trees[0][1] - 1e-9
    assert score == pytest.approx(score_by_definition(scores, tree), rel=1e-12, abs=1e-9)
    for changed in neighbours(tree):
        if not single_root or changed.count(0) == 1:
            assert score_by_definition(scores, changed) <= score + 1e-8


def test_hill_climbing_follows_the_steepest_change() -> None:
    """From a chain, step by step, as the definition climbs."""
    scores = random_scores(1, 5, 1.0, "grandparent")
    tree = (-1, 0, 1, 2, 3, 4)
    heads, _ = second_order.hill_climb(second_order_scores(**scores), start=tree)
    steps = 0
    while True:
        best = max(neighbours(tree), key=lambda changed: score_by_definition(scores, changed))
        if score_by_definition(scores, best) <= score_by_definition(scores, tree):
            break
        tree, steps = best, steps + 1
    assert steps > 1
    assert tuple(heads.tolist()) == tree


def test_bad_starts_are_refused() -> None:
    scores = second_order_scores(np.zeros((4, 4)))
    for start, message in (
        ([-1, 0, 1], "has 2 words, expected 3"),
        ([-1, 2, 1, 0], "are no tree"),
        ([-1, 0, -1, 1], "are no tree"),
    ):
        with pytest.raises(UsageError, match=message):
            second_order.hill_climb(scores, start=start)
    with pytest.raises(UsageError, match="forbidden"):
        second_order.hill_climb(scores, start=[-1, 0, 0, 1], single_root=True)
