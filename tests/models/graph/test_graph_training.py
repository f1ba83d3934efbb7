"""Training of the second order: who prunes, what factors are about, what a tree costs; evidence for arcs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph.graph_factors import FAMILIES, Doubts, sentence_graph
from qsproj.models.graph.graph_parser import GraphOptions
from qsproj.models.graph.graph_training import (
    FOLDS,
    SURER,
    graph_examples,
    graph_loss,
    second_order_above,
    train_pruners,
)
from qsproj.models.tree_inference import TreeInference
from tests.oracles.trees import all_trees, tree_score
from tests.sentences import make_sentence


def test_few_sentences_are_pruned_by_the_parser_itself():
    base = ArcParser(ArcScorer.untrained("words"), None, TreeInference(projective=True, single_root=True))
    sentences = [make_sentence("a b", "X X", [2, 0])] * (2 * FOLDS)
    rng, options = np.random.default_rng(1), TrainingOptions(epochs=1)
    (own,) = train_pruners(sentences[1:], base, rng=rng, options=options)
    assert own is base
    others = train_pruners(sentences, base, rng=rng, options=options)
    assert len(others) == FOLDS
    assert all(parser is not base for parser in others)


INFERENCE = TreeInference(projective=False, single_root=False)


def family_of(name, doubts=None):
    """Return a family over all arcs of four words, and the graph."""
    possible = ~np.eye(5, dtype=np.bool_)
    possible[:, 0] = False
    graph = sentence_graph(possible, INFERENCE, families=(name,), doubts=doubts)
    return graph.families[0], graph


def test_crossing_arcs_are_scored_by_their_dependents():
    family, graph = family_of("nocross")
    arcs = family.group.edges.reshape(-1, 2)
    assert len(arcs) > 0
    # Words are read plus one, see FamilyFactors.
    assert family.members.tolist() == (np.sort(graph.dependents[arcs], axis=1) + 1).tolist()


@pytest.mark.parametrize("name", FAMILIES)
def test_an_edge_has_one_number_in_all_graphs_over_the_same_arcs(name):
    whole, graph = family_of(name)
    variable_of = dict(zip(whole.edges.tolist(), whole.group.edges.tolist(), strict=True))
    assert whole.edges.dtype == np.int64 and len(variable_of) == len(whole.edges)
    undecided = np.arange(len(graph.heads)) % 3 == 0
    part, _ = family_of(name, Doubts(np.ones(len(graph.heads), dtype=np.bool_), undecided))
    assert 0 < len(part.edges) <= len(whole.edges)
    assert [variable_of[number] for number in part.edges.tolist()] == part.group.edges.tolist()


def test_the_loss_is_that_of_all_trees_where_there_are_no_factors():
    inference = TreeInference(projective=True, single_root=True)
    base = ArcParser(ArcScorer.untrained("words"), None, inference)
    sentence = make_sentence("a b c", "X X X", [2, 0, 2])
    (example,) = graph_examples([sentence], base, [base], graph_options=GraphOptions(families=()))
    arcs = list(zip(example.graph.heads.tolist(), example.graph.dependents.tolist(), strict=True))
    scores = np.random.default_rng(4).normal(size=len(arcs))
    margin = 0.7
    handicapped = dict(zip(arcs, scores + margin * ~example.agrees, strict=True))
    chances = dict.fromkeys(arcs, 0.0)
    for tree in all_trees(3, projective=True, single_root=True):
        weight = np.exp(sum(handicapped[tree[word], word] for word in (1, 2, 3)))
        for word in (1, 2, 3):
            chances[tree[word], word] += weight
    total = sum(chances[head, 1] for head in (0, 2, 3))
    loss, (slopes, _) = graph_loss(example, scores, [], iterations=3, margin=margin)
    right = [(2, 1), (0, 2), (2, 3)]
    assert loss == pytest.approx(-sum(np.log(chances[arc] / total) for arc in right))
    expected = [chances[arc] / total - (arc in right) for arc in arcs]
    np.testing.assert_allclose(slopes, expected, atol=1e-9)


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
