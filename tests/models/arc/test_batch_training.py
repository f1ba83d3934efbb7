"""The loss of all sentences: its gradient by finite differences, and general optimisers at its minimum."""

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.errors import UsageError
from qsproj.models.arc.arc_learners import BatchLoss, minimise, tree_examples
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.tree_decoder import TreeDecoder

TREES = TreeDecoder(projective=True, single_root=True)


@pytest.fixture(scope="module")
def sentences():
    return list(read_conllu("corpora/en.conllu"))[:4]


@pytest.fixture(scope="module")
def examples(sentences):
    return tree_examples(sentences, ArcScorer.untrained("delexicalised"), TREES, objective="likelihood")


@pytest.fixture
def loss(examples):
    made = BatchLoss(ArcScorer.untrained("delexicalised"), l2=0.5)
    made.prepare(examples)
    return made


def test_the_gradient_equals_finite_differences(loss):
    rng = np.random.default_rng(3)
    weights = rng.normal(scale=0.1, size=len(loss.buckets))
    _, gradient = loss.value_and_gradient(weights)
    for _ in range(5):
        direction = rng.normal(size=len(weights)) / len(weights) ** 0.5
        above, below = (loss.value_and_gradient(weights + step * direction)[0] for step in (1e-2, -1e-2))
        assert gradient @ direction == pytest.approx((above - below) / 2e-2, rel=1e-3, abs=1e-3)


def test_the_loss_is_that_of_all_sentences_and_half_the_squared_weights(loss, examples):
    weights = np.random.default_rng(4).normal(scale=0.1, size=len(loss.buckets))
    scorer = loss.scorer(weights)
    scores = [scorer.scores(scorer.features(example.encoded)) for example in examples]
    losses = [e.objective.value_and_gradient(s)[0] for e, s in zip(examples, scores, strict=True)]
    value, _ = loss.value_and_gradient(weights)
    assert value == pytest.approx(sum(losses) + 0.25 * weights @ weights, rel=1e-5)


@pytest.mark.parametrize("optimizer", ["lbfgs", "cg"])
def test_the_minimum_has_no_slope(loss, examples, optimizer):
    scorer, records = minimise(loss, examples, optimizer=optimizer, iterations=60)
    weights = scorer.weights[loss.buckets].astype(np.float64)
    _, slope = loss.value_and_gradient(weights)
    _, at_zero = loss.value_and_gradient(np.zeros(len(weights)))
    assert np.linalg.norm(slope) < 0.01 * np.linalg.norm(at_zero)
    assert records[-1].loss < records[0].loss
    assert [record.epoch for record in records] == list(range(1, len(records) + 1))
    # What no candidate arc has stays zero.
    assert np.count_nonzero(scorer.weights) <= len(loss.buckets)


def test_held_out_trees_choose_the_step(loss, examples):
    seen = []

    def score(scorer):
        seen.append(scorer)
        return -abs(len(seen) - 3)

    scorer, records = minimise(loss, examples, optimizer="lbfgs", iterations=6, score=score)
    assert scorer is seen[2]
    assert [record.score for record in records] == [-2, -1, 0, -1, -2, -3][: len(records)]


def test_parsers_are_trained_by_it(sentences):
    options = TrainingOptions(
        objective="likelihood", optimizer="lbfgs", epochs=9, l2=1.0, template_set="words"
    )
    parser, _ = train_arc_parser(sentences, rng=np.random.default_rng(1), options=options)
    assert all(parser.parse(one).heads.tolist() == one.heads.tolist() for one in sentences)


def test_optimisers_that_do_not_fit_are_refused(sentences):
    options = TrainingOptions(optimizer="cg", objective="mira")
    with pytest.raises(UsageError, match="--optimizer cg requires an objective that does not change"):
        train_arc_parser(sentences, rng=np.random.default_rng(1), options=options)
