"""AdaGrad over hashed weights: what it remembers, its L2 penalty, and the mean of all weights passed through.

The steps themselves are taken by kernels, feature by feature; they are given ``AdaGrad.memory``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

TINY = 1e-12

Memory = tuple[NDArray[Any], NDArray[Any], NDArray[np.uint64], float, float]


class AdaGrad:
    """Weights that are being learned (Duchi et al. 2011), one example a step. Mutable; final.

    Parameters
    ----------
    weights : float32[buckets] or float64[buckets]
        Where learning starts; every step changes them.
    rate : float
        Step size.
    l2 : float
        Strength of the L2 penalty per epoch, applied as a proximal step with AdaGrad's own step sizes.
    capacity : int
        How many buckets a kernel may list before it has to step.
    first_squares : float
        What sums of squared gradients start from; 0: a feature's first step has full size.

    Attributes
    ----------
    state : array like ``weights``, [buckets, 3]
        By column: sum of squared gradients; sum of steps, each times the number of the step it was made at;
        gradient of the example at hand, all zero between steps.
    touched : uint64[capacity]
        Workspace: the buckets with a gradient.
    steps : int
        Steps taken so far.
    """

    def __init__(
        self,
        weights: NDArray[Any],
        *,
        rate: float,
        l2: float = 0.0,
        capacity: int = 1 << 20,
        first_squares: float = 0.0,
    ) -> None:
        self.weights = weights
        self.rate = rate
        self.l2 = l2
        self.state = np.zeros((len(weights), 3), dtype=weights.dtype)
        if first_squares:
            self.state[:, 0] = first_squares
        self.touched = np.empty(capacity, dtype=np.uint64)
        self.steps = 0

    @property
    def memory(self) -> Memory:
        """What kernels that step are given: weights, state, touched, rate, steps."""
        return self.weights, self.state, self.touched, self.rate, float(self.steps)

    def regularise(self) -> None:
        """Shrink the weights; once after each epoch."""
        if self.l2 == 0.0:
            return
        shrunk = self.weights / (1.0 + self.l2 * self.rate / np.sqrt(self.state[:, 0] + TINY))
        self.state[:, 1] += self.steps * (shrunk - self.weights)
        self.weights[:] = shrunk

    def mean(self) -> NDArray[Any]:
        """Return the mean of the weights after every step so far, before any penalty that followed it."""
        averaged: NDArray[Any] = self.weights - self.state[:, 1] / self.weights.dtype.type(max(self.steps, 1))
        return averaged
