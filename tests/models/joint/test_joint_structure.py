"""The graph of a sentence pair against the definitions of its factors."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from qsproj.bp.run import Status
from qsproj.corpus.pairs.aligned import paired
from qsproj.corpus.sentence import Sentence
from qsproj.features.joint_templates import FAMILIES
from qsproj.models.joint.joint_graph import MAX_LINK_LOG_ODDS, JointScores, infer_jointly
from qsproj.models.joint.joint_options import Propagation
from qsproj.models.joint.joint_structure import (
    LEAST_LOG_ODDS,
    NO_VARIABLE,
    free_rows,
    free_side,
    joint_structure,
    kept_arcs,
    known_states,
    observed_side,
)
from qsproj.models.tree_decoder import TreeDecoder
from tests.oracles.joint_pairs import PairEnumeration, fires

TREES = TreeDecoder(projective=False, single_root=False)
PRECISE = Propagation(max_iterations=500, tolerance=1e-9)


def all_trees(n):
    """Return every tree over n words, as heads int32[n+1]."""
    found = []
    for heads in itertools.product(range(n + 1), repeat=n):
        tree = np.array([-1, *heads], dtype=np.int32)
        if all(reaches_root(tree, word) for word in range(1, n + 1)):
            found.append(tree)
    return found


def reaches_root(heads, word):
    for _ in range(len(heads)):
        word = heads[word]
        if word == 0:
            return True
    return False


def free(n, first):
    """Return a side of n words with all arcs, of which all second-order relations are likely enough."""
    kept = ~np.eye(n + 1, dtype=bool)
    kept[:, 0] = False
    return free_side(np.full(kept.shape, 0.9), kept, first, TREES)


def structure_of(m, n, links, families=FAMILIES, source_heads=None):
    source = free(m, 1) if source_heads is None else observed_side(source_heads)
    first = int(source.arcs.max()) + 1
    target = free(n, max(first, 1))
    return joint_structure(
        source,
        target,
        np.array(links, dtype=np.int32).reshape(-1, 2),
        int(target.arcs.max()) + 1,
        families=families,
    )


def draw_scores(structure, rng, scale):
    shape = structure.source.arcs.shape, structure.target.arcs.shape
    words = shape[0][0] + shape[1][0] - 2
    sizes = len(structure.links), (words, 4), len(structure.rows)
    names = ("source", "target", "links", "fertility", "factors")
    return JointScores(**{name: scale * rng.normal(size=size) for name, size in zip(names, (*shape, *sizes))})


def enumeration(structure, scores, source_trees, target_trees):
    factors = [
        (FAMILIES[family], words, score)
        for family, words, score in zip(structure.families, structure.words.tolist(), scores.factors)
    ]
    links = {tuple(link): score for link, score in zip(structure.links.tolist(), scores.links)}
    arcs = scores.source.tolist(), scores.target.tolist()
    return PairEnumeration(source_trees, target_trees, arcs, links, scores.fertility.tolist(), factors)


def infer(structure, scores, known=None):
    return infer_jointly(
        structure,
        scores,
        known_states(structure) if known is None else known,
        propagation=PRECISE,
    )


LINKS = [(1, 1), (2, 2), (3, 3), (1, 2), (3, 2)]


def test_every_way_to_fire_has_one_factor():
    """All words, all families: a factor is there exactly if some trees and links make it fire."""
    structure = structure_of(3, 3, LINKS, FAMILIES)
    found = set(zip(structure.families.tolist(), map(tuple, structure.words.tolist())))
    assert len(found) == len(structure.rows)
    trees, links = all_trees(3), {(0, 0), *LINKS}
    pairs = list(itertools.product(links, repeat=2))
    for family, name in enumerate(FAMILIES):
        for (source_head, head), (source_dependent, dependent) in pairs:
            words = head, dependent, source_head, source_dependent
            possible = any(
                fires(name, words, source, target, links)
                for source, target in itertools.product(trees, trees)
            )
            assert ((family, words) in found) == possible, (name, words)


def test_observed_trees_decide_their_factors():
    links = {(0, 0), *LINKS}
    ways = [(t, u, s, v) for (s, t), (v, u) in itertools.product(links, repeat=2)]
    for source_heads, target_heads in itertools.product(all_trees(3), all_trees(3)[::3]):
        structure = structure_of(3, 3, LINKS, FAMILIES, source_heads)
        known = known_states(structure, target_heads)
        alive = np.concatenate([chosen for chosen, _ in free_rows(structure.rows, known)])
        expected = {
            (family, words)
            for family, name in enumerate(FAMILIES)
            for words in ways
            if fires(name, words, source_heads, target_heads, links)
        }
        found = {
            (family, tuple(words))
            for family, words in zip(structure.families[alive].tolist(), structure.words[alive].tolist())
        }
        assert found == expected


NEARNESS = [
    *(((name,), 0.5, 0.02) for name in FAMILIES),
    *((families, 0.25, 0.02) for families in (FAMILIES,)),
    *((families, 1.0, 0.1) for families in (FAMILIES,)),
]


@pytest.mark.parametrize(("families", "scale", "bound"), NEARNESS)
def test_beliefs_are_near_the_truth_with_two_words_a_side(families, scale, bound):
    """All arcs and links, random scores. Strong factors of all families at once make loops that mislead."""
    rng = np.random.default_rng(3)
    errors, settled = [], 0
    for _ in range(5):
        structure = structure_of(2, 2, [(1, 1), (1, 2), (2, 1), (2, 2)], families=families)
        scores = draw_scores(structure, rng, scale)
        truth = enumeration(structure, scores, all_trees(2), all_trees(2))
        beliefs = infer(structure, scores)
        settled += beliefs.status is Status.CONVERGED
        for h, d in np.argwhere(structure.target.arcs != NO_VARIABLE):
            errors += [
                beliefs.target[h, d] - truth.probability(lambda s, t, links, f, h=h, d=d: t[d] == h),
                beliefs.source[h, d] - truth.probability(lambda s, t, links, f, h=h, d=d: s[d] == h),
            ]
        for k, link in enumerate(map(tuple, structure.links.tolist())):
            errors.append(
                beliefs.links[k] - truth.probability(lambda s, t, links, f, link=link: link in links)
            )
    assert settled >= 4
    assert np.abs(errors).mean() < bound


def test_beliefs_are_exact_without_loops():
    """One candidate link, of the second words; the first factor that fires is MONO from the root."""
    rng = np.random.default_rng(4)
    structure = structure_of(2, 2, [(2, 2)], families=("MONO",))
    assert len(structure.rows) == 1
    scores = draw_scores(structure, rng, 2.0)
    truth = enumeration(structure, scores, all_trees(2), all_trees(2))
    beliefs = infer(structure, scores)
    assert beliefs.status is Status.CONVERGED
    for d in (1, 2):
        for h in (0, 3 - d):
            exact = truth.probability(lambda s, t, links, f, h=h, d=d: t[d] == h)
            assert beliefs.target[h, d] == pytest.approx(exact, abs=1e-9)
    assert beliefs.factors[0] == pytest.approx(truth.probability(lambda s, t, links, f: f[0]), abs=1e-9)
    assert beliefs.links[0] == pytest.approx(truth.probability(lambda s, t, links, f: bool(links)), abs=1e-9)


def test_clamped_beliefs_are_those_given_the_target_tree():
    rng = np.random.default_rng(5)
    structure = structure_of(2, 2, [(1, 1), (2, 2)], families=("MONO", "SWAP", "SSIB", "TSIB", "TGRAND"))
    scores = draw_scores(structure, rng, 0.5)
    for target_heads in all_trees(2):
        truth = enumeration(structure, scores, all_trees(2), [target_heads])
        beliefs = infer(structure, scores, known_states(structure, target_heads))
        np.testing.assert_array_equal(beliefs.target[target_heads[1:], [1, 2]], 1.0)
        assert beliefs.target.sum() == 2.0
        exact = [
            truth.probability(lambda s, t, links, fired, f=f: fired[f]) for f in range(len(structure.rows))
        ]
        assert np.abs(beliefs.factors - exact).mean() < 0.02
        np.testing.assert_array_equal(beliefs.factors[np.array(exact) == 0.0], 0.0)


@pytest.mark.parametrize("source_tree", [None, (-1, 2, 0, 2)])
@pytest.mark.parametrize("target_tree", [None, (-1, 0, 1, 2)])
def test_two_styles_of_one_sentence_are_near_the_truth(source_tree, target_tree):
    """Each word is linked to itself, for sure; either tree is observed, both, or neither."""
    rng = np.random.default_rng(7)
    sentence = Sentence.from_words(["a", "b", "c"])
    links = paired(sentence, sentence, None).alignment.links
    assert links.tolist() == [[1, 1], [2, 2], [3, 3]]
    trees = [None if tree is None else np.array(tree, dtype=np.int32) for tree in (source_tree, target_tree)]
    structure = structure_of(3, 3, links)
    known = known_states(structure, trees[1], source_heads=trees[0])
    scores = draw_scores(structure, rng, 0.3)
    scores = replace(scores, links=np.full(3, MAX_LINK_LOG_ODDS))
    sides = [all_trees(3) if tree is None else [tree] for tree in trees]
    beliefs = infer(structure, scores, known)
    assert beliefs.status is Status.CONVERGED

    def distance(truth):
        return np.mean(
            [
                abs(
                    believed[h, d]
                    - truth.probability(lambda *state, h=h, d=d, side=side: state[side][d] == h)
                )
                for side, believed in enumerate((beliefs.source, beliefs.target))
                for h, d in np.argwhere(structure.target.arcs != NO_VARIABLE)
            ]
        )

    apart = enumeration(structure, replace(scores, factors=np.zeros(len(structure.rows))), *sides)
    nearness = distance(enumeration(structure, scores, *sides))
    assert nearness < 0.02
    # Each tree tells something of the other.
    assert None not in (source_tree, target_tree) or distance(apart) > 3 * nearness


def test_source_trees_can_be_observed_after_the_graph_is_laid_out():
    rng = np.random.default_rng(6)
    structure = structure_of(2, 2, [(1, 1), (2, 2)])
    scores = draw_scores(structure, rng, 0.5)
    for source_heads, target_heads in itertools.product(all_trees(2), all_trees(2)):
        truth = enumeration(structure, scores, [source_heads], [target_heads])
        known = known_states(structure, target_heads, source_heads=source_heads)
        beliefs = infer(structure, scores, known)
        np.testing.assert_array_equal(beliefs.source[source_heads[1:], [1, 2]], 1.0)
        assert beliefs.source.sum() == 2.0
        exact = [
            truth.probability(lambda s, t, links, fired, f=f: fired[f]) for f in range(len(structure.rows))
        ]
        assert np.abs(beliefs.factors - exact).mean() < 0.02
        np.testing.assert_array_equal(beliefs.factors[np.array(exact) == 0.0], 0.0)


def test_pruning_keeps_likely_heads_and_what_must_stay():
    marginals = np.zeros((4, 4))
    marginals[:, 1] = [0.9, 0, 0.1, 0]
    marginals[:, 2] = [0.9999999, 0.0000001, 0, 0]
    marginals[:, 3] = [0.5, 0.3, 0.2, 0]
    best, required = np.array([-1, 0, 0, 0]), np.array([-1, 0, 1, 2])
    kept = kept_arcs(marginals, best, required)
    assert [np.flatnonzero(kept[:, d]).tolist() for d in (1, 2, 3)] == [[0, 2], [0, 1], [0, 1, 2]]
    assert [np.flatnonzero(kept_arcs(marginals, best)[:, d]).tolist() for d in (2,)] == [[0]]


def test_second_order_variables_stand_for_likely_pairs_only():
    marginals = np.full((4, 4), 0.2)
    marginals[0, 1] = marginals[1, 2] = 0.9
    kept = ~np.eye(4, dtype=bool)
    kept[:, 0] = False
    side = free_side(marginals, kept, 1, TREES)
    # 0.9 has log-odds 2.2, 0.2 has -1.4: one likely arc makes a pair likely, none does not.
    assert side.grand.possible[0, 2]
    assert side.grand.possible[3, 2]
    assert not side.grand.possible[2, 1]
    assert side.siblings.possible[1, 3]
    assert side.siblings.possible[3, 1]
    assert not side.siblings.possible[0].any()


def test_certain_arcs_make_no_impossible_pair_likely():
    """A true tree that pruning must keep may be one that the parser rules out."""
    marginals = np.zeros((4, 4))
    marginals[0, 1] = marginals[1, 2] = marginals[2, 3] = 1.0
    kept = marginals > 0.0
    kept[1, 3] = True
    side = free_side(marginals, kept, 1, TREES)
    assert np.argwhere(side.grand.possible).tolist() == [[0, 2], [1, 3]]
    assert not side.siblings.possible.any()


@pytest.mark.parametrize("seed", range(5))
def test_related_arcs_are_those_of_all_pairs(seed):
    """Against a loop over all pairs of arcs, in the order of pairs."""
    rng, n = np.random.default_rng(seed), 7
    marginals = rng.dirichlet(np.ones(n + 1), size=n + 1).T ** 2
    kept = (rng.random((n + 1, n + 1)) < 0.5) & ~np.eye(n + 1, dtype=bool)
    kept[:, 0] = False
    arcs, side = np.argwhere(kept), free_side(marginals, kept, 1, TREES)
    odds = [np.log(marginals[tuple(arc)]) - np.log1p(-marginals[tuple(arc)]) for arc in arcs]
    likely = [
        (one, other)
        for one, other in itertools.product(range(len(arcs)), repeat=2)
        if odds[one] + odds[other] > LEAST_LOG_ODDS
    ]
    grand = [(a, b) for a, b in likely if arcs[a][1] == arcs[b][0] and arcs[a][0] != arcs[b][1]]
    pairs = [(a, b) for a, b in likely if arcs[a][0] == arcs[b][0] and arcs[a][1] < arcs[b][1]]
    assert (side.grand.arcs - 1).tolist() == [list(pair) for pair in grand]
    assert (side.siblings.arcs - 1).tolist() == [list(pair) for pair in pairs]
