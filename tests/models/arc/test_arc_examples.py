"""What arc weights learn from: the objective of a tree by its name, against all trees one by one."""

from dataclasses import dataclass

import numpy as np
import pytest

from qsproj.conventions import frozen_heads
from qsproj.errors import UsageError
from qsproj.models.arc.arc_learners import (
    RISK_WEIGHT,
    SHARPNESS,
    check_finite,
    dev_score,
    gold_trees,
    training_examples,
    tree_examples,
    tree_objective,
    usable_sentences,
)
from qsproj.models.arc.arc_scorer import ArcExample, ArcScorer, ArcTrainer
from qsproj.models.arc.training_options import MARGIN, TrainingOptions, names_of
from qsproj.models.tree_decoder import TreeDecoder
from qsproj.training.loop import learn
from qsproj.training.objectives import Annealed, EvidenceLikelihood, Risk, weighed
from tests.oracles.trees import all_trees
from tests.sentences import make_sentence

INFERENCE = TreeDecoder(projective=False, single_root=False)
ONE_ROOT = TreeDecoder(projective=True, single_root=True)
HEADS = (-1, 2, 0, 2)


@pytest.fixture
def scores():
    return np.random.default_rng(3).normal(size=(4, 4))


def score(tree, scores):
    return sum(scores[head, word] for word, head in enumerate(tree) if word)


def wrong(tree):
    return sum(head != right for head, right in zip(tree[1:], HEADS[1:], strict=True))


@pytest.mark.parametrize("inference", [INFERENCE, ONE_ROOT])
@pytest.mark.parametrize("known", [(-1, 2, -1, -1), (-1, -1, 0, -1), HEADS])
def test_the_best_right_tree_is_that_of_all_that_agree(scores, inference, known):
    trees = all_trees(3, projective=inference.projective, single_root=inference.single_root)
    agreeing = [tree for tree in trees if all(h in (-1, t) for h, t in zip(known[1:], tree[1:], strict=True))]
    for each in (scores, -scores):
        expected = max(agreeing, key=lambda tree: score(tree, each))
        assert tuple(gold_trees(frozen_heads(known), inference).best(each).tolist()) == expected


@pytest.mark.parametrize(("name", "handicap"), [("margin", MARGIN), ("likelihood", 0.0)])
def test_the_loss_of_a_tree(scores, name, handicap):
    trees = list(all_trees(3, projective=False, single_root=False))
    log_z = np.logaddexp.reduce([score(tree, scores) + handicap * wrong(tree) for tree in trees])
    loss, _ = tree_objective(frozen_heads(HEADS), INFERENCE, name).value_and_gradient(scores)
    assert loss == pytest.approx(log_z - score(HEADS, scores), abs=1e-9)


def test_risk_is_the_expected_number_of_wrong_heads(scores):
    trees = list(all_trees(3, projective=False, single_root=False))
    weights = np.exp([score(tree, scores) for tree in trees])
    expected = sum(w * wrong(tree) for w, tree in zip(weights, trees, strict=True)) / weights.sum()
    loss, _ = Risk(frozen_heads(HEADS), INFERENCE.expect).value_and_gradient(scores)
    assert loss == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["margin", "likelihood", "risk"])
def test_what_a_partial_tree_does_not_say_is_summed_out(scores, name):
    trees = list(all_trees(3, projective=True, single_root=True))
    agreeing = [tree for tree in trees if tree[2] == 0]
    log_z, within = (np.logaddexp.reduce([score(tree, scores) for tree in of]) for of in (trees, agreeing))
    loss, _ = tree_objective(frozen_heads([-1, -1, 0, -1]), ONE_ROOT, name).value_and_gradient(scores)
    assert loss == pytest.approx(log_z - within, abs=1e-9)


def test_crossing_arcs_are_those_of_the_nearest_tree_that_a_projective_model_has():
    crossing = frozen_heads([-1, 3, 0, 2, 1])
    nearest = tree_objective(crossing, ONE_ROOT, "likelihood").heads
    assert 0 < np.count_nonzero(nearest != crossing) <= 2
    assert tree_objective(crossing, INFERENCE, "likelihood").heads.tolist() == crossing.tolist()


