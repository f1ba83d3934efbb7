"""Arc weights that move, for each sentence, as little as its margins ask for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qsproj.features.atoms import EncodedSentence
from qsproj.kernels.features.arc_features import list_arcs
from qsproj.models.arc.arc_scorer import ArcLearner
from qsproj.training.margins import Margins
from qsproj.training.mira import TOLERANCE, FeatureRows, LeastChange

# So many constraints are all met at once; of more, only those that are broken, until none is.
FEW = 64
ROUNDS = 10


@dataclass(frozen=True, slots=True, eq=False)
class MarginExample:
    """A sentence to learn arc weights from: its words, encoded, and the margins of its arc scores."""

    encoded: EncodedSentence
    margins: Margins


class MarginTrainer(ArcLearner[MarginExample, LeastChange]):
    """Learns the weights of an arc scorer by MIRA, one sentence a step. Mutable; final.

    Parameters as for :class:`~qsproj.models.arc.arc_scorer.ArcLearner`.
    """

    def step(self, example: MarginExample) -> float:
        """Move the weights until the sentence's margins hold; return how far off the worst one was before."""
        features = self.features(example.encoded)
        scores = self.scores(features)
        constraints = example.margins.constraints(scores)
        slacks = constraints.slacks(scores)
        worst = max(0.0, float(slacks.max(initial=0.0)))
        multipliers = np.zeros(len(constraints))
        for _ in range(ROUNDS):
            broken = (slacks > TOLERANCE) & (multipliers < self.rule.limit)
            if not broken.any():
                break
            among = broken | (multipliers > 0.0) | (len(constraints) <= FEW)
            chosen = constraints.chosen(among)
            rows = FeatureRows(*list_arcs(features, chosen.heads, chosen.dependents, self.support))
            multipliers[among] = self.rule.meet(chosen, rows, slacks[among], multipliers[among])
            if among.all():
                break
            slacks = constraints.slacks(self.scores(features))
        self.rule.steps += 1
        return worst
