"""Arc weights by general optimisers, which ask for the loss of all sentences and its gradient at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from qsproj.kernels.features.arc_features import gather_arcs
from qsproj.models.arc.arc_scorer import ArcExample, ArcLearner, ArcScorer
from qsproj.models.arc.hashed_weights import zero_weights
from qsproj.training.loop import EpochRecord
from qsproj.training.optimiser import SparseOptimiser, Weights

# By the name of an optimiser, scipy's method and what it needs beside. Five pairs of vectors are remembered:
# each is as long as there are features.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "lbfgs": ("L-BFGS-B", {"maxcor": 5}),
    "cg": ("CG", {}),
}


class GradientSum(SparseOptimiser):
    """Hashed weights that stay where they are, while gradients are summed. Mutable; final."""

    def __init__(self, weights: Weights) -> None:
        # The mean of weights that do not move needs no sums.
        super().__init__(weights, weights[:0], np.zeros(len(weights)), capacity=1 << 20)

    def move(self) -> None:
        """Make room for more buckets; their gradient stays."""
        self.used = 0


class BatchLoss(ArcLearner[ArcExample, GradientSum]):
    """The loss of all sentences under given weights, with the L2 penalty. Mutable; final.

    Parameters
    ----------
    template_set, support
        As for :class:`~qsproj.models.arc.arc_scorer.ArcLearner`.
    l2 : float
        The penalty is half of it times the squared length of the weights: the loss that AdaGrad, with the
        same strength of L2, goes down sentence by sentence.

    Attributes
    ----------
    buckets : int64[k]
        Those of all features of all candidate arcs: what there is to learn.
    """

    def __init__(self, template_set: str, support: NDArray[np.uint64] | None = None, *, l2: float) -> None:
        super().__init__(template_set, support, rule=GradientSum)
        self._l2 = l2
        self._examples: Sequence[ArcExample] = ()
        self._last = 0.0
        self.buckets = np.zeros(0, np.int64)

    def prepare(self, examples: Sequence[ArcExample]) -> None:
        """Take the sentences whose loss is asked for."""
        self._examples = examples
        self.rule.gradient[:] = 0.0
        for example in examples:
            everywhere = np.ones((len(example.encoded) + 1,) * 2)
            self.rule.gather(gather_arcs, self.features(example.encoded), everywhere, self.support, 0.0)
        self.buckets = np.flatnonzero(self.rule.gradient)

    def step(self, example: ArcExample) -> float:
        """Add the gradient of one sentence; return its loss."""
        features = self.features(example.encoded)
        loss, slopes = example.objective.value_and_gradient(self.scores(features))
        self.rule.gather(gather_arcs, features, slopes, self.support, 0.0)
        return loss

    def value_and_gradient(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the loss under weights float64[k] of ``buckets``, and its gradient float64[k]."""
        self.rule.weights[self.buckets] = weights
        self.rule.gradient[:] = 0.0
        penalty = 0.5 * self._l2 * float(weights @ weights)
        self._last = sum(map(self.step, self._examples)) + penalty
        return self._last, self.rule.gradient[self.buckets] + self._l2 * weights

    def mean(self) -> float:
        """Return the loss for each sentence, at the weights last asked for."""
        return self._last / len(self._examples)

    def scorer(self, weights: NDArray[np.float64]) -> ArcScorer:
        """Return a scorer with weights float64[k] of ``buckets``."""
        all_weights = zero_weights(len(self.rule.weights))
        all_weights[self.buckets] = weights
        return ArcScorer(self._live.template_set, all_weights)


def minimise(
    loss: BatchLoss,
    examples: Sequence[ArcExample],
    *,
    optimizer: str,
    iterations: int,
    score: Callable[[ArcScorer], float] | None = None,
) -> tuple[ArcScorer, list[EpochRecord]]:
    """Minimise the loss of all sentences; return the scorer that held-out data like best, and records.

    Parameters
    ----------
    loss : BatchLoss
    examples : sequence of ArcExample
    optimizer : str
        A key of METHODS.
    iterations : int
        At most so many, each of one or a few passes over the data.
    score : callable, optional
        Scores on held-out data, higher is better; without it, the scorer is the last one.

    *Source*: Koo et al. 2007, 6.2 (conjugate gradient); thesis A.4.
    """
    method, more = METHODS[optimizer]
    loss.prepare(examples)
    records: list[EpochRecord] = []
    best: tuple[float, ArcScorer] | None = None
    began = process_time()

    def after(weights: NDArray[np.float64]) -> None:
        nonlocal best, began
        seconds, scored = process_time() - began, None
        if score is not None:
            scorer = loss.scorer(weights)
            scored = score(scorer)
            if best is None or scored > best[0]:
                best = scored, scorer
        records.append(EpochRecord(len(records) + 1, loss.mean(), scored, seconds))
        began = process_time()

    found = minimize(
        loss.value_and_gradient,
        np.zeros(len(loss.buckets)),
        jac=True,
        method=method,
        callback=after,
        options={"maxiter": iterations, **more},
    )
    return (best[1] if best else loss.scorer(found.x)), records
