"""Inference over projective dependency trees, exact, in O(n^3) (Eisner 1996; thesis appendix B).

The methods of TreeFamily. The k best trees take O(k n^4) at worst; samples O(n^3) once, then O(n^2) each.
"""

import numpy as np

from qsproj.conventions import Heads, Numbers, Rng, Scores
from qsproj.kernels.trees.eisner import charts, eisner_best, eisner_log, eisner_posterior
from qsproj.kernels.trees.semirings import LOG
from qsproj.kernels.trees.tree_sampling import draw_projective, probability_charts
from qsproj.trees.family import TreeFamily, tree_shifts

# Greatest number in the charts that trees are drawn from, and inverse of the smallest.
IN_RANGE = 1e250


def _draw(arcs: Scores, heads: Heads, size: int, rng: Rng, single_root: bool) -> Numbers:
    shifted, first = arcs - tree_shifts(arcs, heads), 1 if single_root else 0
    with np.errstate(over="ignore", divide="ignore"):
        filled = probability_charts(np.exp(shifted), first)
        # A closed span or link weighs at least as much as an open one. The diagonal is not used.
        smallest = (filled[2] + np.eye(len(arcs)))[first:, 1:].min()
        # Sums of products are six times as fast as log charts, and as exact where none leaves this range.
        if 1.0 / IN_RANGE <= smallest <= max(chart.max() for chart in filled) <= IN_RANGE:
            filled = tuple(map(np.log, filled))
        else:
            filled = charts(shifted, first, LOG)
    drawn = rng.random((size, 2 * (len(arcs) - 1) - first))
    return np.asarray(draw_projective(shifted, *filled, drawn, single_root))


_TREES = TreeFamily(find_best=eisner_best, sum_up=eisner_posterior, sum_in_logs=eisner_log, draw=_draw)

best, k_best, sample, expectation = _TREES.best, _TREES.k_best, _TREES.sample, _TREES.expectation
posterior, marginals, max_marginals = _TREES.posterior, _TREES.marginals, _TREES.max_marginals
entropy, renyi_entropy = _TREES.entropy, _TREES.renyi_entropy
