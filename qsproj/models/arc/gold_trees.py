"""The trees that agree with a whole or partial one, and the objectives built from them."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from qsproj.conventions import ROOT, Heads, Mask, Scores, is_whole
from qsproj.models.tree_decoder import TreeDecoder, arcs_in, reachable
from qsproj.training import objectives
from qsproj.training.margins import ArcMargins, DualTree, Margins, TreeMargins

# Sharpness of the risk in each of the last epochs, and the cost of a wrong head in the likelihood before, in
# nats.
SHARPNESS = (1.0, 1.0, 1.5)
RISK_WEIGHT = 3.0

# The objective of a sentence's gold trees: a loss of its arc scores, margins, or a distribution.
ArcLoss = objectives.Objective | Margins | DualTree


@dataclass(frozen=True, slots=True, eq=False)
class GoldTrees:
    """The trees that agree with a whole or partial one and that a model can build; at least one.

    ``heads`` int32[n+1]: the known heads, or those of the nearest tree that the model can build. ``allowed``
    bool[n+1, n+1]: the arcs of these trees.
    """

    heads: Heads
    allowed: Mask
    inference: TreeDecoder

    @property
    def whole(self) -> bool:
        return is_whole(self.heads)

    def best(self, scores: Scores) -> Heads:
        return self.heads if self.whole else self.inference.best(np.where(self.allowed, scores, -np.inf))

    def likelihood(self, margin: float = 0.0) -> objectives.Objective:
        """Return the negative log-likelihood of these trees, for a whole tree with a margin per wrong arc."""
        if self.whole:
            return objectives.TreeLikelihood(self.heads, self.inference.infer, margin)
        return objectives.PartialTreeLikelihood(self.allowed, self.inference.infer)

    def annealed_risk(self, epochs: int) -> objectives.Objective:
        """Return the likelihood, followed in the last epochs by increasingly sharp risk (whole trees only).

        Risk alone, from zero weights, ends in a bad local optimum: 78.0 UAS on Danish, likelihood 80.5.
        """
        if not self.whole:
            return self.likelihood()
        risks = (objectives.Risk(self.heads, self.inference.expect, sharpness) for sharpness in SHARPNESS)
        stages = tuple(objectives.Weighed(RISK_WEIGHT, risk) for risk in risks)
        return objectives.Annealed(self.likelihood(), max(epochs - len(SHARPNESS), 1), stages)

    def mistakes(self) -> objectives.Objective:
        return objectives.Mistakes(self.best, self.inference.best)

    def margins(self, *, k: int, cost: float = 0.0) -> Margins:
        """Return margins against the k best trees under scores with ``cost`` added to every wrong arc."""
        return TreeMargins(self.heads, self.best, partial(self.inference.ranked, k=k), cost)

    def arc_margins(self) -> Margins:
        return ArcMargins(self.heads)

    def distribution(self) -> DualTree | None:
        """Return a distribution over trees for exponentiated gradient; None for a partial tree."""
        return DualTree(self.heads, self.inference.infer) if self.whole else None


def gold_trees(heads: Heads, inference: TreeDecoder) -> GoldTrees | None:
    """Return the trees that agree with heads int32[n+1]; None when the model can build none."""
    heads = reachable(heads, inference)
    allowed = arcs_in(heads)
    roots = np.count_nonzero(heads[1:] == ROOT)
    if inference.single_root and roots:
        if is_whole(heads) and roots != 1:
            return None
        allowed[ROOT, heads != ROOT] = False
    possible = is_whole(heads) or inference.admits(allowed)
    return GoldTrees(heads, allowed, inference) if possible else None
