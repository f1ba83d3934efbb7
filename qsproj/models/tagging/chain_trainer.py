"""How the tagger learns from one sentence, whatever is known of its tags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.features.hashing import FeatureIndex
from qsproj.kernels.tagging.linear_chain import (
    gradient,
    set_gradient,
    step_emissions,
    step_steep_emissions,
    step_steep_transitions,
    step_transitions,
)
from qsproj.models.tagging.tagger import Tagger, in_half_the_bytes
from qsproj.training.adagrad import RowAdaGrad
from qsproj.training.loop import Trainer

# Features whose weights all stay below this are dropped from the model.
FAINTEST = 0.1


class ChainKernels(NamedTuple):
    """How a sentence teaches: the gradient of its log-likelihood, and steps by emissions and transitions."""

    gradient: Callable[..., float]
    step_emissions: Callable[..., None]
    step_transitions: Callable[..., None]


FROM_TAGS = ChainKernels(gradient, step_emissions, step_transitions)
FROM_SETS = ChainKernels(set_gradient, step_steep_emissions, step_steep_transitions)


@dataclass(frozen=True, slots=True, eq=False)
class ChainExample:
    """A sentence to learn from.

    Attributes
    ----------
    rows : int32[n, K]
        Rows of weights that fire at each word, -1 for none.
    known : int32[n] or float32[n, T]
        Its tags, for FROM_TAGS; the log evidence of each tag, for FROM_SETS.
    strength : float
        Weight in the objective.
    """

    rows: NDArray[np.int32]
    known: NDArray[Any]
    strength: float


class ChainTrainer(Trainer[ChainExample, Tagger]):
    """Learns the weights of features and of tag pairs by conditional likelihood. Mutable; final.

    Parameters
    ----------
    start : Tagger
        Where learning starts: its arrays change, all else of it stays.
    rate : float
        AdaGrad's step size.
    kernels : ChainKernels
        FROM_TAGS or FROM_SETS.

    *Source*: averaging as in Daume's thesis (2006), figure 2.3: the start counts, too.
    """

    def __init__(self, start: Tagger, *, rate: float, kernels: ChainKernels) -> None:
        self._start = start
        self._kernels = kernels
        self._features = RowAdaGrad(start.weights, rate=rate, counts_start=True)
        self._chain = RowAdaGrad(start.transitions, rate=rate, counts_start=True)

    def step(self, example: ChainExample) -> float:
        """Learn from one sentence; return minus the log-likelihood of what is known, by its strength."""
        slopes = np.empty((len(example.rows), len(self._start.tags)))
        pair_slopes = np.empty_like(self._chain.weights)
        likelihood = self._kernels.gradient(
            example.rows, example.known, self._features.weights, self._chain.weights, slopes, pair_slopes
        )
        slopes *= -example.strength
        pair_slopes *= -example.strength
        self._features.step(self._kernels.step_emissions, example.rows, slopes)
        self._chain.step(self._kernels.step_transitions, pair_slopes)
        return -example.strength * likelihood

    def averaged(self) -> Tagger:
        """Return the tagger with the mean of the weights before every step so far, faint features dropped.

        Weights have the digits that a file keeps of them: a tagger and its file tag alike.
        """
        weights = self._features.mean()
        kept = np.abs(weights).max(axis=1) >= FAINTEST
        return replace(
            self._start,
            index=FeatureIndex(self._start.index.keys[kept]),
            weights=in_half_the_bytes(weights[kept]),
            transitions=self._chain.mean(),
        )
