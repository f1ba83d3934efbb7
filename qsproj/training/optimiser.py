"""Weights, the mean of all weights passed through, and the number of steps: what every optimiser keeps.

Three things are apart. Models score by the weights; kernels that know features gather the gradient of one
example (:mod:`qsproj.kernels.features.sparse_gradient`); an optimiser moves the weights along it. So a new
rule is one class with one method, and works with every model.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.features.adagrad import plain_step
from qsproj.kernels.features.sparse_gradient import DONE

Weights = NDArray[Any]


class Optimiser:
    """Weights, and ``sums`` of their changes, each times the number of its step. Mutable; abstract."""

    def __init__(self, weights: Weights, sums: Weights) -> None:
        self.weights = weights
        self.sums = sums
        self.steps = 0

    def mean(self) -> Weights:
        """Return the mean of the weights after every step so far, before any penalty that followed it."""
        return self.weights - self.sums / self.weights.dtype.type(max(self.steps, 1))


class SparseOptimiser(Optimiser, ABC):
    """Hashed weights, of which an example moves a few. Mutable; abstract.

    ``gradient``, like ``weights``: of the example at hand, all zero between steps. ``touched``
    uint64[capacity]: the buckets with a gradient, of which ``used`` are listed; where there is no more room,
    the weights move.
    """

    def __init__(self, weights: Weights, sums: Weights, gradient: Weights, *, capacity: int) -> None:
        super().__init__(weights, sums)
        self.gradient = gradient
        self.touched = np.empty(capacity, dtype=np.uint64)
        self.used = 0

    def gather(self, kernel: Callable[..., tuple[int, int]], *what: Any) -> None:
        """Add what a kernel, called with ``what`` first, gathers; move where there is no more room."""
        begin = 0
        while begin != DONE:
            self.used, begin = kernel(*what, self.gradient, self.touched, self.used, begin)
            if begin != DONE:
                self.move()

    def step(self) -> None:
        self.move()
        self.steps += 1

    @abstractmethod
    def move(self) -> None:
        """Move the weights along the gradient, add each change to ``sums``, and clear the gradient."""

    def regularise(self) -> None:
        """Shrink the weights, once after each epoch; unless overridden, not at all."""
        return


# Makes the optimiser of weights that are about to be learned: a rule to step by, with its options.
Rule = Callable[[Weights], SparseOptimiser]


class PlainSteps(SparseOptimiser):
    """Hashed weights that move by ``rate`` times the gradient itself. Mutable.

    *Source*: the perceptron (Collins 2002, with the mean of all weights passed through).
    """

    def __init__(self, weights: Weights, *, rate: float = 1.0, capacity: int = 1 << 20) -> None:
        super().__init__(weights, np.zeros_like(weights), np.zeros_like(weights), capacity=capacity)
        self.rate = rate

    def move(self) -> None:
        plain_step(
            self.weights, self.sums, self.gradient, self.touched, self.used, self.rate, float(self.steps)
        )
        self.used = 0
