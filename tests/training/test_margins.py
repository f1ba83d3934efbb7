"""The constraints of MIRA against the margins of trees, one by one."""

import numpy as np
import pytest

from qsproj.conventions import frozen_heads
from qsproj.models.arc.arc_learners import gold_trees
from qsproj.models.tree_decoder import TreeDecoder
from tests.oracles.trees import all_trees, tree_score

HEADS = frozen_heads([-1, 2, 0, 2, 3])
PARTIAL = frozen_heads([-1, -1, 0, 2, -1])
ANY = TreeDecoder(projective=False, single_root=False)


def scores_of(seed):
    return np.random.default_rng(seed).normal(size=(5, 5))


def ranked(scores, *, cost=0.0, heads=HEADS):
    """Return all trees, best first, each wrong head counting ``cost`` more."""
    trees = all_trees(4, projective=False, single_root=False)
    return sorted(
        trees, key=lambda tree: tree_score(scores.tolist(), tree) + cost * wrong(tree, heads), reverse=True
    )


def wrong(tree, heads=HEADS):
    return sum(known not in (-1, head) for known, head in zip(heads[1:], tree[1:], strict=True))


@pytest.mark.parametrize("cost", [0.0, 1.0])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_each_of_the_best_trees_is_to_lose_by_its_wrong_heads(k, cost):
    for seed in range(6):
        scores = scores_of(seed)
        constraints = gold_trees(HEADS, ANY).margins(k=k, cost=cost).constraints(scores)
        own = tree_score(scores.tolist(), tuple(HEADS))
        rivals = [tree for tree in ranked(scores, cost=cost)[:k] if wrong(tree)]
        expected = [wrong(tree) - own + tree_score(scores.tolist(), tree) for tree in rivals]
        np.testing.assert_allclose(constraints.slacks(scores), expected, atol=1e-9)
        np.testing.assert_allclose(constraints.bounds, [wrong(tree) for tree in rivals])


def test_more_trees_than_there_are_is_all_of_them():
    constraints = gold_trees(HEADS, ANY).margins(k=10_000).constraints(scores_of(0))
    assert len(constraints) == len(list(all_trees(4, projective=False, single_root=False))) - 1


def test_of_a_partial_tree_the_best_that_agrees_is_to_win():
    scores = scores_of(5)
    constraints = gold_trees(PARTIAL, ANY).margins(k=3).constraints(scores)
    best = next(tree for tree in ranked(scores) if not wrong(tree, PARTIAL))
    rivals = [tree for tree in ranked(scores)[:3] if wrong(tree, PARTIAL)]
    own = tree_score(scores.tolist(), best)
    expected = [wrong(tree, PARTIAL) - own + tree_score(scores.tolist(), tree) for tree in rivals]
    np.testing.assert_allclose(constraints.slacks(scores), expected, atol=1e-9)


def test_arcs_that_win_by_one_make_a_tree_that_wins_by_its_wrong_heads():
    scores = scores_of(2)
    scores[HEADS[1:], np.arange(1, 5)] = scores.max(axis=0)[1:] + 1.0
    assert np.all(gold_trees(HEADS, ANY).arc_margins().constraints(scores).slacks(scores) <= 1e-12)
    constraints = gold_trees(HEADS, ANY).margins(k=10_000).constraints(scores)
    assert np.all(constraints.slacks(scores) <= 1e-9)


def test_known_arcs_are_to_win_against_all_that_are_not_forbidden():
    scores = scores_of(1)
    scores[4, 2] = -np.inf
    constraints = gold_trees(PARTIAL, ANY).arc_margins().constraints(scores)
    pairs = [(0, 2, h) for h in (1, 3)] + [(2, 3, h) for h in (0, 1, 4)]
    expected = sorted(1.0 - scores[right, word] + scores[other, word] for right, word, other in pairs)
    np.testing.assert_allclose(np.sort(constraints.slacks(scores)), expected)


def test_chosen_constraints_keep_their_slacks():
    scores = scores_of(4)
    constraints = gold_trees(HEADS, ANY).arc_margins().constraints(scores)
    which = np.arange(len(constraints)) % 3 == 1
    chosen = constraints.chosen(which)
    np.testing.assert_allclose(chosen.slacks(scores), constraints.slacks(scores)[which])
    assert len(chosen.heads) < len(constraints.heads)
