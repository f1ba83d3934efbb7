"""How many factors there are over all arcs, and which are left out by their gain."""

from itertools import product

import numpy as np
import pytest

from qsproj.bp.graph import rescored
from qsproj.corpus.conllu import read_conllu
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph.graph_factors import FAMILIES, sentence_graph
from qsproj.models.graph.graph_parser import train_graph_parser
from qsproj.models.tree_decoder import TreeDecoder
from scripts.experiments.parsing.relaxation import by_gain, factors_of, gains, relaxed
from tests.oracles.factors import log_score

ALL_TREES = TreeDecoder(projective=False, single_root=False)


@pytest.mark.parametrize("n", range(1, 9))
def test_factors_over_all_arcs_are_those_of_a_graph(n):
    everything = np.ones((n + 1, n + 1), dtype=bool)
    inference = TreeDecoder(projective=True, single_root=True)
    graph = sentence_graph(everything, inference, families=("grand", "childseq", "valence"))
    assert factors_of(n) == graph.n_factors


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


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "nocross"])
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


def test_a_relaxed_parser_agrees_with_the_full_one_with_fewer_factors():
    trees = list(read_conllu("corpora/de.conllu"))[:12]
    parser, _ = train_graph_parser(trees, rng=np.random.default_rng(1), options=TrainingOptions(epochs=2))
    full, some, none = ([relaxed(parser, tree, gain) for tree in trees] for gain in (0.0, 1e-7, np.inf))
    for (heads, _), tree in zip(full, trees, strict=True):
        np.testing.assert_array_equal(heads, parser.parse(tree).heads)
    assert [heads.tolist() for heads, _ in some] == [heads.tolist() for heads, _ in full]
    assert 0 < sum(count for _, count in some) < 0.9 * sum(count for _, count in full)
    assert not any(count for _, count in none)
