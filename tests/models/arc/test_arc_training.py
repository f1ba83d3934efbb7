"""What training makes of its options: objectives against all trees one by one, features, early stopping."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from qsproj.conventions import frozen_heads
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import misc_values, with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.kernels.features.sparse_gradient import gather_rows
from qsproj.models.arc.arc_learners import right_heads, tree_objective, usable_sentences
from qsproj.models.arc.arc_training import cross_fitted_parsers, train_arc_parser, training_like
from qsproj.models.arc.training_options import MARGIN, TrainingOptions
from qsproj.models.labelled.labelled_training import train_labelled_parser
from qsproj.models.tree_decoder import TreeDecoder
from qsproj.training.objectives import Risk
from qsproj.trees import projective
from tests.oracles.trees import all_trees, tree_score
from tests.sentences import make_sentence

WORDS = 3
TREE = (-1, 2, 0, 2)


@pytest.fixture
def scores():
    return np.random.default_rng(3).normal(size=(WORDS + 1, WORDS + 1))


def trees_and_scores(scores, inference):
    """Return every tree with its score, by enumeration."""
    trees = all_trees(WORDS, projective=inference.projective, single_root=inference.single_root)
    return [(tree, tree_score(scores.tolist(), tree)) for tree in trees]


def wrong(tree):
    return sum(head != right for head, right in zip(tree[1:], TREE[1:], strict=True))


def likelihood_loss(scores, inference, margin):
    """Minus the log-probability of TREE, all others handicapped for each wrong head."""
    logs = [score + margin * wrong(tree) for tree, score in trees_and_scores(scores, inference)]
    return math.log(sum(map(math.exp, logs))) - tree_score(scores.tolist(), TREE)


INFERENCES = [
    TreeDecoder(projective=projective, single_root=single_root)
    for projective in (True, False)
    for single_root in (True, False)
]


@pytest.mark.parametrize("inference", INFERENCES, ids=str)
@pytest.mark.parametrize(("name", "margin"), [("likelihood", 0.0), ("margin", MARGIN)])
def test_whole_trees_by_likelihood_with_a_margin_or_none(scores, inference, name, margin):
    objective = tree_objective(frozen_heads(TREE), inference, name)
    loss, _ = objective.value_and_gradient(scores)
    assert loss == pytest.approx(likelihood_loss(scores, inference, margin))


def test_the_margin_is_one_nat():
    assert MARGIN == 1.0


@pytest.mark.parametrize("inference", INFERENCES, ids=str)
def test_whole_trees_by_expected_wrong_heads(scores, inference):
    loss, _ = Risk(frozen_heads(TREE), inference.expect).value_and_gradient(scores)
    weighed = [(wrong(tree), math.exp(score)) for tree, score in trees_and_scores(scores, inference)]
    assert loss == pytest.approx(sum(w * p for w, p in weighed) / sum(p for _, p in weighed))


@pytest.mark.parametrize("inference", INFERENCES, ids=str)
@pytest.mark.parametrize("name", ["margin", "likelihood", "risk"])
@pytest.mark.parametrize("known", [(-1, 2, -1, -1), (-1, -1, 0, -1)])
def test_partial_trees_by_the_likelihood_of_all_that_agree(scores, inference, name, known):
    objective = tree_objective(frozen_heads(known), inference, name)
    loss, _ = objective.value_and_gradient(scores)
    both = [(tree, math.exp(score)) for tree, score in trees_and_scores(scores, inference)]
    agreeing = [p for tree, p in both if all(k in (-1, h) for k, h in zip(known[1:], tree[1:], strict=True))]
    assert loss == pytest.approx(math.log(sum(p for _, p in both)) - math.log(sum(agreeing)))


def test_heads_that_are_right_are_counted_where_they_are_known():
    gold = [make_sentence("a b c", "X X X", [2, 0, -1]), make_sentence("a", "X", [0])]
    found = [np.array([-1, 2, 1, 1]), np.array([-1, 0])]
    assert right_heads(gold, found) == pytest.approx(100 * 2 / 3)
    assert right_heads([make_sentence("a", "X", [-1])], [np.array([-1, 0])]) == 0.0


def test_sentences_without_a_head_are_left_out_and_counted():
    bare, tree = make_sentence("a b", "X X", [-1, -1]), make_sentence("a b", "X X", [2, -1])
    usable, skipped = usable_sentences([bare, tree, bare])
    assert (usable, skipped) == ([tree], {"no head given": 2})
    with pytest.raises(UsageError, match="no usable sentence in the training data"):
        train_arc_parser([bare], rng=np.random.default_rng(1))


def test_unknown_names_are_told():
    tree = make_sentence("a b", "X X", [2, 0])
    for options, message in (
        (
            TrainingOptions(objective="luck"),
            "unknown objective 'luck'; known: margin, likelihood, risk, perceptron, mira",
        ),
        (TrainingOptions(template_set="none"), "unknown features 'none'"),
    ):
        with pytest.raises(UsageError, match=message):
            train_arc_parser([tree], rng=np.random.default_rng(1), options=options)


def test_delexicalised_features_need_tags():
    options = TrainingOptions(template_set="delexicalised", epochs=1)
    bare, tagged = make_sentence("a b", "_ _", [2, 0]), make_sentence("a b", "X _", [2, 0])
    with pytest.raises(UsageError, match="no word of the training data has a UPOS tag"):
        train_arc_parser([bare], rng=np.random.default_rng(1), options=options)
    train_arc_parser([tagged], rng=np.random.default_rng(1), options=options)


def test_the_summary_says_shape_roots_and_what_was_left_out():
    two = make_sentence("a b", "X X", [0, 0])
    bare = make_sentence("a b", "X X", [-1, -1])
    options = TrainingOptions(epochs=2, projective=False)
    parser, report = train_arc_parser([two, bare], rng=np.random.default_rng(1), options=options)
    assert report.summary(parser.inference) == (
        "non-projective parser, any number of roots, 2 epochs; 1 sentence left out: no head given"
    )


def test_unlabelled_sentences_get_surer_and_an_l1_penalty_leaves_few_weights():
    trees = [make_sentence("a b c", "X Y Z", [2, 0, 2])] * 3
    unlabelled = [make_sentence("d e f g", "Y X Z Z")]

    def entropy(**options):
        settings = TrainingOptions(
            epochs=3, objective="likelihood", projective=True, single_root=True, **options
        )
        parser, _ = train_arc_parser(
            trees, rng=np.random.default_rng(1), options=settings, unlabelled=unlabelled
        )
        return projective.entropy(parser.scores(unlabelled[0]), single_root=True), parser.scorer.weights

    sure, weights = entropy(entropy=3.0)
    unsure, _ = entropy(entropy=0.0)
    assert sure < 0.8 * unsure
    _, few = entropy(l1=0.05)
    assert 0 < np.count_nonzero(few) < 0.5 * np.count_nonzero(weights)


def test_dev_trees_are_scored_in_every_epoch():
    trees = [make_sentence("a b", "X Y", [2, 0]), make_sentence("a b c", "X Y X", [2, 0, 2])]
    options = TrainingOptions(epochs=3)
    parser, report = train_arc_parser(trees, rng=np.random.default_rng(1), dev=trees, options=options)
    assert all(record.score is not None for record in report.epochs)
    assert "dev UAS 100.00 after epoch" in report.summary(parser.inference)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (TrainingOptions(epochs=1), "projective parser, one root, 1 epoch"),
        (TrainingOptions(epochs=1, single_root=False), "projective parser, any number of roots, 1 epoch"),
        (TrainingOptions(epochs=1, projective=False), "non-projective parser, one root, 1 epoch"),
    ],
)
def test_the_summary_says_what_the_options_made_of_the_trees(options, said):
    trees = [make_sentence("a b", "X X", [2, 0])]
    parser, report = train_arc_parser(trees, rng=np.random.default_rng(1), options=options)
    assert report.summary(parser.inference) == said


@pytest.mark.parametrize("objective", ["mira-factored", "eg"])
def test_what_has_no_gradient_cannot_count_more_or_less(objective):
    sentences = [make_sentence("a b", "X X", [2, 0])]
    options = TrainingOptions(objective=objective, template_set="words")
    with pytest.raises(UsageError, match=f"need an objective with a gradient, not {objective}"):
        train_arc_parser(sentences, rng=np.random.default_rng(1), options=options, weights=[2.0])


@pytest.mark.parametrize("train", [train_arc_parser, train_labelled_parser])
def test_each_place_of_a_sentence_has_its_own_weight(train):
    """The same object twice, once with weight 0: it counts once, wherever that is."""
    tree = make_sentence("a b c", "X Y Z", [2, 0, 2], relations="det root obj")
    other = make_sentence("a b c", "X Z Y", [3, 3, 0], relations="det obj root")
    unusable = make_sentence("a b", "X X")

    def learned(*weights):
        options = TrainingOptions(epochs=1, l2=0.0)
        rng = np.random.default_rng(1)
        trees = [tree, unusable, other, tree]
        return train(trees, rng=rng, options=options, weights=weights)[0].scorer.weights

    assert learned(0.0, 1.0, 0.0, 1.0).any()
    assert learned(1.0, 1.0, 0.0, 0.0).any()
    assert not learned(0.0, 1.0, 0.0, 0.0).any()


@pytest.mark.parametrize("objective", ["perceptron", "mira", "eg"])
def test_a_dev_set_of_impossible_trees_gives_scores_no_scale(objective):
    """They end no training in a traceback: the scale is that of training trees, as without them."""
    trees = [make_sentence("a b c", "X Y Z", [2, 0, 2])] * 3
    two_roots = [make_sentence("a b c", "X Y Z", [0, 0, 2])]
    options = TrainingOptions(objective=objective, epochs=1)

    def trained(dev):
        parser, report = train_arc_parser(trees, rng=np.random.default_rng(1), dev=dev, options=options)
        return parser.scorer.weights, report.summary(parser.inference)

    weights, said = trained(two_roots)
    assert said.endswith(
        "; the parser can build no tree of the dev file, so probabilities are fitted on training trees"
    )
    without, nothing = trained([])
    np.testing.assert_array_equal(weights, without)
    assert nothing.endswith("1 epoch")


@pytest.mark.parametrize("objective", ["margin", "likelihood", "risk", "perceptron", "mira"])
def test_probabilities_of_new_sentences_are_not_overconfident(objective):
    trees = list(read_conllu("corpora/de.conllu"))
    options = TrainingOptions(objective=objective, template_set="words")
    parser, _ = train_arc_parser(trees[:60], rng=np.random.default_rng(1), options=options, label_epochs=0)

    def overconfidence(parser):
        expected = right = 0.0
        for tree in trees[60:]:
            parsed = parser.parse(tree, confidence=True)
            expected += sum(map(float, misc_values(parsed, "ArcProb")))
            right += np.count_nonzero(parsed.heads[1:] == tree.heads[1:])
        return (expected - right) / sum(map(len, trees[60:]))

    assert abs(overconfidence(parser)) < 0.06
    assert overconfidence(parser) < overconfidence(replace(parser, temperature=1.0)) - 0.01


@pytest.mark.parametrize("objective", ["perceptron", "mira"])
def test_trees_whose_tags_are_all_held_out_fit_scores_themselves(objective):
    trees = list(read_conllu("corpora/de.conllu"))[:25]
    bare = [with_columns(one, upos=("_",) * len(one)) if at % 5 else one for at, one in enumerate(trees)]
    options = TrainingOptions(objective=objective, template_set="delexicalised", epochs=1)
    assert train_arc_parser(bare, rng=np.random.default_rng(1), options=options)[0].scorer.weights.any()


def test_a_delexicalised_parser_keeps_temperature_1():
    options = TrainingOptions(template_set="delexicalised", epochs=1)
    trees = list(read_conllu("corpora/de.conllu"))[:10]
    parser, _ = train_arc_parser(trees, rng=np.random.default_rng(1), options=options)
    assert parser.temperature == 1.0


@pytest.mark.parametrize("given, share", [({}, 1.0), ({"share": 0.5}, 0.5)])
def test_the_first_step_of_a_feature_has_full_size(given, share):
    learner = TrainingOptions(rate=0.2, l2=0.0).rule(**given)(np.zeros(3))
    learner.gather(gather_rows, np.arange(3, dtype=np.int32)[:, None], np.array([2.0, -0.4, 0.0]))
    learner.step()
    np.testing.assert_allclose(learner.weights, share * np.array([-0.2, 0.2, 0.0]), atol=1e-9)


OPTIONS = TrainingOptions(epochs=2)


@pytest.fixture(scope="module")
def sentences():
    return list(islice(read_conllu("corpora/de.conllu"), 10))


@pytest.fixture(scope="module")
def parser(sentences):
    return train_arc_parser(sentences, rng=np.random.default_rng(1), options=OPTIONS)[0]


def cross_fitted(sentences, parser):
    rng = np.random.default_rng(1)
    others = cross_fitted_parsers(training_like(parser, OPTIONS, rng), sentences, folds=5, rng=rng)
    scores = {i: other.scores(sentences[i]) for i, other in others}
    return [scores[i] for i in range(len(sentences))]


def test_they_know_less_than_a_parser_that_saw_the_trees_and_more_than_nothing(sentences, parser):
    def right(of):
        return sum(
            int((parser.inference.best(one) == sentence.heads)[1:].sum())
            for one, sentence in zip(of, sentences)
        )

    seen = [parser.scores(sentence) for sentence in sentences]
    nothing = [np.zeros_like(scores) for scores in seen]
    assert right(nothing) + 5 < right(cross_fitted(sentences, parser)) < right(seen)


def test_another_tree_changes_the_scores_of_the_others_alone(sentences, parser):
    n = len(sentences[0])
    other = replace(sentences[0], heads=frozen_heads([-1, *range(n)]))
    before = cross_fitted(sentences, parser)
    after = cross_fitted([other, *sentences[1:]], parser)
    same = [np.array_equal(one, another) for one, another in zip(before, after, strict=True)]
    assert same[0]
    # Those of its own fold have not seen it, either.
    assert 6 <= same.count(False) <= 8


def test_a_few_sentences_with_several_roots_are_left_out():
    one = [Sentence.from_words(["a", "b"], upos=["X", "Y"], heads=[2, 0]) for _ in range(40)]
    two = Sentence.from_words(["a", "b"], upos=["X", "Y"], heads=[0, 0])
    parser, report = train_arc_parser([*one, two], rng=np.random.default_rng(1))
    assert parser.inference.single_root
    assert sum(report.skipped.values()) == 1
    parser, _ = train_arc_parser([*one[:4], two], rng=np.random.default_rng(1))
    assert not parser.inference.single_root
