"""A few trees move a parser towards themselves, and leave it as it was elsewhere."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, islice

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import with_columns
from qsproj.errors import UsageError
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.arc import arc_training
from qsproj.models.arc.arc_training import (
    annotated_examples,
    cross_fitted_relations,
    train_arc_parser,
    train_residual,
)
from qsproj.models.arc.labeller import train_labeller
from qsproj.models.arc.training_options import TrainingOptions
from tests.sentences import make_sentence


@pytest.fixture(scope="module")
def parser():
    english = list(read_conllu("corpora/en.conllu"))
    options = TrainingOptions(epochs=3, template_set="words")
    return train_arc_parser(english, rng=np.random.default_rng(1), options=options)[0]


@pytest.fixture(scope="module")
def german():
    return list(read_conllu("corpora/de.conllu"))


def tuned(parser, trees):
    return parser.fine_tuned(trees, rng=np.random.default_rng(1))


def scores(parser, trees):
    return attachment_scores(trees, [[parser.parse(tree) for tree in trees]])[0]


def test_what_is_seen_is_learned_and_what_is_not_gets_better(parser, german):
    seen, unseen = german[:30], german[30:]
    after = tuned(parser, seen)
    assert scores(after, seen).las > scores(parser, seen).las
    assert scores(after, unseen).las > scores(parser, unseen).las + 2


def test_the_parser_is_kept_where_held_out_trees_do_not_gain(parser, german, monkeypatch):
    asked = []

    def share(items):
        asked.append(items)
        return 0.0

    monkeypatch.setattr(arc_training, "helpful_share", share)
    after = tuned(parser, german[:8])
    assert np.array_equal(after.scorer.weights, parser.scorer.weights)
    for tree in german[8:20]:
        assert after.parse(tree).deprels == parser.parse(tree).deprels
    # Relations and arcs are asked for apart, with the scores of every tree by a parser of other trees.
    assert [len(items) for items in asked] == [8, 8]


def test_a_relation_that_is_new_does_not_take_the_place_of_others(parser, german):
    one = german[0]
    trees = [replace(one, deprels=("dislocated", *one.deprels[1:])), *german[1:10]]
    after = tuned(parser, trees)
    assert "dislocated" in after.labeller.relations
    found = [relation for tree in german[10:] for relation in after.parse(tree).deprels]
    assert found.count("dislocated") < 0.01 * len(found)


def test_weights_are_the_mean_of_trainings_in_other_orders(parser, german):
    examples, options = annotated_examples(parser, german[:5])[1], TrainingOptions(epochs=1)

    def learned(rng, **repeats):
        return train_residual(parser, examples, rng=rng, options=options, **repeats).scorer.weights

    mean = learned(np.random.default_rng(1), repeats=2)
    rng = np.random.default_rng(1)
    one, other = learned(rng), learned(rng)
    assert not np.array_equal(one, other)
    np.testing.assert_allclose(mean, (one + other) / 2, atol=1e-6)


def test_the_parser_itself_is_not_changed(parser, german):
    before = parser.scorer.weights.copy(), parser.labeller.weights.copy()
    tuned(parser, german[:5])
    assert np.array_equal(parser.scorer.weights, before[0])
    assert np.array_equal(parser.labeller.weights, before[1])


def test_a_new_subtype_starts_from_its_bare_relation(parser):
    tree = make_sentence("x y", "VERB NOUN", [0, 1], relations="root obj:lvc")
    labeller = train_labeller(
        [tree], rng=np.random.default_rng(1), template_set="words", epochs=0, start=parser.labeller
    )
    assert set(labeller.relations) == {*parser.labeller.relations, "obj:lvc"}
    new, old = (labeller.relations.index(relation) for relation in ("obj:lvc", "obj"))
    assert np.array_equal(labeller.weights[:, new], labeller.weights[:, old])
    assert labeller.weights[:, new].any()


def test_another_new_relation_wins_nowhere_before_it_is_learned(parser):
    tree = make_sentence("x y", "VERB NOUN", [0, 1], relations="root dislocated")
    labeller = train_labeller(
        [tree], rng=np.random.default_rng(1), template_set="words", epochs=0, start=parser.labeller
    )
    new = labeller.relations.index("dislocated")
    for sentence in read_conllu("corpora/de.conllu"):
        scores = labeller.scores(labeller.encode(sentence), sentence.heads)[1:]
        assert (scores[:, new] < scores.max(axis=1)).all()


def test_a_single_tree_cannot_be_judged_and_teaches_nothing(parser, german):
    assert tuned(parser, german[:1]) is parser


def test_relations_that_the_trees_do_not_show_are_kept(parser):
    """Of trees of one word there is nothing to learn of objects: they are named as before."""
    english = list(read_conllu("corpora/en.conllu"))
    after = tuned(parser, [make_sentence(word, "INTJ", [0], relations="root") for word in ("Yes", "No")])
    assert after.labeller.relations == parser.labeller.relations
    before, now = (
        [one.labeller.label(one.encode(tree), tree.heads) for tree in english] for one in (parser, after)
    )
    assert {"obj", "nsubj", "obl"} <= {relation for labels in now for relation in labels}
    assert np.mean([a == b for a, b in zip(chain(*before), chain(*now), strict=True)]) > 0.99


def test_partial_trees_teach(parser, german):
    partial = [replace(tree, heads=np.where(np.arange(len(tree) + 1) % 2, tree.heads, -1)) for tree in german]
    assert scores(tuned(parser, partial), german).uas > scores(parser, german).uas


def test_columns_that_the_parser_ignores_are_not_read(german):
    """A parser of trees without XPOS learns and labels the same whatever XPOS its sentences have."""
    options = TrainingOptions(epochs=2, template_set="morphology")
    bare = [with_columns(tree, xpos=("_",) * len(tree)) for tree in german]
    parser = train_arc_parser(bare[:20], rng=np.random.default_rng(1), options=options)[0]
    assert parser.scorer.ignored == ("xpos",)
    filled = [with_columns(tree, xpos=tuple(map(str.upper, tree.forms))) for tree in german]
    after, same = (tuned(parser, trees[20:30]) for trees in (filled, bare))
    assert np.array_equal(after.labeller.weights, same.labeller.weights)
    assert np.array_equal(after.scorer.weights, same.scorer.weights)
    assert after.labeller.weights.any()
    rng = np.random.default_rng
    for one, other in zip(
        cross_fitted_relations(filled[:20], parser.labeller, rng=rng(1), folds=2),
        cross_fitted_relations(bare[:20], parser.labeller, rng=rng(1), folds=2),
        strict=True,
    ):
        assert np.array_equal(one, other)


def test_without_heads_there_is_nothing_to_learn(parser, german):
    bare = [with_columns(replace(tree, heads=np.full(len(tree) + 1, -1))) for tree in islice(german, 3)]
    with pytest.raises(UsageError, match="no usable annotated sentence"):
        tuned(parser, bare)
