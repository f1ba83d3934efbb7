"""Which factors are called for, how a graph grows, and what weaker hard constraints make of the beliefs."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from qsproj.bp.beliefs import probability
from qsproj.corpus.conllu import read_conllu
from qsproj.errors import UsageError
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph import graph_factors
from qsproj.models.graph.graph_factors import (
    CONSTRAINTS,
    FAMILIES,
    Doubts,
    arc_log_odds,
    propagate,
    relax,
    sentence_graph,
)
from qsproj.models.graph.graph_parser import GraphOptions
from qsproj.models.graph.graph_training import sentences_with_trees, train_factors, train_graph_parser
from qsproj.models.tree_inference import TreeInference

ALL_TREES = TreeInference(projective=False, single_root=False)
N = 5
CANDIDATES = np.ones((N + 1, N + 1), dtype=bool)


def layout(doubts=None, *, constraint="tree", families=tuple(FAMILIES)):
    return sentence_graph(CANDIDATES, ALL_TREES, families=families, constraint=constraint, doubts=doubts)


def random_doubts(rng, n_arcs):
    plausible = rng.random(n_arcs) < 0.7
    return Doubts(plausible, plausible & (rng.random(n_arcs) < 0.4))


def arcs_of_factors(graph, family):
    """Return the arcs of each factor of a family, as a set of frozensets of (head, dependent)."""
    ends = [tuple(pair) for pair in zip(graph.heads.tolist(), graph.dependents.tolist())]
    arcs = [ends[v] for v in family.group.edges]
    starts = getattr(family.group, "starts", range(0, len(arcs) + 1, 2))
    return {frozenset(arcs[a:b]) for a, b in pairwise(starts)}


@pytest.mark.parametrize("seed", range(5))
def test_a_factor_is_about_plausible_arcs_and_an_undecided_one(seed):
    rng = np.random.default_rng(seed)
    full = layout()
    doubts = random_doubts(rng, len(full.heads))
    partial = layout(doubts)
    named = list(zip(full.heads.tolist(), full.dependents.tolist()))
    plausible = {arc for arc, flag in zip(named, doubts.plausible) if flag}
    undecided = {arc for arc, flag in zip(named, doubts.undecided) if flag}
    for whole, kept in zip(full.families, partial.families):
        if kept.name in ("grand", "nocross"):
            expected = {arcs for arcs in arcs_of_factors(full, whole) if arcs <= plausible}
        else:
            expected = {arcs & plausible for arcs in arcs_of_factors(full, whole)}
        assert arcs_of_factors(partial, kept) == {arcs for arcs in expected if arcs & undecided}
        assert len(kept.scored) == len(kept.members) == len(kept.places)


def test_an_edge_has_the_same_number_in_all_graphs_of_a_sentence():
    rng = np.random.default_rng(0)
    numbers = {name: {} for name in FAMILIES}
    for _ in range(5):
        graph = layout(random_doubts(rng, len(layout().heads)))
        for family in graph.families:
            assert len(set(family.edges.tolist())) == len(family.group.edges)
            for edge, variable in zip(family.edges.tolist(), family.group.edges.tolist()):
                assert numbers[family.name].setdefault(edge, variable) == variable


def problem(seed):
    """Return LINK scores, and a way to score any graph of the sentence: the same factor always the same."""
    links = 2.0 * np.random.default_rng(seed).normal(size=len(layout().heads))

    def score(graph):
        return [
            np.sin(family.members @ np.array([1.3, 2.7, 5.1])[: family.members.shape[1]] + family.places)
            for family in graph.families
        ]

    return links, score


def relaxed(seed, *, maximise=False, **options):
    links, score = problem(seed)
    chances = ALL_TREES.infer(arcs_to_matrix(links))[1][layout().heads, layout().dependents]
    limits = {"max_factors": 10**6, "iterations": 6, **options}
    return relax(chances, layout, links, score, maximise=maximise, **limits)


def arcs_to_matrix(values):
    graph = layout()
    matrix = np.zeros(CANDIDATES.shape)
    matrix[graph.heads, graph.dependents] = values
    return matrix


def test_where_all_is_in_doubt_the_graph_is_the_full_one():
    links, score = problem(1)
    graph, beliefs = relaxed(1, doubt=1e-9)
    assert graph.n_factors == layout().n_factors
    full = propagate(layout(), links, score(layout()), iterations=6)
    np.testing.assert_allclose(arc_log_odds(beliefs), arc_log_odds(full), rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_in_the_end_nothing_is_called_for_that_is_not_there(seed):
    graph, beliefs = relaxed(seed, doubt=0.05, iterations=40)
    assert 0 < graph.n_factors < layout().n_factors
    doubts = graph_factors._doubts(beliefs.log_ratios, 0.05)
    for family, wanted in zip(graph.families, layout(doubts).families):
        assert set(wanted.edges.tolist()) <= set(family.edges.tolist())


def test_messages_go_on_from_where_they_were_when_the_graph_grows(monkeypatch):
    runs = []

    def recorded(graph, links, scores, **options):
        beliefs = propagate(graph, links, scores, **options)
        runs.append((graph, options["start"], beliefs))
        return beliefs

    monkeypatch.setattr(graph_factors, "propagate", recorded)
    relaxed(2, doubt=0.1, iterations=20)
    grown = [(a, b) for a, b in pairwise(runs) if a[0].n_factors < b[0].n_factors]
    assert grown
    for (before, _, beliefs), (after, start, _) in grown:
        np.testing.assert_array_equal(start[-1], beliefs.outgoing[-1])
        for i, (old, new) in enumerate(zip(before.families, after.families), start=1):
            said = dict(zip(old.edges.tolist(), beliefs.outgoing[i].tolist()))
            expected = [said.get(edge, 0.0) for edge in new.edges.tolist()]
            assert start[i].tolist() == expected


def test_a_graph_that_grows_beyond_the_limit_has_no_beliefs():
    graph, beliefs = relaxed(1, doubt=0.05, max_factors=3)
    assert beliefs is None
    assert graph.n_factors > 3


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
    parser, _ = train_graph_parser(sample, rng=np.random.default_rng(1), options=TrainingOptions(epochs=2))
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

    full, relaxed_beliefs = beliefs(), beliefs(doubt=0.01)
    assert all(believed.order == 2 for believed in relaxed_beliefs)
    assert sum(b.n_factors for b in relaxed_beliefs) < 0.9 * sum(b.n_factors for b in full)
    # Heads alone would not tell: without any factor, 98.5% of them are the same.
    without = distance(full, beliefs(families=()))
    assert without > 0.01
    assert distance(full, relaxed_beliefs) < 0.1 * without


def test_the_scores_of_arcs_start_from_first_order(sample):
    base, _ = train_arc_parser(sample, rng=np.random.default_rng(1), options=TrainingOptions(epochs=1))
    before = base.scorer.weights.copy()
    trained = {
        epochs: train_factors(
            sentences_with_trees(sample, base),
            base,
            [base],
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
        ({"doubt": 0.5}, "doubt is 0.5, expected a probability below 0.5"),
        ({"doubt": -0.1}, "doubt is -0.1"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(UsageError, match=message):
        GraphOptions(**options)


def test_arcs_are_plausible_and_undecided_by_their_probability():
    chances = np.array([0.0, 0.04, 0.06, 0.5, 0.94, 0.96, 1.0])
    with np.errstate(divide="ignore"):
        doubts = graph_factors._doubts(np.log(chances) - np.log(1.0 - chances), 0.05)
    assert doubts.plausible.tolist() == [False, False, True, True, True, True, True]
    assert doubts.undecided.tolist() == [False, False, True, True, True, False, False]
