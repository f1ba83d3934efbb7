"""A second order learned above a first-order parser from evidence for arcs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph.graph_training import SURER, second_order_above
from tests.oracles.trees import all_trees, tree_score


@pytest.fixture(scope="module")
def sentences():
    return [sentence for sentence in read_conllu("corpora/en.conllu") if len(sentence) < 9][:12]


@pytest.fixture(scope="module")
def base(sentences):
    options = TrainingOptions(template_set="delexicalised", epochs=1, projective=True, single_root=True)
    parser, _ = train_arc_parser(sentences[::2], rng=np.random.default_rng(1), options=options)
    return replace(parser, temperature=2.0)


def tree_evidence(sentence, strength=4.0):
    evidence = np.zeros((len(sentence) + 1, len(sentence) + 1))
    evidence[sentence.heads[1:], np.arange(1, len(sentence) + 1)] = strength
    return evidence


def believed(parser, sentence):
    """Probabilities of the arcs of a sentence's own tree."""
    return parser.arc_probabilities(sentence)[sentence.heads[1:], np.arange(1, len(sentence) + 1)]


def test_without_evidence_nothing_is_learned(base, sentences):
    """Then all trees are as likely as first order has them, flattened: all are listed."""
    nothing = [(sentence, 0.0 * tree_evidence(sentence)) for sentence in sentences]
    parser = second_order_above(base, nothing, rng=np.random.default_rng(1))
    assert not parser.factors.weights.any()
    sentence = min(sentences, key=len)
    words = np.arange(1, len(sentence) + 1)
    found = parser.arc_beliefs(sentence)
    assert found.order == 2
    scores = np.where(found.probabilities > 0.0, base.scores(sentence) / (SURER * base.temperature), -np.inf)
    trees = all_trees(len(sentence), projective=True, single_root=True)
    chances = np.exp([tree_score(scores, tree) for tree in trees])
    expected = np.zeros_like(scores)
    for tree, chance in zip(trees, chances / chances.sum(), strict=True):
        expected[np.asarray(tree)[1:], words] += chance
    np.testing.assert_allclose(found.probabilities[:, 1:], expected[:, 1:], atol=1e-3)


def test_factors_learn_what_evidence_shows(base, sentences):
    """With evidence for the trees the factors prefer them; with evidence against, anything else."""
    plain, towards, away = (
        second_order_above(
            base,
            [(sentence, tree_evidence(sentence, strength)) for sentence in sentences],
            rng=np.random.default_rng(1),
        )
        for strength in (0.0, 4.0, -4.0)
    )
    of = [
        np.concatenate([believed(parser, one) for one in sentences]).mean()
        for parser in (away, plain, towards)
    ]
    assert of[0] + 0.01 < of[1] < of[2] - 0.01


def test_the_same_seed_gives_the_same_parser(base, sentences):
    parsers = [
        second_order_above(
            base, [(one, tree_evidence(one)) for one in sentences], rng=np.random.default_rng(3)
        )
        for _ in range(2)
    ]
    np.testing.assert_array_equal(parsers[0].factors.weights, parsers[1].factors.weights)
    assert parsers[0].factors.weights.any()
    assert parsers[0].base is base
