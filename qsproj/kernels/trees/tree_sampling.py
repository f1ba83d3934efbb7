"""Exact, independent samples of trees: projective ones by inside charts, others by loop-erased walks."""

import numpy as np

from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.trees.eisner import charts, choose, follow
from qsproj.kernels.trees.semirings import LOG, PROBABILITY, inner


@njit(cache=True, error_model="numpy", fastmath=FAST)
def probability_charts(weights, first):
    """Return the charts of :func:`eisner.charts`; called from Python, that kernel would be slower."""
    return charts(weights, first, PROBABILITY)


@njit(cache=True, error_model="numpy")
def draw_projective(scores, closed, closed_by_end, opened, links, drawn, single_root):
    """Draw heads int32[trees, n+1] by the log charts of ``eisner.charts``; O(n^2) a tree at most.

    ``drawn`` float64[trees, 2n]: random numbers from 0 to 1, as for :func:`eisner.follow`.
    """
    trees, size = drawn.shape[0], scores.shape[0]
    last = size - 1
    heads = np.full((trees, size), -1, np.int32)
    beside = np.zeros(size)
    root_scores = np.full(size, -np.inf)
    total = closed[0, last]
    if single_root:
        for d in range(1, size):
            root_scores[d] = scores[0, d] + closed[d, 1] + closed[d, last]
        total = inner(root_scores, beside, LOG)
    for tree in range(trees):
        top, numbers = 0, drawn[tree]
        if single_root:
            top = choose(root_scores, beside, total, numbers[0])
            heads[tree, top] = 0
            numbers = numbers[1:]
        follow(closed, closed_by_end, opened, links, top, heads[tree], numbers)
    return heads


@njit(cache=True, error_model="numpy")
def draw_by_walks(weights, count, rng):
    """Draw trees int32[count, n+1] by Wilson's loop-erased walks (1996), which must be short.

    ``weights`` float64[n+1, n+1]: probability scale, finite; 0 where forbidden and on the diagonal.
    """
    size = weights.shape[0]
    cumulative = np.zeros((size, size))
    for d in range(1, size):
        cumulative[d] = np.cumsum(weights[:, d])
    heads = np.full((count, size), -1, np.int32)
    for tree in range(count):
        in_tree = np.zeros(size, np.bool_)
        in_tree[0] = True
        for word in range(1, size):
            here = word
            while not in_tree[here]:
                row = cumulative[here]
                head = np.searchsorted(row, rng.random() * row[size - 1], side="right")
                heads[tree, here] = head
                here = head
            here = word
            while not in_tree[here]:
                in_tree[here] = True
                here = heads[tree, here]
    return heads