def test_a_tree_that_cannot_be_built_is_no_example():
    sentences = [
        make_sentence("a b", "X X", [0, 0]),
        make_sentence("a b", "X X", [2, 0]),
        make_sentence("a b c", "X X X", [-1, 1, 1]),
    ]
    made = tree_examples(sentences, ArcScorer.untrained("words"), ONE_ROOT, objective="margin")
    assert [example is None for example in made] == [True, False, False]


def test_risk_comes_after_likelihood_and_counts_more(scores):
    partial = make_sentence("a b c", "X X X", [-1, 0, -1])
    whole, known = training_examples(
        [make_sentence("a b c", "X X X", HEADS[1:]), partial],
        ArcScorer.untrained("words"),
        INFERENCE,
        TrainingOptions(objective="risk", epochs=5),
    )
    likelihood = tree_objective(frozen_heads(HEADS), INFERENCE, "likelihood")
    risk = Risk(frozen_heads(HEADS), INFERENCE.expect)
    stages = [whole.objective.in_epoch(epoch) for epoch in range(6)]
    losses = [stage.value_and_gradient(scores)[0] for stage in stages]
    assert losses == [stage.value_and_gradient(scores)[0] for stage in stages]
    assert stages[-1] is stages[-2]
    half_of_it = ArcExample(whole.encoded, weighed(0.5, whole.objective))
    halves = [half_of_it.objective.in_epoch(epoch) for epoch in range(6)]
    assert [half.value_and_gradient(scores)[0] for half in halves] == [loss / 2 for loss in losses]
    assert losses[:2] == [likelihood.value_and_gradient(scores)[0]] * 2
    assert losses[2] == pytest.approx(RISK_WEIGHT * risk.value_and_gradient(scores)[0])
    assert len(set(losses[2:])) == len(set(SHARPNESS))
    assert isinstance(known.objective, EvidenceLikelihood)


@dataclass(frozen=True)
class Constant:
    """An objective of no slope, that is known by its loss."""

    loss: float

    def value_and_gradient(self, scores):
        return self.loss, np.zeros_like(scores)


def test_an_objective_stays_for_an_epoch():
    trainer = ArcTrainer(ArcScorer.untrained("delexicalised"), rule=TrainingOptions().rule())
    encoded = trainer.live.encode(make_sentence("a b c", "X X X", HEADS[1:]))
    examples = [
        ArcExample(encoded, Annealed(Constant(1.0), 2, (Constant(2.0), Constant(3.0)))),
        ArcExample(encoded, Constant(5.0)),
    ]
    _, records = learn(trainer, examples, epochs=5, rng=np.random.default_rng(1))
    assert [record.loss for record in records] == [3.0, 3.0, 3.5, 4.0, 4.0]


def test_sentences_without_any_head_are_counted():
    bare, partial = make_sentence("a b", "X X"), make_sentence("a b", "X X", [-1, 1])
    assert usable_sentences([bare, partial, bare]) == ([partial], {"no head given": 2})


def test_dev_score_counts_known_heads_alone():
    class Chain:
        def parse_all(self, sentences, *, decode="mbr", confidence=False, known=None):
            for one in sentences:
                yield make_sentence(" ".join(one.forms), " ".join(one.upos), range(len(one)))

    assert dev_score([]) is None
    dev = [make_sentence("a b c", "X X X", [0, 3, -1]), make_sentence("a b", "X X", [0, 1])]
    assert dev_score(dev)(Chain()) == 75.0


def test_scores_that_are_no_numbers_end_training():
    check_finite(np.zeros(3), np.ones(2))
    with pytest.raises(UsageError, match="diverged"):
        check_finite(np.zeros(3), np.array([1.0, np.nan]))


def test_a_tree_that_cannot_be_teaches_nothing():
    two_roots = frozen_heads([-1, 0, 0, 1])
    assert tree_objective(two_roots, ONE_ROOT, "margin") is None
    sentence = make_sentence("a b c", "X X X", [0, 0, 1])
    for objective in names_of():
        options = TrainingOptions(objective=objective)
        scorer = ArcScorer.untrained("words")
        assert training_examples([sentence], scorer, ONE_ROOT, options) == [None]
        assert training_examples([sentence], scorer, INFERENCE, options) != [None]
