"""Steps of the size of the gradient: for rules whose gradient is already the change they ask for."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.features.adagrad import plain_step
from qsproj.training.optimiser import SparseOptimiser, Weights


class PlainSteps(SparseOptimiser):
    """Hashed weights that move by the gradient itself. Mutable.

    Parameters
    ----------
    weights : float32[buckets] or float64[buckets]
        Where learning starts; every step changes them.
    rate : float
        Share of the gradient that is a step.
    capacity : int
        How many buckets are listed at most before the weights have to move.

    *Source*: the perceptron (Collins 2002, with the mean of all weights passed through).
    """

    def __init__(self, weights: Weights, *, rate: float = 1.0, capacity: int = 1 << 20) -> None:
        super().__init__(weights, np.zeros_like(weights), np.zeros_like(weights), capacity=capacity)
        self.rate = rate

    def move(self) -> None:
        """Move the weights along the gradient, and clear it."""
        plain_step(
            self.weights, self.sums, self.gradient, self.touched, self.used, self.rate, float(self.steps)
        )
        self.used = 0
