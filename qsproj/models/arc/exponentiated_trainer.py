"""Arc weights by exponentiated gradient: the sum of what each sentence's distribution over trees puts in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.features.atoms import EncodedSentence
from qsproj.kernels.features.arc_gradients import gather_arcs
from qsproj.models.arc.arc_scorer import ArcLearner, ArcScorer
from qsproj.models.arc.hashed_weights import aligned_weights
from qsproj.training.exponentiated_gradient import DualTree
from qsproj.training.plain import PlainSteps

# Changes too small to be put in may take so much off the dual objective, in proportion to it.
ROUNDING = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class DualExample:
    """A sentence to learn arc weights from: its words, encoded, and a distribution that training changes."""

    encoded: EncodedSentence
    tree: DualTree


class ExponentiatedTrainer(ArcLearner[DualExample, PlainSteps]):
    """Learns the weights of an arc scorer by exponentiated gradient, one sentence a step. Mutable; final.

    Parameters
    ----------
    template_set, support
        As for :class:`~qsproj.models.arc.arc_scorer.ArcLearner`.
    cost : float
        C: how much a missed margin costs beside half the squared length of the weights.

    Attributes
    ----------
    dual : float
        The dual objective after the last epoch. Where it has fallen, steps are halved.

    *Source*: Koo et al. 2007, figure 2. The first step of a sentence puts in what it would have had from the
    start, so that no pass over the data is needed to begin with.
    """

    def __init__(self, template_set: str, support: NDArray[np.uint64] | None = None, *, cost: float) -> None:
        super().__init__(template_set, support, rule=PlainSteps)
        self.dual = 0.0
        self._cost = cost
        self._share = 1.0
        self._wrong = 0.0

    def step(self, example: DualExample) -> float:
        """Learn from one sentence; return how many heads its distribution expects to be wrong."""
        features = self.features(example.encoded)
        change = example.tree.ascend(self.scores(features), share=self._share)
        self.rule.gather(gather_arcs, features, self._cost * change, self.support, 0.0)
        self.rule.step()
        self._wrong += example.tree.wrong
        return example.tree.wrong

    def regularise(self) -> None:
        """Halve the steps when the dual objective has fallen; once after each epoch."""
        weights = self.rule.weights.astype(np.float64)
        dual = self._cost * self._wrong - 0.5 * float(weights @ weights)
        if dual < self.dual - ROUNDING * abs(self.dual):
            self._share /= 2.0
        self.dual, self._wrong = dual, 0.0

    def averaged(self) -> ArcScorer:
        """Return a scorer with the weights of the moment, which are already a sum over all sentences."""
        return ArcScorer(self._live.template_set, aligned_weights(self.rule.weights))
