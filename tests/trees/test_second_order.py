"""Exact second-order inference: agreement with enumeration and first order, and bounds at every scale."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings

from qsproj.kernels.trees.second_order import inside, outside
from qsproj.kernels.trees.semirings import LOG, MAXIMUM
from qsproj.trees import projective, second_order
from qsproj.trees.family import NoTreeError
from qsproj.trees.second_order import second_order_scores
from tests.oracles.finite_differences import gradient
from tests.oracles.second_order import SecondOrderEnumeration
from tests.oracles.second_order import tree_score as score_by_definition
from tests.oracles.trees import is_tree
from tests.trees.second_order_cases import drawn, filled, random_scores

MODELS = pytest.mark.parametrize("model", ["sibling", "grandparent"])
ROOTS = pytest.mark.parametrize("single_root", [False, True], ids=["multi_root", "single_root"])
FIXED = settings(derandomize=True, max_examples=40)


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
        for function in (second_order.best, second_order.posterior):
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
    assert score_by_definition(asdict(scores), tuple(heads.tolist())) == pytest.approx(score, rel=1e-12)
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
    second_order.best(scores, single_root=True)
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
