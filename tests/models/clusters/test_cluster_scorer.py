"""Hidden clusters against all trees with all clusters, finite differences, and training that has none."""

import itertools
from functools import partial

import numpy as np
import pytest

from qsproj.conventions import frozen_heads
from qsproj.corpus.conllu import read_conllu
from qsproj.models.arc.arc_learners import tree_examples, tree_objective
from qsproj.models.arc.arc_scorer import ArcScorer, ArcTrainer, bit_mask
from qsproj.models.clusters.cluster_parser import ClusterTrainer, random_start, summed_out
from qsproj.models.tree_decoder import TreeDecoder
from qsproj.training.optimiser import AdaGrad, PlainSteps
from tests.oracles.trees import all_trees

WORDS, CLUSTERS, BITS = 3, 2, 14
INFERENCES = [
    TreeDecoder(projective=projective, single_root=single_root)
    for projective in (True, False)
    for single_root in (True, False)
]
TREES = INFERENCES[0]


def clustered_trees(scores, inference):
    """Yield every tree with every choice of clusters, and the exponential of its score."""
    for tree in all_trees(WORDS, projective=inference.projective, single_root=inference.single_root):
        for clusters in itertools.product(range(CLUSTERS), repeat=WORDS):
            arcs = zip(tree[1:], range(1, WORDS + 1), clusters, strict=True)
            yield tree, clusters, np.exp(sum(scores[arc] for arc in arcs))


@pytest.fixture
def scores():
    return np.random.default_rng(3).normal(scale=2.0, size=(WORDS + 1, WORDS + 1, CLUSTERS))


@pytest.mark.parametrize("inference", INFERENCES, ids=str)
@pytest.mark.parametrize("known", [(-1, 2, 0, 2), (-1, 2, -1, -1)])
def test_the_loss_is_that_of_the_tree_with_all_clusters(scores, inference, known):
    loss, _ = tree_objective(frozen_heads(known), inference, "hidden").value_and_gradient(
        summed_out(scores)[0]
    )
    agreeing = total = 0.0
    for tree, _, weight in clustered_trees(scores, inference):
        total += weight
        agreeing += weight * all(k in (-1, head) for k, head in zip(known[1:], tree[1:], strict=True))
    assert loss == pytest.approx(np.log(total) - np.log(agreeing))


@pytest.mark.parametrize("inference", INFERENCES, ids=str)
def test_expectations_of_arcs_in_clusters_are_those_over_all(scores, inference):
    arcs, chances = summed_out(scores)
    expected = inference.infer(arcs)[1][:, :, None] * chances
    wanted, total = np.zeros_like(expected), 0.0
    for tree, clusters, weight in clustered_trees(scores, inference):
        total += weight
        for word in range(1, WORDS + 1):
            wanted[tree[word], word, clusters[word - 1]] += weight
    np.testing.assert_allclose(expected[:, 1:], wanted[:, 1:] / total, atol=1e-12)


def test_strong_scores_do_not_leave_the_range_of_numbers(scores):
    arcs, chances = summed_out(1e4 * scores)
    np.testing.assert_allclose(arcs, 1e4 * scores.max(axis=2))
    np.testing.assert_allclose(chances.sum(axis=2), 1.0)


@pytest.fixture(scope="module")
def examples():
    sentences = list(read_conllu("corpora/en.conllu"))[:4]
    return tree_examples(sentences, ArcScorer.untrained("delexicalised"), TREES, objective="hidden")


def trainer_with(rule, *, clusters=CLUSTERS, deviation=0.1):
    support = bit_mask(np.ones(1 << BITS, dtype=bool))
    rng = np.random.default_rng(1)
    start = random_start("delexicalised", clusters, support, rng, deviation=deviation)
    return ClusterTrainer(start, support, rule=rule)


def loss_at(weights, examples):
    """The loss of all sentences under weights float64[buckets * C], by scores of their own."""
    trainer = trainer_with(PlainSteps)
    trainer.rule.weights[:] = weights
    return sum(trainer.gather(example) for example in examples)


def test_the_gradient_equals_finite_differences(examples):
    trainer = trainer_with(PlainSteps)
    weights = trainer.rule.weights.astype(np.float64)
    for example in examples:
        trainer.gather(example, negligible=0.0)
    gradient = trainer.rule.gradient.astype(np.float64)
    rng = np.random.default_rng(2)
    for _ in range(4):
        direction = rng.normal(size=len(weights)) / 30.0
        above, below = (loss_at(weights + step * direction, examples) for step in (1e-2, -1e-2))
        assert gradient @ direction == pytest.approx((above - below) / 2e-2, rel=1e-3, abs=1e-3)


def test_the_likelihood_never_falls_in_small_steps_of_all_sentences(examples):
    trainer = trainer_with(PlainSteps)
    losses = []
    for _ in range(12):
        losses.append(sum(trainer.gather(example, negligible=0.0) for example in examples))
        trainer.rule.gradient *= 2e-3
        trainer.rule.step()
    assert all(after < before for before, after in itertools.pairwise(losses))
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize("clusters", [1, 3])
def test_clusters_that_are_alike_learn_what_likelihood_does(examples, clusters):
    """As long as penalties are divided by their number, clusters without chance add nothing."""
    l2 = 5.0
    rule = partial(AdaGrad, rate=0.1)
    hidden = trainer_with(partial(rule, l2=l2 / clusters), clusters=clusters, deviation=0.0)
    plain = ArcTrainer(
        ArcScorer.untrained("delexicalised", hash_bits=BITS), hidden.support, rule=partial(rule, l2=l2)
    )
    for trainer in (hidden, plain):
        for _ in range(3):
            for example in examples:
                trainer.step(example)
            trainer.regularise()
    found, wanted = hidden.averaged().weights, plain.averaged().weights
    assert np.abs(wanted).max() > 0.05
    np.testing.assert_allclose(found, np.repeat(wanted[:, None], clusters, axis=1), atol=1e-4)


def test_clusters_that_differ_by_chance_part(examples):
    trainer = trainer_with(partial(AdaGrad, rate=0.1))
    for _ in range(5):
        for example in examples:
            trainer.step(example)
    scorer = trainer.averaged()
    chances = summed_out(scorer.cluster_scores(scorer.features(examples[0].encoded)))[1]
    assert np.abs(chances[:, 1:, 0] - 0.5).max() > 0.2


def test_a_start_is_drawn_for_the_features_that_there_are():
    chosen = np.zeros(1 << BITS, dtype=bool)
    chosen[[3, 64, 1000]] = True
    support = np.packbits(chosen, bitorder="little").view(np.uint64)
    start = random_start("words", 4, support, np.random.default_rng(1), deviation=0.5)
    assert np.array_equal(np.flatnonzero(start.weights.any(axis=1)), [3, 64, 1000])
