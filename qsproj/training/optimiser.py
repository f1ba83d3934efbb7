"""Optimisers: plain steps, and AdaGrad (Duchi et al. 2011) over hashed weights, rows, and dense vectors.

Models score by the weights; kernels gather the gradient of one example
(:mod:`qsproj.kernels.features.sparse_gradient`); an optimiser moves the weights along it. So a new update
rule is one class with one method, and works with every model.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats
from qsproj.kernels.features.sparse_gradient import DONE, adagrad, plain_step

Weights = NDArray[Any]
TINY = 1e-12
CHUNK = 1 << 15  # weights shrunk at a time, so that intermediate arrays stay in the cache


class Optimiser:
    """Weights, and ``sums`` of their changes, each multiplied by its step number. Mutable; abstract."""

    def __init__(self, weights: Weights, sums: Weights) -> None:
        self.weights, self.sums, self.steps = weights, sums, 0

    def mean(self) -> Weights:
        """Return the mean of the weights after every step so far, before penalties."""
        return self.weights - self.sums / self.weights.dtype.type(max(self.steps, 1))


class SparseOptimiser(Optimiser, ABC):
    """Hashed weights with sparse updates. Mutable; abstract.

    ``gradient``, like ``weights``: of the current example, all zero between steps. ``touched``
    uint64[capacity]: the buckets with a gradient, ``used`` of them; when the list is full, the weights move.
    """

    def __init__(self, weights: Weights, sums: Weights, gradient: Weights, *, capacity: int) -> None:
        super().__init__(weights, sums)
        self.gradient = gradient
        self.touched = np.empty(capacity, dtype=np.uint64)
        self.used = 0

    def gather(self, kernel: Callable[..., tuple[int, int]], *what: Any) -> None:
        """Add the gradient that ``kernel(*what, ...)`` gathers; move when the list is full."""
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
        """Shrink the weights once after each epoch; by default, do nothing."""
        return


# Makes an optimiser, with its options, for initial weights.
Rule = Callable[[Weights], SparseOptimiser]


class PlainSteps(SparseOptimiser):
    """Hashed weights that move by the gradient: averaged perceptron (Collins 2002)."""

    def __init__(self, weights: Weights, *, capacity: int = 1 << 20) -> None:
        super().__init__(weights, np.zeros_like(weights), np.zeros_like(weights), capacity=capacity)

    def move(self) -> None:
        arrays = self.weights, self.sums, self.gradient, self.touched
        plain_step(*arrays, self.used, float(self.steps))
        self.used = 0


class AdaGrad(SparseOptimiser):
    """AdaGrad over hashed weights with sparse updates. Mutable; final.

    ``weights`` float32[buckets] or float64[buckets]: initial weights; every step changes them. ``l2``,
    ``l1``: strengths of penalties per epoch, applied as proximal steps with AdaGrad's own step sizes; L1
    makes weights of little use zero. ``capacity``: maximum number of buckets listed before the weights move.
    ``first_squares``: initial sums of squared gradients; 0: a feature's first step has full size.
    """

    def __init__(
        self,
        weights: NDArray[Any],
        *,
        rate: float,
        l2: float = 0.0,
        l1: float = 0.0,
        capacity: int = 1 << 20,
        first_squares: float = 0.0,
    ) -> None:
        # Squares, sums and gradient of a bucket are adjacent, in one cache line.
        self._state = np.zeros((len(weights), 3), dtype=weights.dtype)
        super().__init__(weights, self._state[:, 1], self._state[:, 2], capacity=capacity)
        self.rate, self.l2, self.l1 = rate, l2, l1
        if first_squares:
            self._state[:, 0] = first_squares

    def move(self) -> None:
        adagrad(self.weights, self._state, self.touched, self.used, self.rate, float(self.steps))
        self.used = 0

    def regularise(self) -> None:
        if self.l2 == self.l1 == 0.0:
            return
        for start in range(0, len(self.weights), CHUNK):
            some = slice(start, start + CHUNK)
            weights = self.weights[some]
            roots = np.sqrt(self._state[some, 0] + TINY)
            shrunk = weights / (1.0 + self.l2 * self.rate / roots)
            if self.l1:
                shrunk = np.copysign(np.maximum(np.abs(shrunk) - self.l1 * self.rate / roots, 0.0), shrunk)
            self.sums[some] += self.steps * (shrunk - weights)
            weights[:] = shrunk

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the state of the changed weights between two steps, for :meth:`restore`."""
        used = np.flatnonzero(self._state.any(axis=1) | (self.weights != 0.0))
        return {
            "steps": np.array([self.steps]),
            "buckets": used.astype(np.uint32),
            "weights": self.weights[used],
            "squares_and_sums": self._state[used, :2],
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore a :meth:`state`; KeyError or ValueError when parts are missing or do not fit."""
        buckets, moved = state["buckets"], (state["weights"], state["squares_and_sums"])
        fits = not len(buckets) or buckets[-1] < len(self.weights)
        if not fits or [values.shape for values in moved] != [buckets.shape, (len(buckets), 2)]:
            raise ValueError("the weights and their sums are not those of the same buckets")
        self.weights[:], self._state[:, :2] = 0.0, 0.0
        self.weights[buckets], self._state[buckets, :2] = moved
        self.steps = int(state["steps"][0])

    def mean(self) -> Weights:
        """Return the mean of the weights after every step so far; 0 where an L1 penalty has left 0."""
        averaged = super().mean()
        return np.where(self.weights == 0.0, self.weights, averaged) if self.l1 else averaged


class RowAdaGrad(Optimiser):
    """AdaGrad over rows of weights, a row for each feature and a column for each outcome.

    The parts of an example move the weights one after the other. With ``counts_start`` the mean is that of
    the weights before every step, not after it.
    """

    def __init__(self, weights: NDArray[Any], *, rate: float, counts_start: bool = False) -> None:
        # Rows: squares and sums.
        self.state = np.zeros((2, *weights.shape), dtype=weights.dtype)
        super().__init__(weights, self.state[1])
        self.rate, self._first = rate, int(counts_start)

    def step(self, kernel: Callable[..., Any], *what: Any) -> Any:
        """Take one step by ``kernel(*what, weights, state, rate, step)``; return the kernel's result."""
        result = kernel(*what, self.weights, self.state, self.rate, float(self.steps + self._first))
        self.steps += 1
        return result


class DenseAdaGrad(Optimiser):
    """AdaGrad over a dense vector of weights, float64[k]. Mutable; final."""

    def __init__(self, weights: Floats, *, rate: float) -> None:
        super().__init__(weights, np.zeros_like(weights))
        self.rate = rate
        self._squares = np.zeros_like(weights)

    def step(self, gradient: Floats) -> None:
        self._squares += gradient * gradient
        change = self.rate * gradient / np.sqrt(self._squares + TINY)
        self.weights -= change
        self.sums -= self.steps * change
        self.steps += 1

    def state(self) -> dict[str, NDArray[Any]]:
        return {"steps": np.array([self.steps]), "dense": np.stack([self.weights, self.sums, self._squares])}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        if state["dense"].shape != (3, len(self.weights)):
            raise ValueError("the number of weights differs")
        self.weights[:], self.sums[:], self._squares[:] = state["dense"]
        self.steps = int(state["steps"][0])
