"""Inference over all dependency trees, projective or not, exact: the best in O(n^2), sums in O(n^3).

The best tree by contraction of cycles, sums over trees by the Matrix-Tree theorem (thesis 3.1, 3.2; Koo et
al. 2007), at full relative accuracy at every scale (docs/notes/tree-inference.md). The functions are the
methods of :class:`~qsproj.trees.family.TreeFamily`. The k best trees take O(k n^3) at worst; sampling takes
O(n^3) once, then a random walk a tree, or, in strong cycles, a posterior for each distinct prefix of trees.
"""

import numpy as np

from qsproj.conventions import ROOT, Heads, Numbers, Rng, Scores
from qsproj.kernels.trees.arborescence import arborescence
from qsproj.kernels.trees.matrix_tree import matrix_tree, matrix_tree_log
from qsproj.kernels.trees.tree_sampling import draw_by_walks
from qsproj.trees.family import TreeFamily

# A step takes about 10 ns; beyond this number word-by-word sampling is faster.
STEPS_PER_WORD = 1000.0


def _draw(arcs: Scores, heads: Heads, size: int, rng: Rng, single_root: bool) -> Numbers:
    """Draw int32[size, n+1] under scores that allow some tree; a single root's child is drawn first."""
    if not single_root:
        return _multi_root_trees(arcs, size, rng)
    weights = posterior(arcs, single_root=True).marginals[ROOT, 1:]
    counts = rng.multinomial(size, weights / weights.sum())
    drawn = [np.empty((0, arcs.shape[0]), np.int32)]
    for child in np.flatnonzero(counts) + 1:
        given = arcs.copy()
        given[ROOT] = -np.inf
        given[:, child] = -np.inf
        given[ROOT, child] = 0.0
        drawn.append(_multi_root_trees(given, int(counts[child - 1]), rng))
    return rng.permutation(np.concatenate(drawn))


def _multi_root_trees(arcs: Scores, size: int, rng: Rng) -> Numbers:
    _, marginals, derivatives, shifts, in_range = matrix_tree(arcs, False)
    if in_range:
        relative = arcs - shifts
        relative[:, ROOT] = -np.inf  # not read, as the diagonal: it may be of any size
        np.fill_diagonal(relative, -np.inf)
        weights = np.exp(relative)
        # Expected number of steps: the sum over words of the total weight into the word, divided by the part
        # that leads to the root before leading back; one over it is the derivative of log Z by the root arc.
        steps = float(weights.sum(axis=0) @ derivatives[ROOT])
        if steps <= STEPS_PER_WORD * marginals.shape[0]:
            return np.asarray(draw_by_walks(weights, size, rng))
    return rng.permutation(_word_by_word(arcs, size, rng))


def _word_by_word(arcs: Scores, size: int, rng: Rng) -> Numbers:
    """Draw the head of each word given the earlier ones; trees with equal prefixes share one posterior."""
    heads = np.full((size, arcs.shape[0]), -1, np.int32)
    # (scores given the heads so far, next word, rows of ``heads`` that agree so far)
    waiting = [(arcs, 1, heads)]
    while waiting:
        given, word, rows = waiting.pop()
        if word == arcs.shape[0] or rows.shape[0] == 0:
            continue
        weights = posterior(given, single_root=False).marginals[:, word]
        counts = rng.multinomial(rows.shape[0], weights / weights.sum())
        start = 0
        for head in np.flatnonzero(counts):
            stop = start + int(counts[head])
            rows[start:stop, word] = head
            narrowed = given.copy()
            narrowed[:, word] = -np.inf
            narrowed[head, word] = 0.0
            waiting.append((narrowed, word + 1, rows[start:stop]))
            start = stop
    return heads


_TREES = TreeFamily(find_best=arborescence, sum_up=matrix_tree, sum_in_logs=matrix_tree_log, draw=_draw)

best, k_best, sample, expectation = _TREES.best, _TREES.k_best, _TREES.sample, _TREES.expectation
posterior, marginals, max_marginals = _TREES.posterior, _TREES.marginals, _TREES.max_marginals
entropy, renyi_entropy = _TREES.entropy, _TREES.renyi_entropy
