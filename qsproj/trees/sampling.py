"""Exact samples of trees that need not be projective, from sums over trees and random walks."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT, Scores
from qsproj.kernels.trees.matrix_tree import matrix_tree
from qsproj.kernels.trees.tree_sampling import draw_by_walks
from qsproj.trees.posterior import TreePosterior

# A step takes about 10 ns; past this number the other way of drawing is the faster one.
STEPS_PER_WORD = 1000.0


class Posterior(Protocol):
    """Sums over all trees: :func:`qsproj.trees.nonprojective.posterior`."""

    def __call__(self, scores: Scores, *, single_root: bool) -> TreePosterior:
        """Return the posterior of the scores."""


def sampled_trees(
    arcs: Scores, size: int, rng: np.random.Generator, posterior: Posterior, *, single_root: bool
) -> NDArray[np.int32]:
    """Draw ``size`` independent trees; ``arcs`` are checked scores under which there is a tree.

    Returns int32[size, n+1], heads, -1 in column 0. With a single root, its child is drawn first, by its
    probability; given the child, the root has no other choice and the rest is a multi-root problem.
    """
    if not single_root:
        return _multi_root_trees(arcs, size, rng, posterior)
    weights = posterior(arcs, single_root=True).marginals[ROOT, 1:]
    counts = rng.multinomial(size, weights / weights.sum())
    drawn = [np.empty((0, arcs.shape[0]), np.int32)]
    for child in np.flatnonzero(counts) + 1:
        given = arcs.copy()
        given[ROOT] = -np.inf
        given[:, child] = -np.inf
        given[ROOT, child] = 0.0
        drawn.append(_multi_root_trees(given, int(counts[child - 1]), rng, posterior))
    return rng.permutation(np.concatenate(drawn))


def _multi_root_trees(
    arcs: Scores, size: int, rng: np.random.Generator, posterior: Posterior
) -> NDArray[np.int32]:
    """Draw trees by random walks where these are short, else word by word."""
    _, marginals, derivatives, shifts, in_range = matrix_tree(arcs, False)
    if in_range:
        weights = np.exp(arcs - shifts)
        weights[:, ROOT] = 0.0
        np.fill_diagonal(weights, 0.0)
        # Expected number of steps: the sum over words of weight in / weight in that leads to the root before
        # it leads back, and the latter is one over the derivative of log Z by the root arc.
        steps = float(weights.sum(axis=0) @ derivatives[ROOT])
        if steps <= STEPS_PER_WORD * marginals.shape[0]:
            return np.asarray(draw_by_walks(weights, size, rng))
    return rng.permutation(_word_by_word(arcs, size, rng, posterior))


def _word_by_word(
    arcs: Scores, size: int, rng: np.random.Generator, posterior: Posterior
) -> NDArray[np.int32]:
    """Draw the head of each word given those before it; trees that agree so far share one posterior."""
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
