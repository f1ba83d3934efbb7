"""AdaGrad and its running mean against plain loops that keep every weight vector there ever was."""

import numpy as np
import pytest

from qsproj.kernels.features.sparse_gradient import adagrad_outcomes, gather_rows
from qsproj.kernels.tagging.linear_chain import step_rows
from qsproj.training.optimiser import AdaGrad, DenseAdaGrad, PlainSteps, RowAdaGrad


def gradients(rng: np.random.Generator, *, epochs: int, steps: int, buckets: int) -> np.ndarray:
    dense = rng.normal(size=(epochs, steps, buckets))
    return np.where(rng.random(dense.shape) < 0.5, dense, 0.0)


def by_hand(
    all_gradients: np.ndarray, *, rate: float, l2: float, first_squares: float
) -> tuple[list[float], list[float]]:
    """Return the last weights and the mean of those after every step, before any penalty that follows it."""
    n_epochs, n_steps, buckets = all_gradients.shape
    weights, squares, past = [0.0] * buckets, [first_squares] * buckets, []
    for epoch in range(n_epochs):
        for step in range(n_steps):
            for b, slope in enumerate(all_gradients[epoch, step]):
                if slope:
                    squares[b] += slope**2
                    weights[b] -= rate * slope / (squares[b] + 1e-12) ** 0.5
            past.append(list(weights))
        weights = [w / (1 + l2 * rate / (s + 1e-12) ** 0.5) for w, s in zip(weights, squares, strict=True)]
    return weights, [sum(column) / len(past) for column in zip(*past, strict=True)]


def test_an_l1_penalty_takes_its_share_of_a_step_from_every_weight() -> None:
    descent = AdaGrad(np.zeros(3), rate=0.2, l1=0.5)
    gradient = np.array([2.0, -0.4, 0.1])
    descent.gather(gather_rows, np.arange(3, dtype=np.int32)[:, None], gradient)
    descent.step()
    np.testing.assert_allclose(descent.weights, [-0.2, 0.2, -0.2], atol=1e-9)
    descent.regularise()
    # The step sizes are 0.2 over 2, 0.4 and 0.1; what would change its sign is zero.
    np.testing.assert_allclose(descent.weights, [-0.2 + 0.05, 0.0, 0.0], atol=1e-9)
    descent.step()
    np.testing.assert_allclose(descent.mean(), [(-0.2 - 0.15) / 2, 0.0, 0.0], atol=1e-9)


@pytest.mark.parametrize(("l2", "first_squares"), [(0.0, 0.0), (0.7, 0.0), (0.7, 0.3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_and_their_mean(dtype: type, l2: float, first_squares: float) -> None:
    slopes = gradients(np.random.default_rng(3), epochs=3, steps=5, buckets=4)
    descent = AdaGrad(np.zeros(4, dtype=dtype), rate=0.2, l2=l2, capacity=4, first_squares=first_squares)
    for epoch in slopes:
        for gradient in epoch:
            descent.gather(gather_rows, np.arange(4, dtype=np.int32)[:, None], gradient)
            descent.step()
            assert not descent.gradient.any()
        descent.regularise()
    last, mean = by_hand(slopes, rate=0.2, l2=l2, first_squares=first_squares)
    tolerance = 1e-5 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(descent.weights, last, atol=tolerance)
    np.testing.assert_allclose(descent.mean(), mean, atol=tolerance)


def test_a_few_numbers_that_every_example_moves() -> None:
    slopes = np.random.default_rng(5).normal(size=(1, 6, 3))
    descent = DenseAdaGrad(np.zeros(3), rate=0.2)
    for gradient in slopes[0]:
        descent.step(gradient)
    last, mean = by_hand(slopes, rate=0.2, l2=0.0, first_squares=0.0)
    np.testing.assert_allclose(descent.weights, last, atol=1e-12)
    np.testing.assert_allclose(descent.mean(), mean, atol=1e-12)


@pytest.mark.parametrize("counts_start", [False, True])
def test_rows_move_part_by_part(counts_start: bool) -> None:
    """Two parts of a step that share a row add two squares, where AdaGrad of sums would add one."""
    slopes = np.random.default_rng(6).normal(size=(4, 2, 3))
    rows = RowAdaGrad(np.zeros((2, 3)), rate=0.2, counts_start=counts_start)
    outcomes = RowAdaGrad(np.zeros((2, 3)), rate=0.2, counts_start=counts_start)

    def along_a_row(parts, weights, state, rate, step):
        for part in parts:
            step_rows(np.array([[1]], dtype=np.int32), part[None], weights, state, rate, step)

    def along_outcomes(parts, weights, state, rate, step):
        for part in parts:
            adagrad_outcomes(weights, state, np.ones(1, np.uint64), part, rate, step)

    past = [np.zeros(3)]
    weights, squares = np.zeros(3), np.zeros(3)
    for parts in slopes:
        for part in parts:
            squares += part**2
            weights = weights - 0.2 * part / np.sqrt(squares)
        past.append(weights)
        rows.step(along_a_row, parts)
        outcomes.step(along_outcomes, parts)
        if len(past) == 2:
            np.testing.assert_allclose(rows.mean()[1], past[not counts_start], atol=1e-6)
    mean = np.mean(past[:-1] if counts_start else past[1:], axis=0)
    for descent in (rows, outcomes):
        np.testing.assert_allclose(descent.weights, [np.zeros(3), weights], atol=1e-6)
        np.testing.assert_allclose(descent.mean(), [np.zeros(3), mean], atol=1e-6)


@pytest.mark.parametrize("capacity", [2, 3, 64])
def test_another_rule_is_one_method_and_no_room_loses_nothing(capacity: int) -> None:
    rng = np.random.default_rng(7)
    perceptron, past = PlainSteps(np.zeros(5), capacity=capacity), []
    plain = np.zeros(5)
    for _ in range(6):
        buckets, slopes = rng.integers(5, size=(7, 2)).astype(np.int32), rng.normal(size=7)
        perceptron.gather(gather_rows, buckets, slopes)
        perceptron.step()
        for row, slope in zip(buckets, slopes, strict=True):
            for bucket in row:
                plain[bucket] -= slope
        past.append(plain.copy())
        np.testing.assert_allclose(perceptron.weights, plain, atol=1e-12)
        assert not perceptron.gradient.any()
    np.testing.assert_allclose(perceptron.mean(), np.mean(past, axis=0), atol=1e-12)
