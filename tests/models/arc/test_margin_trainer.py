"""MIRA over hashed features: after a step the margins hold. The perceptron: its mean is the naive one."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize

from qsproj.conventions import frozen_heads
from qsproj.corpus.conllu import read_conllu
from qsproj.kernels.features.arc_features import list_arcs
from qsproj.models.arc.arc_learners import GoldTrees, MarginTrainer, gold_trees, right_heads, tree_objective
from qsproj.models.arc.arc_scorer import ArcExample, ArcScorer, ArcTrainer, LossExample
from qsproj.models.arc.arc_training import scaled_to_likelihood, train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.tree_decoder import TreeDecoder, of_tree
from qsproj.training.margins import LeastChange
from qsproj.training.optimiser import PlainSteps
from tests.sentences import make_sentence

SENTENCE = make_sentence(
    "Der Hund , der laut bellt , sieht die alte Katze",
    "DET NOUN PUNCT PRON ADV VERB PUNCT VERB DET ADJ NOUN",
    [2, 8, 6, 6, 6, 2, 6, 0, 11, 11, 8],
)
ALIKE = make_sentence("a " * 10, "X " * 10, [2, 0, 2, 2, 4, 4, 6, 6, 8, 8])
TREES = TreeDecoder(projective=True, single_root=True)


@pytest.fixture(scope="module")
def sample():
    return list(read_conllu("corpora/en.conllu"))


@pytest.mark.parametrize("margins", [lambda right: right.margins(k=7), GoldTrees.arc_margins])
def test_after_a_step_the_margins_hold(margins):
    for seed in range(5):
        trainer = MarginTrainer(ArcScorer.untrained("words"), rule=LeastChange)
        noise = np.random.default_rng(seed).normal(scale=0.1, size=len(trainer.rule.weights))
        trainer.rule.weights[:] = noise
        example = LossExample(trainer.live.encode(SENTENCE), margins(gold_trees(SENTENCE.heads, TREES)))
        features = trainer.live.features(example.encoded)
        before = trainer.live.scores(features)
        constraints = example.objective.constraints(before)
        assert trainer.step(example) == pytest.approx(constraints.slacks(before).max())
        assert constraints.slacks(before).max() > 1.0
        assert constraints.slacks(trainer.live.scores(features)).max() < 0.01


@pytest.mark.parametrize("sentence", [SENTENCE, ALIKE], ids=["different words", "words alike"])
@pytest.mark.parametrize("seed", range(3))
def test_of_many_margins_too_the_change_is_the_least(sentence, seed):
    """About 100 constraints, met in rounds of those that are broken, against a general solver for all.

    What rounds before have moved may become too much: it has to be taken back.
    """
    limit = 0.05
    trainer = MarginTrainer(ArcScorer.untrained("delexicalised"), rule=partial(LeastChange, limit=limit))
    start = np.random.default_rng(seed).normal(scale=0.3, size=len(trainer.rule.weights)).astype(np.float32)
    trainer.rule.weights[:] = start
    example = LossExample(trainer.live.encode(sentence), gold_trees(sentence.heads, TREES).arc_margins())
    features = trainer.live.features(example.encoded)
    constraints = example.objective.constraints(trainer.live.scores(features))
    slacks = constraints.slacks(trainer.live.scores(features))
    assert len(slacks) > 64
    assert np.sum(slacks <= 0.0) > 10
    starts, buckets = list_arcs(features, constraints.heads, constraints.dependents, trainer.support)
    used, columns = np.unique(buckets, return_inverse=True)
    arcs = np.zeros((len(constraints.heads), len(used)))
    np.add.at(arcs, (np.repeat(np.arange(len(arcs)), np.diff(starts)), columns), 1.0)
    vectors = np.add.reduceat(constraints.signs[:, None] * arcs[constraints.members], constraints.starts[:-1])
    products = vectors @ vectors.T
    solved = minimize(
        lambda a: (0.5 * a @ products @ a - a @ slacks, products @ a - slacks),
        np.zeros(len(slacks)),
        jac=True,
        bounds=[(0.0, limit)] * len(slacks),
        method="L-BFGS-B",
        options={"maxiter": 10000, "ftol": 1e-12},
    )
    trainer.step(example)
    change = (trainer.rule.weights - start).astype(np.float64)
    missed = np.maximum(constraints.slacks(trainer.live.scores(features)), 0.0).sum()
    assert 0.5 * change @ change + limit * missed == pytest.approx(-solved.fun, rel=1e-3)


def test_next_to_nothing_is_asked_of_weights_that_keep_all_margins():
    trainer = MarginTrainer(ArcScorer.untrained("words"), rule=LeastChange)
    example = LossExample(trainer.live.encode(SENTENCE), gold_trees(SENTENCE.heads, TREES).arc_margins())
    assert trainer.step(example) > 0.0
    reached = trainer.rule.weights.copy()
    trainer.step(example)
    np.testing.assert_allclose(trainer.rule.weights, reached, atol=1e-4)


def test_the_perceptron_is_the_mean_of_all_weights_passed_through():
    trainer, past = ArcTrainer(ArcScorer.untrained("words"), rule=PlainSteps), []
    encoded = trainer.live.encode(SENTENCE)
    for heads in (SENTENCE.heads, frozen_heads([-1, *range(11)]), SENTENCE.heads):
        before = trainer.rule.weights.copy()
        features = trainer.live.features(encoded)
        scores = trainer.live.scores(features)
        trainer.step(ArcExample(encoded, tree_objective(heads, TREES, "perceptron")))
        moved = trainer.live.scores(features) - scores
        wrong = TREES.best(scores)
        if np.any(wrong != heads):
            assert moved[heads[1:], np.arange(1, 12)].sum() > moved[wrong[1:], np.arange(1, 12)].sum()
        assert np.all((trainer.rule.weights - before) % 1.0 == 0.0)
        past.append(trainer.rule.weights.copy())
    np.testing.assert_allclose(trainer.averaged().weights, np.mean(past, axis=0), atol=1e-6)


@pytest.mark.parametrize("objective", ["perceptron", "mira", "mira-kbest", "mira-factored", "eg"])
def test_training_finds_trees_and_gives_their_scores_a_scale(sample, objective):
    options = TrainingOptions(objective=objective, epochs=5, template_set="words", best=2, cost=0.05)
    parser, _ = train_arc_parser(sample[:15], rng=np.random.default_rng(1), options=options)
    found = [
        (parser.heads(parser.scores(s)), parser.heads(parser.scores(s), decode="map")) for s in sample[:15]
    ]
    for trees in zip(*found, strict=True):
        assert right_heads(sample[:15], trees) > 95.0
    rescaled = scaled_to_likelihood(parser.scorer, sample[:15], parser.inference)
    assert rescaled.weights.max() == pytest.approx(parser.scorer.weights.max(), rel=0.05)


def test_held_out_trees_are_scored_before_scores_have_a_scale(sample):
    options = TrainingOptions(objective="mira", epochs=4, template_set="words")
    rng = np.random.default_rng(1)
    _, report = train_arc_parser(sample[:15], dev=sample[:15], rng=rng, options=options)
    assert max(record.score for record in report.epochs) > 95.0


@pytest.mark.parametrize("objective", ["perceptron", "mira"])
def test_the_scale_is_the_one_under_which_held_out_trees_are_most_probable(sample, objective):
    options = TrainingOptions(objective=objective, epochs=2, template_set="words")
    dev = sample[40:80]
    parser, _ = train_arc_parser(sample[:40], dev=dev, rng=np.random.default_rng(1), options=options)

    def loss(scale):
        scores = [scale * parser.scores(sentence) for sentence in dev]
        log_zs = [parser.inference.infer(matrix)[0] for matrix in scores]
        trees = [of_tree(matrix, s.heads).sum() for matrix, s in zip(scores, dev, strict=True)]
        return sum(log_zs) - sum(trees)

    assert loss(1.0) < min(loss(0.93), loss(1.07))


def test_weights_without_any_spread_keep_their_scale():
    trainer = ArcTrainer(ArcScorer.untrained("words"), rule=PlainSteps)
    assert not scaled_to_likelihood(trainer.averaged(), [SENTENCE], TREES).weights.any()
