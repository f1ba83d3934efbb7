"""Exact second-order inference: agreement with enumeration, first order, and belief propagation's factors."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from qsproj.bp.beliefs import log_odds
from qsproj.bp.factors.child_sequence import child_sequence, step_table
from qsproj.bp.factors.link import link
from qsproj.bp.factors.pair import pair
from qsproj.bp.factors.tree import projective_tree
from qsproj.bp.graph import factor_graph
from qsproj.bp.links import all_links, arcs_of, dependent_chains, grandparents
from qsproj.bp.run import run
from qsproj.errors import UsageError
from qsproj.kernels.eisner_second_order_inside import inside
from qsproj.kernels.eisner_second_order_outside import outside
from qsproj.kernels.semirings import LOG, MAXIMUM
from qsproj.trees import projective, second_order
from qsproj.trees.posterior import NoTreeError
from qsproj.trees.second_order_scores import second_order_scores, tree_score
from tests.oracles.finite_differences import gradient
from tests.oracles.second_order import SecondOrderEnumeration, tree_parts
from tests.oracles.second_order import tree_score as score_by_definition
from tests.oracles.trees import all_trees, is_tree

MODELS = pytest.mark.parametrize("model", ["sibling", "grandparent"])
ROOTS = pytest.mark.parametrize("single_root", [False, True], ids=["multi_root", "single_root"])
FIXED = settings(derandomize=True, deadline=None, max_examples=40)


@cache
def parts_that_are_read(n: int) -> frozenset:
    trees = all_trees(n, projective=False, single_root=False)
    return frozenset(part for heads in trees for part in tree_parts(heads))


def random_scores(seed: int, n: int, scale: float, model: str, *, ties=False, forbidden=0.0) -> dict:
    """Draw scores; NaN where nothing may be read."""
    rng = np.random.default_rng(seed)
    size = n + 1
    shapes = {
        "arcs": (size, size),
        "siblings": (size, size, size),
        "stops": (size, size),
        "childless": (size, 2),
        "grandparents": (size, size, size),
    }
    scores: dict = {}
    for name, shape in shapes.items():
        values = rng.normal(size=shape)
        values = scale * (np.round(values) if ties else values)
        values[rng.random(shape) < forbidden] = -np.inf
        is_read = np.zeros(shape, dtype=bool)
        for index in (index for part, index in parts_that_are_read(n) if part == name):
            is_read[index] = True
        scores[name] = np.where(is_read, values, np.nan)
    if model == "sibling":
        scores["grandparents"] = None
    return scores


def drawn(*, most_words: int = 5, scales=(1.0, 10.0, 100.0)):
    return st.builds(
        random_scores,
        st.integers(0, 10_000),
        st.integers(1, most_words),
        st.sampled_from(scales),
        st.sampled_from(["sibling", "grandparent"]),
        ties=st.booleans(),
        forbidden=st.sampled_from([0.0, 0.0, 0.1]),
    )


def filled(scores: dict) -> dict:
    """Replace what is not read by 0."""
    return {name: None if array is None else np.nan_to_num(array, nan=0.0) for name, array in scores.items()}


def probabilities(posterior) -> dict:
    return {
        "arcs": posterior.marginals,
        "siblings": posterior.siblings,
        "stops": posterior.stops,
        "childless": posterior.childless,
        "grandparents": posterior.grandparents,
    }


@ROOTS
@FIXED
@given(scores=drawn())
def test_agrees_with_enumeration(single_root: bool, scores: dict) -> None:
    oracle = SecondOrderEnumeration(scores, single_root=single_root)
    checked = second_order_scores(**scores)
    if not oracle.trees:
        for function in (second_order.best, second_order.posterior, second_order.hill_climb):
            with pytest.raises(NoTreeError, match="found no tree"):
                function(checked, single_root=single_root)
        return
    heads, score = second_order.best(checked, single_root=single_root)
    assert score == pytest.approx(oracle.trees[0][1], rel=1e-12, abs=1e-9)
    assert score_by_definition(scores, tuple(heads.tolist())) == pytest.approx(score, rel=1e-12, abs=1e-9)
    posterior = second_order.posterior(checked, single_root=single_root)
    assert posterior.log_z == pytest.approx(oracle.log_z, rel=1e-12, abs=1e-9)
    expected = oracle.probabilities()
    for name, found in probabilities(posterior).items():
        if scores[name] is not None:
            truth = np.zeros_like(found)
            for index in (index for part, index in expected if part == name):
                truth[index] = expected[name, index]
            np.testing.assert_allclose(found, truth, atol=1e-9)


@FIXED
@given(scores=drawn(most_words=4))
def test_logs_agree_with_probabilities_and_bound_maxima(scores: dict) -> None:
    checked = second_order_scores(**scores)
    if not SecondOrderEnumeration(scores, single_root=False).trees:
        return
    parts = second_order._log_parts(checked, False)
    logs, _ = outside(parts, inside(parts, LOG), LOG)
    posterior = second_order.posterior(checked)
    np.testing.assert_allclose(np.exp(logs.arcs).sum(axis=1), posterior.marginals, atol=1e-9)
    np.testing.assert_allclose(np.exp(logs.siblings), posterior.siblings, atol=1e-9)
    best, _ = outside(parts, inside(parts, MAXIMUM), MAXIMUM)
    heads, _ = second_order.best(checked)
    words = np.arange(1, heads.size)
    np.testing.assert_allclose(best.arcs.max(axis=1)[heads[1:], words], 0.0, atol=1e-9)
    assert best.arcs.max() <= 1e-9


@MODELS
def test_probabilities_are_the_gradient_of_log_z(model: str) -> None:
    scores = filled(random_scores(1, 3, 1.0, model))
    posterior = probabilities(second_order.posterior(second_order_scores(**scores)))
    for name, point in scores.items():
        if point is not None:

            def log_z(values, name=name):
                return second_order.posterior(second_order_scores(**{**scores, name: values})).log_z

            np.testing.assert_allclose(posterior[name], gradient(log_z, point), atol=1e-8)


def large_scores(seed: int, n: int, scale: float, *, with_grandparents: bool):
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return scale * rng.normal(size=shape)

    size = n + 1
    return second_order_scores(
        draw(size, size),
        siblings=draw(size, size, size),
        stops=draw(size, size),
        childless=draw(size, 2),
        grandparents=draw(size, size, size) if with_grandparents else None,
    )


@ROOTS
@pytest.mark.parametrize("scale", [0.0, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("with_grandparents", [False, True])
def test_large_trees_keep_their_bounds(with_grandparents: bool, scale: float, single_root: bool) -> None:
    n = 24
    scores = large_scores(2, n, scale, with_grandparents=with_grandparents)
    heads, score = second_order.best(scores, single_root=single_root)
    assert is_tree(heads.tolist())
    assert not single_root or heads.tolist().count(0) == 1
    assert tree_score(scores, heads) == pytest.approx(score, rel=1e-12)
    posterior = second_order.posterior(scores, single_root=single_root)
    np.testing.assert_allclose(posterior.marginals[:, 1:].sum(axis=0), 1.0, atol=1e-9)
    np.testing.assert_allclose(posterior.siblings.sum(axis=2), posterior.marginals, atol=1e-9)
    assert posterior.log_z >= score - 1e-9
    if scale == 0.0:
        count = math.comb(3 * n - 2, n - 1) // n if single_root else math.comb(3 * n, n) // (2 * n + 1)
        assert posterior.log_z == pytest.approx(math.log(count), rel=1e-13)


@pytest.mark.parametrize("scale", [1.0, 40.0])
def test_first_order_scores_give_first_order_posteriors(scale: float) -> None:
    arcs = scale * np.random.default_rng(3).normal(size=(31, 31))
    truth = projective.posterior(arcs)
    for grandparents_scores in (None, np.zeros((31, 31, 31))):
        found = second_order.posterior(second_order_scores(arcs, grandparents=grandparents_scores))
        assert found.log_z == pytest.approx(truth.log_z, rel=1e-12)
        np.testing.assert_allclose(found.marginals, truth.marginals, atol=1e-9)


def factors_of(scores) -> tuple[np.ndarray, list]:
    """Return the boolean of each arc, and LINK, CHILDSEQ and GRAND with the same scores."""
    links = all_links(len(scores.arcs) - 1)
    heads, dependents, variables = arcs_of(links)
    chains = dependent_chains(links)
    steps = []
    for chain, previous, following, is_read in step_table(chains.starts):
        members = chains.dependents[chains.starts[chain] : chains.starts[chain + 1]]
        head, side = chains.heads[chain], chains.sides[chain]
        last = members[previous - 1] if previous else head
        if not is_read:
            steps.append(0.0)
        elif following <= len(members):
            steps.append(scores.siblings[head, members[following - 1], last])
        else:
            steps.append(scores.stops[head, last] if previous else scores.childless[head, side])
    groups = [
        link(variables, scores.arcs[heads, dependents]),
        child_sequence(chains.variables, chains.starts, steps),
    ]
    if scores.grandparents is not None:
        pairs, words = grandparents(links)
        groups.append(pair(pairs, scores.grandparents[tuple(words.T)]))
    return links, groups


@MODELS
def test_scores_mean_what_the_factors_of_belief_propagation_mean(model: str) -> None:
    """The sum of LINK, CHILDSEQ and GRAND over a tree's assignment is its score here, projective or not."""
    scores = second_order_scores(**random_scores(4, 4, 1.0, model))
    links, groups = factors_of(scores)
    for tree in all_trees(4, projective=False, single_root=False):
        states = np.zeros(links.max() + 1, dtype=np.int32)
        for d in range(1, 5):
            states[links[tree[d], d]] = 1
        total = sum(group.log_score(states[group.edges]) for group in groups)
        assert total == pytest.approx(tree_score(scores, tree), abs=1e-12)


