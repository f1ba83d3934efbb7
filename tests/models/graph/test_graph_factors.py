"""Which factors are left out by their gain, and what weaker hard constraints make of the beliefs."""

import dataclasses
from itertools import product

import numpy as np
import pytest

from qsproj.bp.graph import rescored
from qsproj.bp.run import probability
from qsproj.corpus.conllu import read_conllu
from qsproj.errors import UsageError
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph.graph_factors import (
    CONSTRAINTS,
    FAMILIES,
    arc_log_odds,
    by_gain,
    gains,
    propagate,
    sentence_graph,
)
from qsproj.models.graph.graph_parser import GraphOptions
from qsproj.models.graph.graph_training import sentences_with_trees, train_factors, train_graph_parser
from qsproj.models.tree_decoder import TreeDecoder
from tests.oracles.factors import log_score

ALL_TREES = TreeDecoder(projective=False, single_root=False)
N = 5
CANDIDATES = np.ones((N + 1, N + 1), dtype=bool)


def layout(*, constraint="tree", families=tuple(FAMILIES)):
    return sentence_graph(CANDIDATES, ALL_TREES, families=families, constraint=constraint)


def divergence(chances, variables, group, place, score):
    """Return by enumeration how far a score moves independent booleans, and how likely it is to fire."""
    alone = np.zeros(group.scores.size)
    alone[place] = 1.0
    alone = rescored(group, alone.reshape(group.scores.shape))
    before, after = [], []
    for states in product((0, 1), repeat=len(chances)):
        probability_of = np.prod([p if on else 1.0 - p for p, on in zip(chances, states)])
        fires = log_score(alone, np.array(states, dtype=np.int32)[variables])
        before.append(probability_of)
        after.append(probability_of * np.exp(score * fires))
    before, after = np.array(before), np.array(after) / sum(after)
    return float(after @ np.log(after / before))


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in ("nocross", "hidden")])
def test_the_gain_of_a_factor_is_how_far_it_moves_the_beliefs(name):
    rng = np.random.default_rng(5)
    everything = np.ones((4, 4), dtype=bool)
    graph = sentence_graph(everything, ALL_TREES, families=(name,))
    (family,) = graph.families
    chances = rng.uniform(0.02, 0.98, size=len(graph.heads))
    scores = 3.0 * rng.normal(size=len(family.scored))
    expected = [
        divergence(chances, family.group.edges, family.group, place, score)
        for place, score in zip(family.scored.tolist(), scores.tolist(), strict=True)
    ]
    for least in np.quantile(expected, [0.2, 0.5, 0.9]) + 1e-9:
        (kept,) = by_gain(graph, chances, [scores], least=least)
        assert kept.tolist() == np.where(np.array(expected) >= least, scores, 0.0).tolist()


def test_what_is_certain_has_nothing_to_gain():
    scores = np.array([-50.0, -2.0, 0.0, 2.0, 50.0, 800.0])
    for chance in (0.0, 1.0, 1.0 + 1e-15):
        np.testing.assert_allclose(gains(np.full(6, chance), scores), 0.0, atol=1e-9)
    np.testing.assert_allclose(gains(np.full(6, 0.3), scores)[[2, 5]], [0.0, -np.log(0.3)], atol=1e-9)


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


def test_a_relaxed_parser_agrees_with_the_full_one(sample):
    parser, _ = train_graph_parser(sample, rng=np.random.default_rng(1), options=TrainingOptions(epochs=5))
    sentences = list(read_conllu("corpora/en.conllu"))

    def beliefs(**options):
        changed = dataclasses.replace(parser, options=dataclasses.replace(parser.options, **options))
        return [changed.arc_beliefs(sentence) for sentence in sentences]

    def distance(some, others):
        """Return the mean over sentences of the total variation of the head of a word."""
        pairs = zip(some, others, strict=True)
        return np.mean(
            [np.abs(a.probabilities - b.probabilities)[:, 1:].sum(axis=0).mean() / 2 for a, b in pairs]
        )

    full, relaxed_beliefs = beliefs(), beliefs(gain=1e-7)
    assert all(believed.order == 2 for believed in relaxed_beliefs)
    assert sum(b.n_factors for b in relaxed_beliefs) < 0.9 * sum(b.n_factors for b in full)
    # Heads alone would not tell: without any factor, 98.5% of them are the same.
    without = distance(full, beliefs(families=()))
    assert without > 0.01
    assert distance(full, relaxed_beliefs) < 0.1 * without


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
        ({"gain": -0.1}, "gain is -0.1"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(UsageError, match=message):
        GraphOptions(**options)
