"""Training of linear-chain potentials: of features, and of pairs of neighbouring states."""

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Numbers, Weights
from qsproj.features.hashing import FeatureIndex
from qsproj.kernels.tagging.linear_chain import learn_sets, learn_tags
from qsproj.models.packing import in_half_the_bytes, packed_weights, unpack_weights
from qsproj.models.schema import Arrays, ascending, shaped
from qsproj.training.loop import Trainer
from qsproj.training.optimiser import RowAdaGrad

# A dataclass with ``index``, ``weights`` float32[R, T] and ``transitions`` float64[T+1, T].
Chain = TypeVar("Chain", bound=Any)


@dataclass(frozen=True, slots=True, eq=False)
class ChainExample:
    """A training sentence, or the characters of a line."""

    rows: Numbers  # int32[n, K]: weight rows of the active features, -1 for none
    known: NDArray[Any]  # tags int32[n], or the log evidence of weighted sets of tags, float32[n, T]
    strength: float


class ChainTrainer(Trainer[ChainExample, Chain], Generic[Chain]):
    """Trainer of the weights of features and tag pairs by conditional likelihood.

    The arrays of ``start`` change, its transitions unless ``fixed``. Averaging follows Daume's thesis (2006),
    figure 2.3: the start counts. Features without a weight of ``faintest`` go, weights below ``faint`` are 0.
    """

    def __init__(
        self, start: Chain, *, rate: float, faintest: float, faint: float = 0.0, fixed: bool = False
    ) -> None:
        self._start = start
        self._faintest, self._faint = faintest, faint
        self._features = RowAdaGrad(start.weights, rate=rate, counts_start=True)
        self._pairs = RowAdaGrad(start.transitions, rate=rate, counts_start=True)
        self._fixed = fixed

    def step(self, example: ChainExample) -> float:
        pairs = self._pairs
        kernel = learn_tags if example.known.ndim == 1 else learn_sets
        learned = (example.rows, example.known, example.strength)
        pairs.steps += 1
        return self._features.step(kernel, *learned, pairs.weights, pairs.state, self._fixed)

    def averaged(self) -> Chain:
        """Return the mean of the weights before every step so far, with the precision of a model file."""
        weights = self._features.mean()
        if self._faint:
            weights = without_faint(weights, self._faint)
        index, weights = strongest(self._start.index, weights, least=self._faintest)
        weights = in_half_the_bytes(weights)
        return replace(self._start, index=index, weights=weights, transitions=self._pairs.mean())


def packed_chain(chain: Any) -> dict[str, NDArray[Any]]:
    """Return index, weights and transitions for a model file; two bytes a weight where that changes none."""
    halved = in_half_the_bytes(chain.weights)
    weights = halved.astype(np.float16) if np.array_equal(halved, chain.weights) else chain.weights
    return {"keys": chain.index.keys, "transitions": chain.transitions, **packed_weights("", weights)}


def stored_chain(arrays: Arrays, states: int) -> dict[str, Any]:
    """Undo :func:`packed_chain`: return the three fields; KeyError or ValueError for bad arrays."""
    index = FeatureIndex(ascending(arrays, "keys", np.uint64, least=1))
    if "used" in arrays:
        weights = unpack_weights("", arrays, np.zeros((len(index.keys), states), dtype=np.float32))
    else:
        weights = shaped(arrays, "weights", (len(index.keys), states))
    transitions = shaped(arrays, "transitions", (states + 1, states))
    return {"index": index, "weights": weights, "transitions": transitions}


def without_faint(weights: Weights, least: float) -> Weights:
    """Return weights with the precision of a model file, and 0 for those below ``least``."""
    kept = in_half_the_bytes(weights)
    kept[np.abs(kept) < least] = 0.0
    return kept


def strongest(index: FeatureIndex, weights: Weights, *, least: float) -> tuple[FeatureIndex, Weights]:
    """Return the features with at least one weight, in a row of float32[R, T], of ``least`` or more."""
    kept = np.abs(weights).max(axis=1, initial=0.0) >= least
    return FeatureIndex(index.keys[kept]), weights[kept]
