"""Exponentiated gradient: the dual objective rises to the primal one, weights are made of distributions."""

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.models.arc.arc_learners import ExponentiatedTrainer, training_examples
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.tree_decoder import TreeDecoder
from qsproj.progress import notices
from qsproj.training.margins import START, DualTree
from tests.oracles.trees import all_trees, tree_score
from tests.sentences import make_sentence

TREES = TreeDecoder(projective=True, single_root=True)
COST = 0.005


@pytest.fixture(scope="module")
def sentences():
    return list(read_conllu("corpora/en.conllu"))[:6]


def dual_examples(sentences, template_set="delexicalised"):
    return training_examples(
        sentences, ArcScorer.untrained(template_set), TREES, TrainingOptions(objective="eg")
    )


def missed_margins(trainer, sentences):
    """Return the sum over sentences of how far the worst tree is from losing by its wrong heads."""
    missed = 0.0
    for sentence in sentences:
        scores = trainer.live.scores(trainer.live.features(trainer.live.encode(sentence)))
        words = np.arange(1, len(sentence) + 1)
        costly = scores + 1.0
        costly[sentence.heads[1:], words] -= 1.0
        worst = TREES.best(costly)
        missed += costly[worst[1:], words].sum() - scores[sentence.heads[1:], words].sum()
    return missed


def test_the_dual_objective_never_falls_and_meets_the_primal_one(sentences):
    trainer = ExponentiatedTrainer(ArcScorer.untrained("delexicalised"), cost=COST)
    examples = dual_examples(sentences)
    duals, gaps = [], []
    for _ in range(60):
        for example in examples:
            trainer.step(example)
        trainer.regularise()
        weights = trainer.rule.weights.astype(np.float64)
        primal = COST * missed_margins(trainer, sentences) + 0.5 * weights @ weights
        duals.append(trainer.dual)
        gaps.append(primal - trainer.dual)
    assert np.all(np.diff(duals) > -1e-3 * duals[-1])
    assert min(gaps) > -1e-2 * duals[-1]
    assert gaps[-1] < 0.1 * duals[-1] < 0.1 * gaps[0]


@pytest.mark.parametrize("cost", [0.1, 1.0, 10.0, 100.0])
def test_steps_fit_however_much_a_missed_margin_costs(sentences, cost):
    """Steps of full size threw the dual objective to minus millions, and training ended in bad trees."""
    trainer = ExponentiatedTrainer(ArcScorer.untrained("delexicalised"), cost=cost)
    examples = dual_examples(sentences)
    duals = []
    for _ in range(20):
        for example in examples:
            trainer.step(example)
        trainer.regularise()
        duals.append(trainer.dual)
    assert duals[0] > 0.0
    assert np.all(np.diff(duals) > -1e-3 * duals[-1])
    assert duals[-1] > 1.2 * duals[0]
    # What was taken back is out of the weights: they are what the distributions have put in, no more.
    scores = [trainer.live.scores(trainer.live.features(example.encoded)) for example in examples]
    right = sum(
        one[s.heads[1:], np.arange(1, len(s) + 1)].sum() for one, s in zip(scores, sentences, strict=True)
    )
    expected = sum((one * e.objective._in_weights).sum() for one, e in zip(scores, examples, strict=True))
    weights = trainer.rule.weights.astype(np.float64)
    assert weights @ weights == pytest.approx(cost * (right - expected), rel=1e-3)


def test_weights_are_what_the_distributions_put_in(sentences):
    trainer = ExponentiatedTrainer(ArcScorer.untrained("delexicalised"), cost=COST)
    encoded = trainer.live.encode(sentences[0])
    (example,) = dual_examples(sentences[:1])
    change = example.objective.ascend(trainer.live.scores(trainer.live.features(encoded)), share=1.0)
    assert change[sentences[0].heads[1:], np.arange(1, len(sentences[0]) + 1)].max() <= 0.0
    # Each word has one head, so that what one arc gains others lose, but for what is negligible.
    np.testing.assert_allclose(change[:, 1:].sum(axis=0), 0.0, atol=1e-2)
    assert example.objective.wrong == pytest.approx(-change.min(axis=0)[1:].sum(), abs=1e-2)


def test_a_step_multiplies_the_probability_of_a_tree_by_the_exponential_of_its_loss():
    heads = np.array([-1, 2, 0, 2], dtype=np.int32)
    scores = np.random.default_rng(3).normal(size=(4, 4))
    change = DualTree(heads, TREES.infer).ascend(scores, share=0.7)
    trees = list(all_trees(3, projective=True, single_root=True))

    def wrong(tree):
        return sum(head != right for head, right in zip(tree[1:], heads[1:], strict=True))

    logs = [START * (3 - wrong(t)) + 0.7 * (wrong(t) + tree_score(scores.tolist(), t)) for t in trees]
    chances = np.exp(logs - np.logaddexp.reduce(logs))
    for head in range(4):
        for word in range(1, 4):
            expected = sum(p for p, tree in zip(chances, trees, strict=True) if tree[word] == head)
            assert change[head, word] == pytest.approx(expected - (heads[word] == head), abs=1.1e-3)


def test_an_epoch_that_lowers_the_dual_objective_halves_the_steps(sentences):
    """The dual objective of no sentence at all is 0, which is less than it was."""
    for halvings in range(3):
        trainer = ExponentiatedTrainer(ArcScorer.untrained("delexicalised"), cost=COST)
        for _ in range(halvings):
            trainer.dual = 1.0
            trainer.regularise()
        one, other = dual_examples([sentences[0]] * 2)
        trainer.step(one)
        other.objective.ascend(np.zeros((len(sentences[0]) + 1,) * 2), share=0.5**halvings)
        assert one.objective.wrong == pytest.approx(other.objective.wrong, rel=1e-9)


def test_a_tree_that_is_not_whole_is_left_out():
    partial = make_sentence("a b c", "X X X", [2, 0, -1])
    assert dual_examples([partial], "words") == [None]


@pytest.mark.parametrize("cost", [1.0, 10.0])
def test_weights_hear_of_all_that_counts(sentences, cost):
    """With C = 10, changes too small for the weights once made up half of the dual objective."""
    trainer = ExponentiatedTrainer(ArcScorer.untrained("delexicalised"), cost=cost)
    examples = dual_examples(sentences)
    for _ in range(20):
        for example in examples:
            trainer.step(example)
        trainer.regularise()
    unheard = sum(
        (e.objective._handicap * np.abs(TREES.infer(e.objective._scores)[1] - e.objective._in_weights)).sum()
        for e in examples
    )
    assert cost * unheard < 0.1 * trainer.dual


def test_steps_that_do_not_fit_are_told(sentences):
    """With C = 100 a parser of 400 sentences was as good as chance, and nothing said so."""
    told = []
    trainer = ExponentiatedTrainer(ArcScorer.untrained("delexicalised"), cost=COST)
    with notices(told.append):
        for example in dual_examples(sentences):
            trainer.step(example)
        trainer.regularise()
        assert told == []
        for example in (examples := dual_examples(sentences)):
            example.objective.share = 1e-9
            trainer.step(example)
        trainer.regularise()
    assert len(examples) > 1
    assert "use a smaller --cost" in "".join(told)
