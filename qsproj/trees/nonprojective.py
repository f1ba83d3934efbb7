"""Inference over all dependency trees, projective or not, exact: the best in O(n^2), sums in O(n^3).

The best tree by contraction of cycles, sums over trees by the Matrix-Tree theorem (thesis 3.1, 3.2; Koo et
al. 2007), by an elimination without subtraction that keeps full relative accuracy at every scale
(docs/notes/tree-inference.md). The functions are the methods of :class:`~qsproj.trees.family.TreeFamily`.
The k best trees take O(k n^3) at worst; drawing takes O(n^3) once, then a random walk a tree, or, where that
would wander for long (strong cycles), one posterior for each distinct beginning of the trees drawn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Heads, Scores
from qsproj.kernels.trees.arborescence import arborescence
from qsproj.kernels.trees.matrix_tree import matrix_tree
from qsproj.kernels.trees.matrix_tree_log import matrix_tree_covariance, matrix_tree_log
from qsproj.trees.family import TreeFamily
from qsproj.trees.sampling import sampled_trees


def _draw(
    arcs: Scores, heads: Heads, size: int, rng: np.random.Generator, single_root: bool
) -> NDArray[np.int32]:
    return sampled_trees(arcs, size, rng, posterior, single_root=single_root)


_TREES = TreeFamily(
    find_best=arborescence,
    sum_up=matrix_tree,
    sum_in_logs=matrix_tree_log,
    covariance=matrix_tree_covariance,
    draw=_draw,
)

best = _TREES.best
posterior = _TREES.posterior
marginals = _TREES.marginals
k_best = _TREES.k_best
sample = _TREES.sample
entropy = _TREES.entropy
renyi_entropy = _TREES.renyi_entropy
max_marginals = _TREES.max_marginals
expectation = _TREES.expectation
