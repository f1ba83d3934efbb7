"""Arc weights by exponentiated gradient: the sum of what each sentence's distribution over trees puts in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.features.atoms import EncodedSentence
from qsproj.kernels.features.arc_features import ArcFeatures, gather_arcs
from qsproj.models.arc.arc_scorer import ArcLearner, ArcScorer
from qsproj.models.arc.hashed_weights import aligned_weights
from qsproj.training.exponentiated_gradient import DualTree
from qsproj.training.plain import PlainSteps

# What the step of a sentence is multiplied by where it would lower the dual objective, how often at most, and
# what it grows by again where it does not: the line search of Collins et al. 2008, 8.
SHORTER, HALVINGS, LONGER = 0.5, 60, 1.05
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

    A step that would lower the dual objective is taken back and halved, as often as it takes: the larger C,
    the shorter are the steps that fit.

    *Source*: Koo et al. 2007, figure 2; steps that fit: Collins et al. 2008, 8. The first step of a sentence
    puts in what it would have had from the start, so that no pass over the data is needed to begin with.
    """

    def __init__(self, template_set: str, support: NDArray[np.uint64] | None = None, *, cost: float) -> None:
        super().__init__(template_set, support, rule=PlainSteps)
        self.dual = 0.0
        self._cost = cost
        self._share = 1.0
        self._wrong = 0.0

    def step(self, example: DualExample) -> float:
        """Learn from one sentence; return how many heads its distribution expects to be wrong."""
        features, tree = self.features(example.encoded), example.tree
        scores = self.scores(features)
        for halving in range(HALVINGS):
            change = tree.ascend(scores, share=self._share * tree.share)
            self._put_in(features, change)
            moved, arcs = scores.copy(), np.nonzero(change)
            heads, dependents = (ends.astype(np.int32) for ends in arcs)
            moved[arcs] = self.scores_of(features, heads, dependents)
            if tree.gain(change, scores, moved) >= -ROUNDING * tree.wrong:
                tree.share = tree.share if halving else min(1.0, LONGER * tree.share)
                break
            tree.take_back()
            self._put_in(features, -change)
            tree.share *= SHORTER
        self.rule.steps += 1
        self._wrong += tree.wrong
        return tree.wrong

    def _put_in(self, features: ArcFeatures, change: Scores) -> None:
        """Take C times the features of arcs float64[n+1, n+1] from the weights."""
        self.rule.gather(gather_arcs, features, self._cost * change, self.support, 0.0)
        self.rule.move()

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
