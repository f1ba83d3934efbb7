"""Training of the second order: who prunes, what factors are about, what a tree costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph.graph_factors import sentence_graph
from qsproj.models.graph.graph_parser import FOLDS, GraphOptions, graph_examples, graph_loss, train_pruners
from qsproj.models.tree_decoder import TreeDecoder
from tests.oracles.trees import all_trees
from tests.sentences import make_sentence


def test_few_sentences_are_pruned_by_the_parser_itself():
    base = ArcParser(ArcScorer.untrained("words"), None, TreeDecoder(projective=True, single_root=True))
    sentences = [make_sentence("a b", "X X", [2, 0])] * (2 * FOLDS)
    rng, options = np.random.default_rng(1), TrainingOptions(epochs=1)
    own = train_pruners(sentences[1:], base, rng=rng, options=options)
    assert len(own) == len(sentences) - 1
    assert all(parser is base for parser in own)
    others = train_pruners(sentences, base, rng=rng, options=options)
    assert len(others) == len(sentences)
    assert len(set(map(id, others))) == FOLDS
    assert all(parser is not base for parser in others)


INFERENCE = TreeDecoder(projective=False, single_root=False)


def family_of(name):
    """Return a family over all arcs of four words, and the graph."""
    possible = ~np.eye(5, dtype=np.bool_)
    possible[:, 0] = False
    graph = sentence_graph(possible, INFERENCE, families=(name,))
    return graph.families[0], graph


def test_crossing_arcs_are_scored_by_their_dependents():
    family, graph = family_of("nocross")
    arcs = family.group.edges.reshape(-1, 2)
    assert len(arcs) > 0
    # Words are read plus one, see FamilyFactors.
    assert family.members.tolist() == (np.sort(graph.dependents[arcs], axis=1) + 1).tolist()


def test_the_loss_is_that_of_all_trees_where_there_are_no_factors():
    inference = TreeDecoder(projective=True, single_root=True)
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
