"""The trees of several sentences in one call, since what Python does between calls takes as long."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.trees.eisner_best import eisner_best
from qsproj.kernels.trees.eisner_posterior import eisner_posterior


@njit(cache=True, error_model="numpy")
def decode_block(scores, sizes, single_root, expected, heads, done):
    """Find the best projective tree of each sentence.

    ``scores`` float64[sum of sizes squared]: arc scores of one sentence after the other, as ``eisner_best``
    takes them. ``sizes`` int64[S]: n + 1 of each. ``expected``: whether a tree is best that has most expected
    right heads, or that is most probable. ``heads`` int32[sum of sizes], written: the trees. ``done``
    bool[S], written: False where no tree is possible, or where sums leave the range in which they are exact;
    the heads are then meaningless.
    """
    begin, first = 0, 0
    for sentence in range(sizes.shape[0]):
        size = sizes[sentence]
        arcs = scores[begin : begin + size * size].reshape((size, size))
        tree, score = eisner_best(arcs, single_root)
        done[sentence] = score > -np.inf
        if expected and done[sentence]:
            _, marginals, _, done[sentence] = eisner_posterior(arcs, tree, single_root)
            tree, _ = eisner_best(marginals, single_root)
        for word in range(size):
            heads[first + word] = tree[word]
        begin += size * size
        first += size
