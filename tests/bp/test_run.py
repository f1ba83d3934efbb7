"""The engine: exact where graphs are acyclic, honest where they are not."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qsproj.bp.factors.booleans import at_most_one, exactly_one, link, nand, no2cycle, not2, pair
from qsproj.bp.factors.chains import child_sequence, step_starts, valence
from qsproj.bp.factors.tags import tag, tag_link, trigram
from qsproj.bp.factors.trees import no_cross, projective_tree, tree
from qsproj.bp.graph import factor_graph
from qsproj.bp.links import arcs_of, candidate_heads, dependent_chains, grandparents
from qsproj.bp.run import (
    BPOptions,
    Status,
    assignment,
    bethe_log_z,
    factor_expectations,
    log_odds,
    probabilities,
    run,
)
from qsproj.errors import UsageError
from qsproj.trees import nonprojective, projective
from tests.bp.links import all_links
from tests.bp.random_graphs import acyclic_graph
from tests.oracles.factor_graphs import GraphEnumeration
from tests.oracles.factors import log_score

SCHEDULES = ["flooding", "sequential", "residual"]


def as_states(values):
    return np.array(values, dtype=np.int32)


def booleans(n):
    return np.full(n, 2)


@pytest.mark.parametrize("schedule", SCHEDULES)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1.0, 10.0, 100.0]))
@settings(max_examples=20, derandomize=True)
def test_sums_are_exact_on_acyclic_graphs(schedule, seed, scale):
    states, groups = acyclic_graph(np.random.default_rng(seed), scale)
    truth = GraphEnumeration(states, groups, as_states)
    beliefs = run(factor_graph(states, groups), BPOptions(schedule=schedule))
    if not truth.scored:
        assert beliefs.status is Status.CONTRADICTION
        assert bethe_log_z(beliefs) == -math.inf
        return
    assert beliefs.status is Status.CONVERGED
    for variable in range(len(states)):
        np.testing.assert_allclose(probabilities(beliefs, variable), truth.marginals(variable), atol=1e-9)
    assert bethe_log_z(beliefs) == pytest.approx(truth.log_z, abs=1e-9 * scale)


@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1.0, 10.0, 100.0]))
@settings(max_examples=30, derandomize=True)
def test_maxima_find_the_best_assignment_on_acyclic_graphs(seed, scale):
    states, groups = acyclic_graph(np.random.default_rng(seed), scale)
    truth = GraphEnumeration(states, groups, as_states)
    beliefs = run(factor_graph(states, groups), maximise=True)
    if not truth.scored:
        assert beliefs.status is Status.CONTRADICTION
        return
    best, score = truth.best()
    assert [score for _, score in truth.scored].count(score) > 1 or assignment(beliefs).tolist() == list(best)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, derandomize=True)
def test_gradient_of_log_z_on_acyclic_graphs(seed):
    rng = np.random.default_rng(seed)
    states, groups = acyclic_graph(rng, 1.0, infinite=False)
    beliefs = run(factor_graph(states, groups))
    if beliefs.status is Status.CONTRADICTION:
        return
    assert_gradient(states, groups, beliefs, rng, run)


def assert_gradient(states, groups, beliefs, rng, solve):
    """Compare the derivative of Bethe log Z in a random direction with a finite difference."""
    from dataclasses import replace

    directions = [rng.normal(size=group.scores.shape) for group in groups]
    step = 1e-5

    def value(sign):
        moved = [
            replace(group, scores=group.scores + sign * step * direction) if group.scores.size else group
            for group, direction in zip(groups, directions)
        ]
        return bethe_log_z(solve(factor_graph(states, moved)))

    expected = (value(1) - value(-1)) / (2 * step)
    found = sum(np.sum(e * d) for e, d in zip(factor_expectations(beliefs), directions))
    assert found == pytest.approx(expected, abs=1e-6)


def second_order_graph(rng, n, scale, *, tree_factor=projective_tree):
    """LINK, GRAND, CHILDSEQ and VALENCE under a tree factor: many loops."""
    links = all_links(n)
    _, _, variables = arcs_of(links)
    pairs, _ = grandparents(*arcs_of(links))
    chains = dependent_chains(*arcs_of(links), size=len(links))
    groups = [
        link(variables, scale * rng.normal(size=variables.size)),
        pair(pairs, scale * rng.normal(size=len(pairs))),
        child_sequence(
            chains.variables, chains.starts, scale * rng.normal(size=step_starts(chains.starts)[-1])
        ),
        valence(chains.variables, chains.starts, scale * rng.normal(size=(chains.heads.size, 3))),
        tree_factor(links),
    ]
    return booleans(variables.size), groups


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_gradient_of_bethe_log_z_at_a_fixed_point_of_a_loopy_graph(schedule):
    rng = np.random.default_rng(3)
    states, groups = second_order_graph(rng, 4, 0.4)

    def solve(graph):
        return run(graph, BPOptions(schedule=schedule, tolerance=1e-11, max_iterations=500))

    beliefs = solve(factor_graph(states, groups))
    assert beliefs.status is Status.CONVERGED
    assert_gradient(states, groups, beliefs, rng, solve)


def test_schedules_reach_the_same_fixed_point():
    states, groups = second_order_graph(np.random.default_rng(8), 4, 0.5)
    graph = factor_graph(states, groups)
    results = [
        run(graph, BPOptions(schedule=schedule, tolerance=1e-10, damping=0.2)) for schedule in SCHEDULES
    ]
    assert {result.status for result in results} == {Status.CONVERGED}
    for result in results[1:]:
        np.testing.assert_allclose(result.log_ratios, results[0].log_ratios, atol=1e-7)


def test_loopy_beliefs_are_near_the_truth_for_weak_scores():
    states, groups = second_order_graph(np.random.default_rng(2), 3, 0.1, tree_factor=tree)
    graph = factor_graph(states, groups)
    truth = GraphEnumeration(states, groups, as_states)
    beliefs = run(graph)
    found = [probabilities(beliefs, variable)[1] for variable in range(len(states))]
    expected = [truth.marginals(variable)[1] for variable in range(len(states))]
    np.testing.assert_allclose(found, expected, atol=0.02)
    assert bethe_log_z(beliefs) == pytest.approx(truth.log_z, abs=0.03)


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("scale", [1.0, 10.0, 100.0])
@pytest.mark.parametrize(("factor", "inference"), [(projective_tree, projective), (tree, nonprojective)])
def test_tree_factor_alone_reproduces_the_posterior(factor, inference, scale, single_root):
    n = 9
    scores = scale * np.random.default_rng(n).normal(size=(n + 1, n + 1))
    links = all_links(n)
    heads, dependents, variables = arcs_of(links)
    groups = [link(variables, scores[heads, dependents]), factor(links, single_root=single_root)]
    beliefs = run(factor_graph(booleans(variables.size), groups))
    truth = inference.posterior(scores, single_root=single_root)
    odds = log_odds(beliefs, variables)
    expected = truth.log_marginals[heads, dependents]
    np.testing.assert_allclose(-np.logaddexp(0.0, -odds), expected, rtol=1e-12, atol=1e-11 * scale)
    assert bethe_log_z(beliefs) == pytest.approx(truth.log_z, abs=1e-11 * scale)


def test_max_product_tree_finds_the_best_tree():
    n = 12
    scores = np.random.default_rng(4).normal(size=(n + 1, n + 1))
    links = all_links(n)
    heads, dependents, variables = arcs_of(links)
    for factor, inference in ((projective_tree, projective), (tree, nonprojective)):
        groups = [link(variables, scores[heads, dependents]), factor(links)]
        values = assignment(run(factor_graph(booleans(variables.size), groups), maximise=True))
        best, _ = inference.best(scores)
        assert sorted(dependents[values == 1]) == list(range(1, n + 1))
        assert all(best[d] == h for h, d in zip(heads[values == 1], dependents[values == 1]))


def test_exactly_one_head_each_is_a_softmax_over_heads():
    n = 6
    scores = 20.0 * np.random.default_rng(1).normal(size=(n + 1, n + 1))
    links = all_links(n)
    heads, dependents, variables = arcs_of(links)
    groups = [link(variables, scores[heads, dependents]), exactly_one(candidate_heads(links))]
    beliefs = run(factor_graph(booleans(variables.size), groups))
    np.fill_diagonal(scores, -np.inf)
    expected = np.exp(scores - np.logaddexp.reduce(scores, axis=0))
    found = 1.0 / (1.0 + np.exp(-log_odds(beliefs, variables)))
    np.testing.assert_allclose(found, expected[heads, dependents], atol=1e-13)


def test_at_most_one_implies_not2_and_two_cycles_never_win():
    links = all_links(3)
    _, _, variables = arcs_of(links)
    for groups in ([at_most_one(candidate_heads(links))], [not2(links)]):
        for values in np.ndindex(*booleans(variables.size)):
            table = np.zeros(links.shape, dtype=int)
            table[links >= 0] = as_states(values)[links[links >= 0]]
            allowed = log_score(groups[0], as_states(values)[groups[0].edges]) == 0.0
            assert allowed == (table.sum(axis=0).max() <= 1)
    cycles = no2cycle(links)
    assert sorted(map(sorted, cycles.edges.reshape(-1, 2).tolist())) == sorted(
        sorted((links[a, b], links[b, a])) for a, b in ((1, 2), (1, 3), (2, 3))
    )


def test_no_cross_counts_crossing_pairs():
    n = 4
    links = all_links(n)
    heads, dependents, _ = arcs_of(links)
    group = no_cross(links, list(combinations(range(1, n + 1), 2)), np.ones(6))
    # 0 -> 3 crosses 1 -> 4 and 4 -> 2, and 3 -> 1 crosses 4 -> 2; all other pairs nest or share an end.
    tree_heads = {3: 0, 1: 3, 4: 1, 2: 4}
    values = as_states([tree_heads[d] == h for h, d in zip(heads, dependents)])
    assert log_score(group, values[group.edges]) == 3.0


def test_joint_tagging_and_parsing_on_a_graph_of_all_tag_factors():
    rng = np.random.default_rng(7)
    links = all_links(2)
    heads, dependents, arcs = arcs_of(links)
    root_tag, tags = arcs.size, np.arange(arcs.size + 1, arcs.size + 3)
    tag_of = np.array([root_tag, *tags])
    from_root = heads == 0
    states = np.array([*booleans(arcs.size), 1, 3, 3])
    groups = [
        link(arcs, rng.normal(size=arcs.size)),
        tag(tags, rng.normal(size=(2, 3))),
        tag_link(
            arcs[from_root],
            tag_of[heads[from_root]],
            tag_of[dependents[from_root]],
            0.3 * rng.normal(size=(from_root.sum(), 1, 3)),
        ),
        tag_link(
            arcs[~from_root],
            tag_of[heads[~from_root]],
            tag_of[dependents[~from_root]],
            0.3 * rng.normal(size=((~from_root).sum(), 3, 3)),
        ),
        trigram(tags, 0.3 * rng.normal(size=(4, 4, 4))),
        tree(links),
    ]
    truth = GraphEnumeration(states, groups, as_states)
    beliefs = run(factor_graph(states, groups))
    assert beliefs.status is Status.CONVERGED
    for variable in range(len(states)):
        np.testing.assert_allclose(probabilities(beliefs, variable), truth.marginals(variable), atol=0.02)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    "groups",
    [
        [link([0], [np.inf]), link([0], [-np.inf])],
        [link([0, 1], [np.inf, np.inf]), nand([[0, 1]])],
        [link([0, 1], [-np.inf, -np.inf]), exactly_one([[0, 1]])],
        [exactly_one([[0, 1]]), exactly_one([[0]]), exactly_one([[1]])],
    ],
    ids=["evidence", "nand", "none left", "three constraints"],
)
def test_contradictions_are_a_status(groups, schedule):
    beliefs = run(factor_graph(booleans(2), groups), BPOptions(schedule=schedule))
    assert beliefs.status is Status.CONTRADICTION
    assert "no assignment is possible" in str(beliefs.status)
    assert bethe_log_z(beliefs) == -math.inf


def test_factors_that_draw_the_same_hard_conclusion_do_not_fall_silent_for_each_other():
    links = all_links(3)
    heads, dependents, variables = arcs_of(links)
    known = np.array([0, 2, 0, 2])[dependents] == heads
    groups = [link(variables, np.where(known, 0.3, -np.inf)), tree(links), projective_tree(links)]
    beliefs = run(factor_graph(booleans(9), groups))
    assert beliefs.status is Status.CONVERGED
    assert log_odds(beliefs, variables).tolist() == np.where(known, np.inf, -np.inf).tolist()


@pytest.mark.parametrize("factor", [projective_tree, tree])
def test_no_feasible_tree_is_a_contradiction(factor):
    links = all_links(3)
    _, dependents, variables = arcs_of(links)
    groups = [link(variables, np.where(dependents == 2, -np.inf, 0.0)), factor(links)]
    assert run(factor_graph(booleans(9), groups)).status is Status.CONTRADICTION


def test_a_state_that_tags_rule_out_stays_out_and_the_others_keep_their_ratio():
    groups = [tag([0], [[-np.inf, 1.0, 2.0]]), tag([0], [[5.0, 0.5, -np.inf]]), tag([0], [[0.0, 0.0, 9.0]])]
    np.testing.assert_array_equal(probabilities(run(factor_graph([3], groups)), 0), [0.0, 1.0, 0.0])
    beliefs = run(factor_graph([3], [groups[0], groups[0]]))
    expected = np.exp([2.0, 4.0]) / np.exp([2.0, 4.0]).sum()
    np.testing.assert_allclose(probabilities(beliefs, 0)[1:], expected, atol=1e-10)


@pytest.mark.parametrize(
    "allowed", [[[2], [0, 1]], [[1, 2], [0, 1], [0, 2]], [[1, 2], [0]], [[0], [1, 2], [1, 2]]]
)
def test_tags_that_leave_no_state_contradict(allowed):
    scores = np.full((len(allowed), 3), -np.inf)
    for row, states in enumerate(allowed):
        scores[row, states] = 0.5
    groups = [tag([0], scores[row : row + 1]) for row in range(len(allowed))]
    assert run(factor_graph([3], groups)).status is Status.CONTRADICTION


def frustrated_graph():
    """Three booleans, each pair of which would rather differ, very much so: beliefs swing."""
    unlike = [[0, 1], [1, 2], [0, 2]]
    groups = [pair(unlike, [-8.0] * 3), link([0, 1, 2], [7.0, 7.1, 7.2])]
    return factor_graph(booleans(3), groups)


def test_oscillation_is_told_from_the_limit_and_damping_helps():
    swinging = run(frustrated_graph(), BPOptions(max_iterations=60))
    assert swinging.status is Status.OSCILLATING
    assert "damping" in str(swinging.status)
    assert run(frustrated_graph(), BPOptions(max_iterations=200, damping=0.5)).status is Status.CONVERGED
    states, groups = second_order_graph(np.random.default_rng(8), 4, 0.5)
    short = run(factor_graph(states, groups), BPOptions(max_iterations=3))
    assert short.status is Status.LIMIT
    assert short.residuals.size == 3


def test_annealing_ends_near_the_best_assignment():
    states, groups = acyclic_graph(np.random.default_rng(12), 1.0, infinite=False)
    best, _ = GraphEnumeration(states, groups, as_states).best()
    beliefs = run(factor_graph(states, groups), BPOptions(temperatures=(4.0, 2.0, 1.0, 0.5, 0.1, 0.01)))
    assert beliefs.status is Status.CONVERGED
    assert beliefs.residuals.size > 6
    assert assignment(beliefs).tolist() == list(best)
    assert all(probabilities(beliefs, v).max() > 0.99 for v in range(len(states)))


def test_variables_without_a_factor_are_uniform():
    beliefs = run(factor_graph([2, 5, 1], [link([0], [0.0])]))
    np.testing.assert_allclose(probabilities(beliefs, 1), 0.2)
    assert bethe_log_z(beliefs) == pytest.approx(math.log(10))
    assert run(factor_graph([2], [])).status is Status.CONVERGED


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: link([0], [np.nan]), "LINK"),
        (lambda: pair([[0, 1]], [np.nan]), r"score \[0\].*nan.*diverged"),
        (lambda: pair([[0, 1]], [np.inf]), "inf"),
        (lambda: pair([[0, 1]], [0.0, 1.0]), "shape"),
        (lambda: pair([[0, 1, 2]], [0.0]), r"\(factors, 2\)"),
        (lambda: child_sequence([0], [0, 1], [0.0, np.nan, 0.0, 0.0]), "CHILDSEQ"),
        (lambda: child_sequence([0], [0, 1, 1], [0.0, 0.0, 0.0, 0.0, -np.inf]), "no boolean"),
        (lambda: valence([0], [0, 1], [[0.0, np.nan]]), "VALENCE"),
        (lambda: valence([0], [0, 1], [[0.0]]), "2 or more bins"),
        (lambda: exactly_one([[0], []]), "family 1 of EXACTLY1"),
        (lambda: no_cross(all_links(3), [[1, 2]], [np.nan]), "NOCROSS"),
        (lambda: no_cross(all_links(3), [[1, 1]], [0.0]), "two different words"),
        (lambda: tag([0], [[np.nan, 0.0]]), "TAG"),
        (lambda: tag([0], [[0.0]]), "2 or more states"),
        (lambda: tag_link([0], [1], [2], [[[np.nan]]]), "TAGLINK"),
        (lambda: tag_link([0], [1], [2, 3], [[[0.0]]]), "as many of each"),
        (lambda: trigram([0], np.full((3, 3, 3), np.nan)), "TRIGRAM"),
        (lambda: trigram([], np.zeros((3, 3, 3))), "1 or more"),
        (lambda: factor_graph([2], [link([1], [0.0])]), "variable 1, expected 0..0"),
        (lambda: factor_graph([2] * 3, [link([-1, 2], [0.0, 0.0])]), "variable -1, expected 0..2"),
        (lambda: factor_graph([3], [link([0], [0.0])]), "expects 2 states of variable 0, which has 3"),
        (lambda: factor_graph([0], []), "at least 1"),
    ],
)
def test_bad_input_is_refused_in_plain_words(build, text):
    with pytest.raises(ValueError, match=text):
        build()


@pytest.mark.parametrize(
    "options",
    [
        {"schedule": "random"},
        {"max_iterations": 0},
        {"damping": 1.0},
        {"temperatures": ()},
        {"temperatures": (0.0,)},
    ],
)
def test_bad_options_are_refused(options):
    with pytest.raises(UsageError, match=next(iter(options))):
        BPOptions(**options)


def test_max_product_gives_no_log_z():
    beliefs = run(frustrated_graph(), maximise=True)
    for function in (bethe_log_z, factor_expectations):
        with pytest.raises(UsageError, match="max-product"):
            function(beliefs)
