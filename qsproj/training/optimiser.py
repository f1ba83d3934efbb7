"""Optimisers: plain steps, and AdaGrad (Duchi et al. 2011) over hashed weights, over rows and a few numbers.

Three things are apart. Models score by the weights; kernels that know features gather the gradient of one
example (:mod:`qsproj.kernels.features.sparse_gradient`); an optimiser moves the weights along it. So a new
rule is one class with one method, and works with every model.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.features.sparse_gradient import DONE, adagrad, plain_step

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


TINY = 1e-12
# So many weights are shrunk at a time: what that makes stays in the cache.
CHUNK = 1 << 15


class AdaGrad(SparseOptimiser):
    """AdaGrad over hashed weights, of which an example moves a few. Mutable; final.

    ``weights`` float32[buckets] or float64[buckets]: where learning starts; every step changes them. ``l2``,
    ``l1``: strengths of penalties per epoch, applied as proximal steps with AdaGrad's own step sizes; by L1,
    weights that are not worth it become zero. ``capacity``: how many buckets are listed at most before the
    weights have to move. ``first_squares``: what sums of squared gradients start from; 0: a feature's first
    step has full size.
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
        # Squares, sums and gradient of a bucket lie side by side, in one line of the cache.
        self._state = np.zeros((len(weights), 3), dtype=weights.dtype)
        super().__init__(weights, self._state[:, 1], self._state[:, 2], capacity=capacity)
        self.rate = rate
        self.l2 = l2
        self.l1 = l1
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
        """Return, of the weights that have moved, all that :meth:`restore` goes on from between two steps."""
        used = np.flatnonzero(self._state.any(axis=1) | (self.weights != 0.0))
        return {
            "steps": np.array([self.steps]),
            "buckets": used.astype(np.uint32),
            "weights": self.weights[used],
            "squares_and_sums": self._state[used, :2],
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`state` gave; KeyError or ValueError when it is not there, or does not fit."""
        buckets, moved = state["buckets"], (state["weights"], state["squares_and_sums"])
        if [values.shape for values in moved] != [buckets.shape, (len(buckets), 2)] or (
            len(buckets) and buckets[-1] >= len(self.weights)
        ):
            raise ValueError("the weights and their sums are not those of the same buckets")
        self.weights[:], self._state[:, :2] = 0.0, 0.0
        self.weights[buckets], self._state[buckets, :2] = moved
        self.steps = int(state["steps"][0])

    def mean(self) -> Weights:
        """Return the mean of the weights after every step so far; 0 where an L1 penalty has left 0."""
        averaged = super().mean()
        return np.where(self.weights == 0.0, self.weights, averaged) if self.l1 else averaged


class RowAdaGrad(Optimiser):
    """AdaGrad over rows of weights, one row for each feature and a column for each outcome. Mutable; final.

    The parts of an example move the weights one after the other: squared gradients are summed part by part,
    and a part may be scored by weights that the one before has moved. With ``counts_start`` the mean is that
    of the weights before every step, not after it.
    """

    def __init__(self, weights: NDArray[Any], *, rate: float, counts_start: bool = False) -> None:
        # Squares and sums.
        self._state = np.zeros((2, *weights.shape), dtype=weights.dtype)
        super().__init__(weights, self._state[1])
        self.rate = rate
        self._first = int(counts_start)

    def step(self, kernel: Callable[..., Any], *what: Any) -> Any:
        """Take one step by a kernel of ``what``, weights, state, rate and step; return what it returns."""
        told = kernel(*what, self.weights, self._state, self.rate, float(self.steps + self._first))
        self.steps += 1
        return told


class DenseAdaGrad(Optimiser):
    """AdaGrad over a few numbers, float64[k], that every example moves. Mutable; final."""

    def __init__(self, weights: NDArray[np.float64], *, rate: float) -> None:
        super().__init__(weights, np.zeros_like(weights))
        self.rate = rate
        self._squares = np.zeros_like(weights)

    def step(self, gradient: NDArray[np.float64]) -> None:
        self._squares += gradient * gradient
        change = self.rate * gradient / np.sqrt(self._squares + TINY)
        self.weights -= change
        self.sums -= self.steps * change
        self.steps += 1

    def state(self) -> dict[str, NDArray[Any]]:
        return {"steps": np.array([self.steps]), "dense": np.stack([self.weights, self.sums, self._squares])}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        if state["dense"].shape != (3, len(self.weights)):
            raise ValueError("the weights are not so many")
        self.weights[:], self.sums[:], self._squares[:] = state["dense"]
        self.steps = int(state["steps"][0])
