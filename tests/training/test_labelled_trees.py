"""Losses of labelled trees against all labelled trees one by one, their gradients by finite differences."""

from functools import partial

import numpy as np
import pytest

from qsproj.conventions import frozen_heads
from qsproj.models.tree_decoder import TreeDecoder
from qsproj.training.objectives import (
    UNKNOWN,
    LabelledScores,
    LabelledTree,
    TreeLikelihood,
    partial_tree_likelihood,
)
from tests.oracles.finite_differences import gradient
from tests.oracles.labelled_trees import all_labelled_trees, disagreements, log_sum, score_of

N, L = 3, 3
# A tree of three words, and its relations.
HEADS, RELATIONS = (2, 0, 2), (1, 0, 2)
SHAPES = [(projective, single_root) for projective in (True, False) for single_root in (True, False)]


def random_scores(seed):
    """Scores of all labelled arcs over N words, of which some relations of wrong arcs are impossible."""
    rng = np.random.default_rng(seed)
    heads, dependents = np.nonzero(~np.eye(N + 1, dtype=bool) & (np.arange(N + 1) > 0))
    relations = 2.0 * rng.normal(size=(len(heads), L))
    for arc, (head, dependent) in enumerate(zip(heads, dependents, strict=True)):
        if HEADS[dependent - 1] != head and rng.random() < 0.5:
            relations[arc, rng.integers(L)] = -np.inf
    return LabelledScores(
        rng.normal(size=(N + 1, N + 1)), heads.astype(np.int32), dependents.astype(np.int32), relations
    )


def test_the_loss_of_a_hopeless_relation_has_no_cap():
    """Its chance, exp(-5000), is 0 in double precision."""
    arc = np.array([0], np.int32), np.array([1], np.int32)
    scores = LabelledScores(np.zeros((2, 2)), *arc, np.array([[0.0, -5000.0]]))
    infer = TreeDecoder(projective=True, single_root=True).infer
    loss, _, _ = loss_of((0,), (1,), margin=0.0, infer=infer).value_and_gradient(scores)
    assert loss == pytest.approx(5000.0)


def dense(scores):
    """Return the score of each labelled arc, [head][dependent][relation]."""
    table = np.full((N + 1, N + 1, L), -np.inf)
    table[scores.heads, scores.dependents] = (
        scores.arcs[scores.heads, scores.dependents][:, None] + scores.relations
    )
    return table.tolist()


def loss_of(heads, relations, *, margin, infer):
    """Return the loss of a tree, a head of -1 or a relation of UNKNOWN being missing."""
    frozen = frozen_heads([-1, *heads])
    if -1 not in heads:
        objective = TreeLikelihood(frozen, infer, margin)
    else:
        allowed = np.array([[h in (-1, row) for h in (-1, *heads)] for row in range(N + 1)])
        objective = partial_tree_likelihood(allowed, infer)
    return LabelledTree(objective, frozen, np.array([UNKNOWN, *relations]), margin)


@pytest.mark.parametrize(("projective", "single_root"), SHAPES)
@pytest.mark.parametrize(
    ("heads", "relations", "margin"),
    [
        (HEADS, RELATIONS, 0.0),
        (HEADS, RELATIONS, 1.0),
        (HEADS, (1, UNKNOWN, 2), 0.0),
        ((2, 0, -1), (1, 0, UNKNOWN), 0.0),
        ((-1, 0, -1), (1, 0, 2), 0.0),
    ],
    ids=["whole", "margin", "without a relation", "without a head", "two without"],
)
def test_a_loss_is_that_of_all_labelled_trees(projective, single_root, heads, relations, margin):
    """Log of the sum over all trees, each with its Hamming distance, less that over those that agree."""
    infer = TreeDecoder(projective=projective, single_root=single_root).infer
    scores = random_scores(7)
    table = dense(scores)
    right = tuple(zip(heads, relations, strict=True))

    def agrees(tree):
        return all(
            known_head in (-1, head) and (known_head == -1 or known in (UNKNOWN, relation))
            for (head, relation), (known_head, known) in zip(tree, right, strict=True)
        )

    trees = list(all_labelled_trees(N, L, projective=projective, single_root=single_root))
    everything = log_sum([score_of(tree, table) + margin * disagreements(tree, right) for tree in trees])
    agreeing = log_sum([score_of(tree, table) for tree in trees if agrees(tree)])
    loss, _, _ = loss_of(heads, relations, margin=margin, infer=infer).value_and_gradient(scores)
    assert loss == pytest.approx(everything - agreeing, abs=1e-9)


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize(
    ("heads", "relations", "margin"),
    [(HEADS, RELATIONS, 0.0), (HEADS, RELATIONS, 1.0), ((2, 0, -1), (1, UNKNOWN, 2), 0.0)],
    ids=["likelihood", "margin", "partial"],
)
def test_gradients_are_those_of_finite_differences(projective, heads, relations, margin):
    infer = TreeDecoder(projective=projective, single_root=True).infer
    scores = random_scores(3)
    objective = loss_of(heads, relations, margin=margin, infer=infer)

    def loss(arcs, of_relations):
        moved = LabelledScores(arcs, scores.heads, scores.dependents, of_relations)
        return objective.value_and_gradient(moved)[0]

    _, arc_slopes, slopes = objective.value_and_gradient(scores)
    by_arcs = gradient(partial(loss, of_relations=scores.relations), scores.arcs)
    by_relations = gradient(lambda point: loss(scores.arcs, point), scores.relations)
    possible = ~np.eye(N + 1, dtype=bool) & (np.arange(N + 1) > 0)
    assert np.allclose(np.where(possible, arc_slopes, 0.0), by_arcs, atol=1e-6)
    assert np.allclose(slopes, by_relations, atol=1e-6)
    assert np.abs(slopes).max() > 0.01


def test_summing_out_leaves_probabilities_of_relations():
    scores = random_scores(5)
    _, chances = scores.summed()
    assert np.allclose(chances.sum(axis=1), 1.0)
    assert np.all(chances[scores.relations == -np.inf] == 0.0)
