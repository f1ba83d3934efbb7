"""What weaker hard constraints make of the beliefs, and where training of the factors starts."""

import numpy as np
import pytest

from qsproj.bp.run import probability
from qsproj.corpus.conllu import read_conllu
from qsproj.errors import UsageError
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph.graph_factors import (
    CONSTRAINTS,
    FAMILIES,
    arc_log_odds,
    propagate,
    sentence_graph,
)
from qsproj.models.graph.graph_parser import (
    GraphOptions,
    sentences_with_trees,
    train_factors,
    train_graph_parser,
)
from qsproj.models.tree_decoder import TreeDecoder

ALL_TREES = TreeDecoder(projective=False, single_root=False)
N = 5
CANDIDATES = np.ones((N + 1, N + 1), dtype=bool)


def layout(*, constraint="tree", families=tuple(FAMILIES)):
    return sentence_graph(CANDIDATES, ALL_TREES, families=families, constraint=constraint)


def test_exactly_one_head_is_a_softmax_and_weaker_constraints_are_weaker():
    scores = np.random.default_rng(3).normal(size=CANDIDATES.shape)
    np.fill_diagonal(scores, -np.inf)
    masses = {}
    for name in CONSTRAINTS:
        graph = layout(constraint=name, families=())
        links = scores[graph.heads, graph.dependents]
        chances = probability(arc_log_odds(propagate(graph, links, [], iterations=50)))
        masses[name] = np.bincount(graph.dependents, chances)[1:]
        if name == "exactly1":
            softmax = np.exp(scores) / np.exp(scores).sum(axis=0)
            # Damped messages have settled when they change by less than the tolerance.
            np.testing.assert_allclose(chances, softmax[graph.heads, graph.dependents], atol=1e-3)
    np.testing.assert_allclose(masses["tree"], 1.0, atol=1e-9)
    assert (masses["atmost1"] < 1.0).all()


@pytest.fixture(scope="module")
def sample():
    return list(read_conllu("corpora/es.conllu"))[:40]


@pytest.mark.parametrize("constraint", [name for name in CONSTRAINTS if name != "tree"])
def test_a_parser_that_requires_less_than_a_tree_finds_trees_all_the_same(sample, constraint):
    parser, _ = train_graph_parser(
        sample,
        rng=np.random.default_rng(1),
        options=TrainingOptions(epochs=2),
        graph_options=GraphOptions(families=("grand",), constraint=constraint),
    )
    parsed = [parser.parse(sentence) for sentence in sample]
    right = sum(int((one.heads == gold.heads)[1:].sum()) for one, gold in zip(parsed, sample))
    assert right > 0.8 * sum(map(len, sample))
    assert all(ALL_TREES.admits(arcs_of_tree(sentence.heads)) for sentence in parsed)


def arcs_of_tree(heads):
    arcs = np.zeros((len(heads), len(heads)), dtype=bool)
    arcs[heads[1:], np.arange(1, len(heads))] = True
    return arcs


def test_the_scores_of_arcs_start_from_first_order(sample):
    base, _ = train_arc_parser(sample, rng=np.random.default_rng(1), options=TrainingOptions(epochs=1))
    before = base.scorer.weights.copy()
    sentences = sentences_with_trees(sample, base)
    trained = {
        epochs: train_factors(
            sentences,
            base,
            [base] * len(sentences),
            rng=np.random.default_rng(1),
            options=TrainingOptions(epochs=epochs),
            graph_options=GraphOptions(),
        )[0].links.weights
        for epochs in (0, 1)
    }
    np.testing.assert_array_equal(trained[0], before)
    assert (trained[1] != before).any()
    np.testing.assert_array_equal(base.scorer.weights, before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"constraint": "forest"}, "unknown constraint 'forest'; known: tree, exactly1"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(UsageError, match=message):
        GraphOptions(**options)
