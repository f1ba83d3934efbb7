"""AdaGrad and its running mean against plain loops that keep every weight vector there ever was."""

import numpy as np
import pytest

from qsproj.kernels.features.adagrad import adagrad
from qsproj.training.adagrad import AdaGrad


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


@pytest.mark.parametrize(("l2", "first_squares"), [(0.0, 0.0), (0.7, 0.0), (0.7, 0.3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_and_their_mean(dtype: type, l2: float, first_squares: float) -> None:
    slopes = gradients(np.random.default_rng(3), epochs=3, steps=5, buckets=4)
    descent = AdaGrad(np.zeros(4, dtype=dtype), rate=0.2, l2=l2, capacity=4, first_squares=first_squares)
    for epoch in slopes:
        for gradient in epoch:
            weights, state, touched, rate, step = descent.memory
            used = np.flatnonzero(gradient)
            state[used, 2] = gradient[used]
            touched[: len(used)] = used
            adagrad(weights, state, touched, len(used), rate, step)
            assert not state[:, 2].any()
            descent.steps += 1
        descent.regularise()
    last, mean = by_hand(slopes, rate=0.2, l2=l2, first_squares=first_squares)
    tolerance = 1e-5 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(descent.weights, last, atol=tolerance)
    np.testing.assert_allclose(descent.mean(), mean, atol=tolerance)
