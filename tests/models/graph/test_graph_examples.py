"""Who prunes what a second-order parser learns from, and which words its factors read."""

import numpy as np
import pytest

from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.arc_training import TrainingOptions
from qsproj.models.graph.graph_examples import FOLDS, train_pruners
from qsproj.models.graph.graph_factors import FAMILIES, Doubts, sentence_graph
from qsproj.models.tree_inference import TreeInference
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
    # Words are read plus one, see Family.
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
