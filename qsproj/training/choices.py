"""Choices among a few candidates, by a softmax over hashed features: scripts of lemmas, relations."""

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.tagging.analyses import learn_script
from qsproj.training.loop import Trainer
from qsproj.training.optimiser import RowAdaGrad

# Features of the context uint64[F], candidates uint64[C], their features uint64[C, G], the correct one.
Choice = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], int]


def shift_of(weights: NDArray[np.float32]) -> np.uint64:
    return np.uint64(64 - (weights.shape[-1].bit_length() - 1))


class ChoiceTrainer(Trainer[Choice, NDArray[np.float32]]):
    """Trains weights of the correct candidate; weights below ``faint`` are dropped. Mutable; final."""

    def __init__(self, buckets: int, *, rate: float, faint: float) -> None:
        self._weights = RowAdaGrad(np.zeros((1, buckets), dtype=np.float32), rate=rate, counts_start=True)
        self._faint = faint

    def step(self, example: Choice) -> float:
        return self._weights.step(learn_script, *example, shift_of(self._weights.weights))

    def averaged(self) -> NDArray[np.float32]:
        """Return the mean of all weights, faint ones zero, rounded as in a file."""
        weights: NDArray[np.float32] = self._weights.mean()[0].astype(np.float16).astype(np.float32)
        weights[np.abs(weights) < self._faint] = 0.0
        return weights
