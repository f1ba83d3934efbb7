"""Hildreth's algorithm against its optimality conditions and a general solver, on small dense vectors."""

import numpy as np
import pytest
from scipy.optimize import minimize

from qsproj.kernels.features.hildreth import hildreth
from qsproj.training.margins import Constraints, LeastChange

BUCKETS = 12


def problem(seed, *, arcs=8, constraints=6):
    """Return random rows of features, some fired twice, and constraints on sums of them."""
    rng = np.random.default_rng(seed)
    rows = [rng.integers(BUCKETS, size=rng.integers(1, 6)) for _ in range(arcs)]
    members = [rng.choice(arcs, size=rng.integers(2, 5), replace=False) for _ in range(constraints)]
    signs = [rng.choice([-1.0, 1.0], size=len(of_one)) for of_one in members]
    starts = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    made = Constraints(
        np.zeros(arcs, np.int32),
        np.arange(arcs, dtype=np.int32),
        np.concatenate(([0], np.cumsum([len(one) for one in members]))).astype(np.int64),
        np.concatenate(members).astype(np.int32),
        np.concatenate(signs),
        rng.uniform(0.5, 3.0, size=constraints),
    )
    vectors = np.zeros((constraints, BUCKETS))
    for c in range(constraints):
        for row, sign in zip(members[c], signs[c], strict=True):
            np.add.at(vectors[c], rows[row], sign)
    return (starts, np.concatenate(rows).astype(np.uint64)), made, vectors


def dual(multipliers, slacks, vectors):
    return multipliers @ slacks - 0.5 * ((multipliers @ vectors) ** 2).sum()


@pytest.mark.parametrize("limit", [0.2, 5.0, np.inf])
@pytest.mark.parametrize("seed", range(8))
def test_the_change_is_the_least_that_meets_the_constraints(seed, limit):
    rows, constraints, vectors = problem(seed, constraints=4)
    start = np.random.default_rng(seed + 100).normal(size=BUCKETS)
    slacks = constraints.bounds - vectors @ start
    least = LeastChange(start.copy(), limit=limit)
    multipliers = least.meet(constraints, rows, slacks, np.zeros(4))
    change = least.weights - start
    np.testing.assert_allclose(change, multipliers @ vectors, atol=1e-9)
    assert not least.gradient.any()
    # Multipliers are possible, and where one is below the limit its constraint holds, with equality above 0.
    after = slacks - vectors @ change
    assert np.all((multipliers >= 0.0) & (multipliers <= limit))
    assert np.all(after[multipliers < limit] <= 5e-3)
    np.testing.assert_allclose(after[(multipliers > 0.0) & (multipliers < limit)], 0.0, atol=5e-3)
    solved = minimize(
        lambda a: -dual(a, slacks, vectors), np.zeros(4), bounds=[(0.0, limit)] * 4, method="L-BFGS-B"
    )
    assert dual(multipliers, slacks, vectors) == pytest.approx(-solved.fun, abs=1e-2)


@pytest.mark.parametrize("seed", range(4))
def test_constraints_met_again_with_others_end_where_all_at_once_do(seed):
    """What a constraint has moved before counts towards its limit, and is taken back where it is too much."""
    limit = 0.3
    rows, constraints, vectors = problem(seed)
    least, once = LeastChange(np.zeros(BUCKETS), limit=limit), LeastChange(np.zeros(BUCKETS), limit=limit)
    multipliers = np.zeros(6)
    for some in (np.arange(6) < 3, np.arange(6) >= 2, np.ones(6, dtype=bool)):
        slacks = constraints.bounds - vectors @ least.weights
        chosen = constraints.chosen(some)
        arcs = np.unique(constraints.members[np.repeat(some, np.diff(constraints.starts))])
        starts, of_rows = rows
        lengths = np.diff(starts)[arcs]
        buckets = [of_rows[starts[arc] : starts[arc + 1]] for arc in arcs]
        own = np.concatenate(([0], np.cumsum(lengths))), np.concatenate(buckets)
        multipliers[some] = least.meet(chosen, own, slacks[some], multipliers[some])
        np.testing.assert_allclose(least.weights, multipliers @ vectors, atol=1e-9)
        assert np.all((multipliers >= 0.0) & (multipliers <= limit))
    found = once.meet(constraints, rows, constraints.bounds, np.zeros(6))
    assert multipliers.max() == limit
    bounds = constraints.bounds
    assert dual(multipliers, bounds, vectors) == pytest.approx(dual(found, bounds, vectors), abs=1e-2)


def test_the_dual_objective_never_falls():
    rows, constraints, vectors = problem(3, arcs=14, constraints=12)
    slacks = constraints.bounds.copy()
    reached = []
    for passes in range(1, 15):
        multipliers, change = np.zeros(12), np.zeros(BUCKETS)
        hildreth(
            constraints.starts,
            constraints.members,
            constraints.signs,
            *rows,
            slacks,
            0.7,
            0.0,
            passes,
            multipliers,
            change,
        )
        reached.append(dual(multipliers, slacks, vectors))
    assert reached[0] > 0.0
    assert np.all(np.diff(reached) >= -1e-12)


def test_one_constraint_is_met_in_closed_form():
    rows, constraints, vectors = problem(1, constraints=1)
    least = LeastChange(np.zeros(BUCKETS))
    least.meet(constraints, rows, constraints.bounds, np.zeros(1))
    np.testing.assert_allclose(least.weights, constraints.bounds[0] * vectors[0] / (vectors[0] @ vectors[0]))


def test_arcs_of_the_same_features_are_passed_over():
    rows = np.array([0, 2, 4]), np.array([1, 3, 3, 1], np.uint64)
    same = Constraints(
        np.zeros(2, np.int32),
        np.ones(2, np.int32),
        np.array([0, 2]),
        np.array([0, 1], np.int32),
        np.array([1.0, -1.0]),
        np.ones(1),
    )
    least = LeastChange(np.zeros(BUCKETS))
    assert least.meet(same, rows, np.ones(1), np.zeros(1)).tolist() == [0.0]
    assert not least.weights.any()