@ROOTS
@pytest.mark.parametrize("strength", [0.0, 0.1, 1.0])
def test_belief_propagation_is_nearer_than_first_order(single_root: bool, strength: float) -> None:
    """It is exact where second-order scores are 0, and else leaves at most two thirds of what they change."""
    scores = filled(random_scores(8, 5, 1.0, "grandparent"))
    weakened = {name: array * (1.0 if name == "arcs" else strength) for name, array in scores.items()}
    checked = second_order_scores(**weakened)
    links, groups = factors_of(checked)
    groups.append(projective_tree(links, single_root=single_root))
    beliefs = run(factor_graph(np.full(links.max() + 1, 2), groups))
    found = expit(log_odds(beliefs, links[links >= 0]))
    truth = second_order.posterior(checked, single_root=single_root).marginals[links >= 0]
    without = projective.posterior(checked.arcs, single_root=single_root).marginals[links >= 0]
    assert np.abs(found - truth).max() <= np.abs(without - truth).max() * 2 / 3 + 1e-6


def neighbours(heads: tuple):
    """Yield every tree in which one word has another head."""
    for d, h in itertools.product(range(1, len(heads)), range(len(heads))):
        changed = (*heads[:d], h, *heads[d + 1 :])
        if h not in (heads[d], d) and is_tree(changed):
            yield changed


