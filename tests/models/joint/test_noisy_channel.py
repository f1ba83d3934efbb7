"""What a source tree teaches a parser of the target: gradients against differences by enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.bp.run import Status
from qsproj.models.joint.joint_options import Propagation
from qsproj.models.joint.joint_structure import NO_VARIABLE
from qsproj.models.joint.noisy_channel import (
    SourceTreeLikelihood,
    channel_structure,
    forest_evidence,
    tree_evidence,
)
from qsproj.models.tree_decoder import TreeDecoder
from tests.models.joint.test_joint_structure import all_trees, draw_scores, structure_of
from tests.oracles import finite_differences
from tests.oracles.factor_graphs import log_sum
from tests.oracles.noisy_channel import log_probability

TREES = TreeDecoder(projective=False, single_root=False)
PRECISE = Propagation(max_iterations=200, tolerance=1e-10)
WORDS = 3
LINK = (1, 2)


def likelihood(structure, scores, seen):
    return SourceTreeLikelihood(
        structure=channel_structure(structure),
        scores=scores,
        seen=seen,
        target_trees=TREES,
        propagation=PRECISE,
    )


def random_case(rng, *, scale=1.0, links=(LINK,), families=("MONO",)):
    """Return a structure, its scores, and arc scores of the target (column 0 and diagonal are not read)."""
    structure = structure_of(WORDS, WORDS, list(links), families)
    return structure, draw_scores(structure, rng, scale), scale * rng.normal(size=(WORDS + 1, WORDS + 1))


def scores_alone(scores):
    """Return what the oracle asks of a case of one link and one factor."""
    assert len(scores.factors) == 1
    fertility = scores.fertility[[LINK[0] - 1, WORDS + LINK[1] - 1]].sum(axis=0)
    return {
        "absent": fertility[0],
        "present": fertility[1] + scores.links[0],
        "factor": scores.factors[0],
    }


def test_the_gradient_is_that_of_what_a_source_forest_has_in_common_with_its_explanation():
    """By enumeration: the log-probability that both draw the same tree."""
    rng = np.random.default_rng(5)
    trees = all_trees(WORDS)
    largest = 0.0
    for _ in range(4):
        structure, scores, target_scores = random_case(rng, scale=1.5)
        forest = 1.5 * rng.normal(size=(WORDS + 1, WORDS + 1))
        alone = scores_alone(scores)
        by_tree = [sum(forest[tree[d], d] for d in range(1, WORDS + 1)) for tree in trees]
        of_forest = [score - log_sum(by_tree) for score in by_tree]

        def loss(point, scores=scores, alone=alone, of_forest=of_forest):
            explained = [
                log_probability(tree, point, scores.source, LINK, alone, (trees, trees)) for tree in trees
            ]
            return -log_sum([one + other for one, other in zip(explained, of_forest)])

        objective = likelihood(structure, scores, forest_evidence(forest, TREES))
        expected = finite_differences.gradient(loss, target_scores)
        _, gradient = objective.value_and_gradient(target_scores)
        np.testing.assert_allclose(gradient, expected, atol=1e-7)
        largest = max(largest, np.abs(expected).max())
    assert largest > 0.001


def test_agreement_with_a_forest_of_one_tree_is_that_tree():
    structure, scores, target_scores = random_case(np.random.default_rng(6))
    heads = all_trees(WORDS)[5]
    sure = np.full((WORDS + 1, WORDS + 1), -60.0)
    sure[heads[1:], np.arange(1, WORDS + 1)] = 60.0
    tree, forest = (
        likelihood(structure, scores, seen).value_and_gradient(target_scores)
        for seen in (tree_evidence(heads), forest_evidence(sure, TREES))
    )
    assert forest[0] == pytest.approx(tree[0])
    np.testing.assert_allclose(forest[1], tree[1], atol=1e-9)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_gradient_is_that_of_the_source_trees_log_probability(scale):
    """One link, one factor: belief propagation is exact, so the whole chain of derivatives can be checked."""
    rng = np.random.default_rng(1)
    trees = all_trees(WORDS)
    largest = 0.0
    for _ in range(6):
        structure, scores, target_scores = random_case(rng, scale=scale)
        heads = trees[rng.integers(len(trees))]
        alone = scores_alone(scores)

        def loss(point, heads=heads, scores=scores, alone=alone):
            return -log_probability(heads, point, scores.source, LINK, alone, (trees, trees))

        objective = likelihood(structure, scores, tree_evidence(heads))
        expected = finite_differences.gradient(loss, target_scores)
        _, gradient = objective.value_and_gradient(target_scores)
        np.testing.assert_allclose(gradient, expected, atol=1e-7)
        assert objective.statuses == {Status.CONVERGED: 2}
        largest = max(largest, np.abs(expected).max())
    assert largest > 0.01


def test_the_loss_is_what_the_source_tree_costs_without_being_seen():
    """Without factors the two sides do not meet: the loss is that of the source parser, the gradient zero."""
    rng = np.random.default_rng(2)
    structure, scores, target_scores = random_case(rng)
    apart = replace(scores, factors=np.zeros_like(scores.factors))
    heads = all_trees(WORDS)[5]
    loss, gradient = likelihood(structure, apart, tree_evidence(heads)).value_and_gradient(target_scores)
    own = TREES.infer(scores.source)[1][heads[1:], np.arange(1, WORDS + 1)]
    assert loss == pytest.approx(-np.log(own).sum())
    np.testing.assert_allclose(gradient, 0.0, atol=1e-8)


def test_parallel_arcs_are_learned_from_a_source_tree():
    """All words linked, parallel arcs rewarded: steps down the gradient find the source tree's image."""
    links = [(word, word) for word in range(1, WORDS + 1)]
    structure, scores, _ = random_case(np.random.default_rng(3), links=links)
    certain = replace(
        scores,
        source=np.zeros_like(scores.source),
        links=np.full_like(scores.links, 4.0),
        fertility=np.zeros_like(scores.fertility),
        factors=np.ones_like(scores.factors),
    )
    for heads in all_trees(WORDS)[::3]:
        objective = likelihood(structure, certain, tree_evidence(heads))
        target_scores = np.zeros((WORDS + 1, WORDS + 1))
        for _ in range(30):
            target_scores -= objective.value_and_gradient(target_scores)[1]
        assert TREES.best(target_scores).tolist() == heads.tolist()


@pytest.mark.parametrize("score", [8.0, 400.0])
def test_a_parser_that_is_sure_is_not_moved(score):
    """Log-odds beyond the limit pass nothing back, and nothing overflows on the way."""
    structure, scores, _ = random_case(np.random.default_rng(4), families=("MONO", "SWAP", "SSIB", "TGRAND"))
    sure = np.full((WORDS + 1, WORDS + 1), -score)
    sure[[0, 1, 2], [1, 2, 3]] = score
    first = tree_evidence(all_trees(WORDS)[0])
    _, gradient = likelihood(structure, scores, first).value_and_gradient(sure)
    np.testing.assert_array_equal(gradient, 0.0)


def test_target_arcs_have_messages_and_no_tree():
    structure = structure_of(WORDS, WORDS, [LINK], ("MONO",))
    channel = channel_structure(structure)
    arcs = structure.target.arcs[structure.target.arcs != NO_VARIABLE]
    assert channel.rows[len(structure.rows) :, 0].tolist() == arcs.tolist()
    assert not channel.rows[len(structure.rows) :, 1:].any()
    assert len(channel.rows) == len(channel.families) == len(channel.words)
    assert channel.target.trees is None
    assert structure.target.trees is not None
