"""The loss of a labelled tree, with a sum over the relations of each possible arc.

The probability of a labelled tree is that of its tree times that of each relation given its arc. So its loss
is that of the tree under arc scores that sum over relations, plus that of a softmax for each arc of the tree.

*Source*: Koo, Globerson, Carreras and Collins 2007, 3.4 (labelled trees, marginals by the chain rule).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Heads, Scores
from qsproj.kernels.features.label_features import sum_relations
from qsproj.training.objectives import Objective

UNKNOWN = -1


@dataclass(frozen=True, slots=True, eq=False)
class LabelledScores:
    """Scores of labelled arcs, natural log: ``arcs[head, dependent] + relations[k, relation]``.

    ``arcs`` float64[n+1, n+1]; column 0 and the diagonal are not read. ``heads``, ``dependents`` int32[k]:
    the possible arcs. ``relations`` float64[k, L]: -inf for impossible ones, not all of a row.
    """

    arcs: Scores
    heads: NDArray[np.int32]
    dependents: NDArray[np.int32]
    relations: NDArray[np.float64]

    def summed(self) -> tuple[Scores, NDArray[np.float64]]:
        """Return float64[n+1, n+1] with relations summed out, and their probabilities float64[k, L]."""
        summed, chances = np.empty_like(self.arcs), np.empty_like(self.relations)
        sum_relations(self.arcs, self.heads, self.dependents, self.relations, summed, chances)
        return summed, chances

    def tempered(self, temperature: float) -> "LabelledScores":
        arcs, relations = self.arcs / temperature, self.relations / temperature
        return LabelledScores(arcs, self.heads, self.dependents, relations)

    def maximised(self) -> Scores:
        """Return float64[n+1, n+1], the score of the best relation of each arc, -inf where there is none."""
        scores = np.full_like(self.arcs, -np.inf)
        ends = self.heads, self.dependents
        scores[ends] = self.arcs[ends] + self.relations.max(axis=1)
        return scores


@dataclass(frozen=True, slots=True, eq=False)
class LabelledTree:
    """The loss of one labelled tree, whole or partial, in nats.

    ``objective``: that of arc scores that sum over relations. ``heads`` int32[n+1] are -1 where missing;
    UNKNOWN ``relations`` int64[n+1] are summed over. ``margin`` is added to the scores of wrong relations of
    gold arcs in training.
    """

    objective: Objective
    heads: Heads
    relations: NDArray[np.int64]
    margin: float = 0.0

    def value_and_gradient(self, scores: LabelledScores) -> tuple[float, Scores, NDArray[np.float64]]:
        """Return the loss, its derivatives by ``arcs`` and ``relations``, which must allow the tree."""
        heads, dependents = scores.heads, scores.dependents
        known = (self.heads[dependents] == heads) & (self.relations[dependents] != UNKNOWN)
        right = np.flatnonzero(known)
        wanted = self.relations[dependents[right]]
        handicapped = scores.relations.copy()
        handicapped[right] += self.margin
        handicapped[right, wanted] = scores.relations[right, wanted]
        seen = LabelledScores(scores.arcs, heads, dependents, handicapped)
        summed, chances = seen.summed()
        loss, arc_slopes = self.objective.value_and_gradient(summed)
        slopes = arc_slopes[heads, dependents][:, None] * chances
        slopes[right] += chances[right]
        slopes[right, wanted] -= 1.0
        # In logs, since probabilities may underflow.
        loss += float((np.logaddexp.reduce(handicapped[right], axis=1) - handicapped[right, wanted]).sum())
        return loss, arc_slopes, slopes