@ROOTS
@FIXED
@given(scores=drawn())
def test_hill_climbing_ends_where_no_change_helps(single_root: bool, scores: dict) -> None:
    oracle = SecondOrderEnumeration(scores, single_root=single_root)
    if not oracle.trees:
        return
    checked = second_order_scores(**scores)
    heads, score = second_order.hill_climb(checked, single_root=single_root)
    tree = tuple(heads.tolist())
    assert is_tree(tree)
    assert score >= oracle.trees[0][1] - 1e-9
    assert score == pytest.approx(score_by_definition(scores, tree), rel=1e-12, abs=1e-9)
    for changed in neighbours(tree):
        if not single_root or changed.count(0) == 1:
            assert score_by_definition(scores, changed) <= score + 1e-8


def test_hill_climbing_follows_the_steepest_change() -> None:
    """From a chain, step by step, as the definition climbs."""
    scores = random_scores(1, 5, 1.0, "grandparent")
    tree = (-1, 0, 1, 2, 3, 4)
    heads, _ = second_order.hill_climb(second_order_scores(**scores), start=tree)
    steps = 0
    while True:
        best = max(neighbours(tree), key=lambda changed: score_by_definition(scores, changed))
        if score_by_definition(scores, best) <= score_by_definition(scores, tree):
            break
        tree, steps = best, steps + 1
    assert steps > 1
    assert tuple(heads.tolist()) == tree


def test_bad_starts_are_refused() -> None:
    scores = second_order_scores(np.zeros((4, 4)))
    for start, message in (
        ([-1, 0, 1], "has 2 words, expected 3"),
        ([-1, 2, 1, 0], "are no tree"),
        ([-1, 0, -1, 1], "are no tree"),
    ):
        with pytest.raises(UsageError, match=message):
            second_order.hill_climb(scores, start=start)
    with pytest.raises(UsageError, match="forbidden"):
        second_order.hill_climb(scores, start=[-1, 0, 0, 1], single_root=True)


def test_bad_scores_are_refused() -> None:
    arcs = np.zeros((4, 4))
    with pytest.raises(ValueError, match=r"sibling scores have shape \(4, 4\), expected \(4, 4, 4\)"):
        second_order_scores(arcs, siblings=arcs)
    bad = np.zeros((4, 4, 4))
    bad[1, 2, 3] = np.nan
    second_order_scores(arcs, siblings=bad)
    with pytest.raises(ValueError, match=r"the grandparent score \[1, 2, 3\] is nan"):
        second_order_scores(arcs, grandparents=bad)


def test_nothing_is_mutated_and_results_are_read_only() -> None:
    scores = large_scores(6, 6, 1.0, with_grandparents=True)
    before = [np.array(getattr(scores, name)) for name in scores.__slots__]
    second_order.hill_climb(scores, single_root=True)
    posterior = second_order.posterior(scores, single_root=True)
    for name, array in zip(scores.__slots__, before):
        np.testing.assert_array_equal(getattr(scores, name), array)
    with pytest.raises(ValueError, match="read-only"):
        posterior.marginals[0, 1] = 0.0


def test_overflow_falls_back_to_logs(monkeypatch) -> None:
    """With a limit that no chart keeps, the same numbers come from log space."""
    scores = large_scores(7, 8, 3.0, with_grandparents=True)
    truth = second_order.posterior(scores)
    monkeypatch.setattr(second_order, "LIMIT", 0.0)
    found = second_order.posterior(scores)
    assert found.log_z == pytest.approx(truth.log_z, rel=1e-13)
    np.testing.assert_allclose(found.marginals, truth.marginals, atol=1e-12)
