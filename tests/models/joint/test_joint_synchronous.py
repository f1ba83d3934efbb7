"""SYNCH over a sentence pair: what it rules out, and what is believed under it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from qsproj.bp.run import Status
from qsproj.models.joint.joint_graph import JointScores, infer_jointly
from qsproj.models.joint.joint_options import SYNCH, Propagation
from qsproj.models.joint.joint_structure import (
    ALWAYS_TRUE,
    NO_VARIABLE,
    TRUE_STATE,
    UNKNOWN,
    free_side,
    joint_structure,
    known_states,
    observed_side,
    synchronous_groups,
)
from qsproj.models.tree_decoder import TreeDecoder
from tests.oracles.factors import log_score
from tests.oracles.joint_pairs import PairEnumeration, derived_synchronously
from tests.oracles.trees import all_trees

TREES = TreeDecoder(projective=False, single_root=False)


def side(n, first, *, without=()):
    kept = ~np.eye(n + 1, dtype=bool)
    kept[:, 0] = False
    for arc in without:
        kept[arc] = False
    return free_side(np.full(kept.shape, 0.5), kept, first, TREES)


def structure_of(source, target, links):
    first = max(int(source.arcs.max()), int(target.arcs.max())) + 1
    return joint_structure(source, target, np.array(links, dtype=np.int32), first, families=(SYNCH,))


def states_of(structure, source_heads, target_heads, links):
    """Return the state of every variable, int32[V]."""
    states = np.zeros(structure.n_variables, dtype=np.int32)
    for one, heads in ((structure.source, source_heads), (structure.target, target_heads)):
        states[one.arcs[heads[1:], range(1, len(heads))]] = 1
    for link, variable in zip(map(tuple, structure.links.tolist()), structure.link_variables):
        states[variable] = link in links
    states[ALWAYS_TRUE] = 1
    return states


def trees_over(n, *, without=()):
    possible = all_trees(n, projective=False, single_root=False)
    trees = (np.array(heads, dtype=np.int32) for heads in possible)
    return [tree for tree in trees if not any(tree[d] == h for h, d in without)]


def subsets(links):
    for chosen in itertools.product((False, True), repeat=len(links)):
        yield {link for link, on in zip(links, chosen) if on}


@pytest.mark.parametrize("observed", [False, True])
def test_exactly_what_no_synchronous_derivation_has_is_ruled_out(observed):
    """All trees over three and two words, of which one arc each is pruned away, and all links."""
    pruned_source, pruned_target = [(1, 3)], [(2, 1)]
    candidates = [(1, 1), (2, 2), (3, 1), (1, 2), (3, 2)]
    target = side(2, 1, without=pruned_target)
    seen = set()
    for source_heads in trees_over(3, without=pruned_source):
        source = observed_side(source_heads) if observed else side(3, 20, without=pruned_source)
        structure = structure_of(source, target, candidates)
        groups = synchronous_groups(structure, known_states(structure))
        for target_heads, links in itertools.product(
            trees_over(2, without=pruned_target), subsets(candidates)
        ):
            states = states_of(structure, source_heads, target_heads, links)
            admitted = all(log_score(group, states[group.edges]) == 0.0 for group in groups)
            assert admitted == derived_synchronously(source_heads, target_heads, links | {(0, 0)})
            seen.add(admitted)
    assert seen == {False, True}


@pytest.mark.parametrize("observed", [False, True])
def test_beliefs_are_near_the_truth_under_synch(observed):
    """Hard constraints on short loops mislead more than rewards do; what is certain stays certain."""
    rng = np.random.default_rng(6)
    errors = []
    for _ in range(5):
        source = observed_side(np.array([-1, 2, 0])) if observed else side(2, 10)
        structure = structure_of(source, side(2, 1), [(1, 1), (2, 2), (1, 2)])
        scores = JointScores(
            source=rng.normal(size=(3, 3)),
            target=rng.normal(size=(3, 3)),
            links=rng.normal(size=3),
            fertility=np.zeros((4, 4)),
            factors=np.zeros(0),
        )
        truth = PairEnumeration(
            [np.array([-1, 2, 0])] if observed else trees_over(2),
            trees_over(2),
            (scores.source.tolist(), scores.target.tolist()),
            {tuple(link): score for link, score in zip(structure.links.tolist(), scores.links)},
            scores.fertility.tolist(),
            [],
            synchronous=True,
        )
        beliefs = infer_jointly(
            structure,
            scores,
            known_states(structure),
            propagation=Propagation(max_iterations=500, tolerance=1e-6),
        )
        assert beliefs.status is not Status.CONTRADICTION
        for h, d in np.argwhere(structure.target.arcs != NO_VARIABLE):
            exact = truth.probability(lambda s, t, links, f, h=h, d=d: t[d] == h)
            errors.append(beliefs.target[h, d] - exact)
        for k, link in enumerate(map(tuple, structure.links.tolist())):
            errors.append(
                beliefs.links[k] - truth.probability(lambda s, t, links, f, link=link: link in links)
            )
    assert np.abs(errors).mean() < 0.1


def test_what_is_observed_counts_under_synch_too():
    """With source tree, target tree and a link given, the other link is what enumeration says."""
    rng = np.random.default_rng(7)
    candidates = [(1, 1), (2, 2)]
    structure = structure_of(side(2, 10), side(2, 1), candidates)
    states = np.array([TRUE_STATE, UNKNOWN], dtype=np.int8)
    chances = []
    for source_heads, target_heads in itertools.product(trees_over(2), trees_over(2)):
        link_scores = rng.normal(size=2)
        scores = JointScores(
            source=np.zeros((3, 3)),
            target=np.zeros((3, 3)),
            links=link_scores,
            fertility=np.zeros((4, 4)),
            factors=np.zeros(0),
        )
        possible = [
            links
            for links in subsets(candidates)
            if (1, 1) in links and derived_synchronously(source_heads, target_heads, links | {(0, 0)})
        ]
        known = known_states(structure, target_heads, states, source_heads=source_heads)
        beliefs = infer_jointly(
            structure,
            scores,
            known,
            propagation=Propagation(tolerance=1e-9),
        )
        if not possible:
            assert beliefs.status is Status.CONTRADICTION
            continue
        weights = [np.exp(link_scores[1]) if (2, 2) in links else 1.0 for links in possible]
        exact = sum(weight for weight, links in zip(weights, possible) if (2, 2) in links) / sum(weights)
        assert beliefs.links == pytest.approx([1.0, exact], abs=1e-6)
        chances.append(exact)
    assert 0.0 in chances
    assert any(0.0 < chance < 1.0 for chance in chances)
