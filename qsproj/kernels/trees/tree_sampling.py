"""Exact, independent samples of trees: projective ones by inside charts, others by loop-erased walks."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit


@njit(cache=True, error_model="numpy")
def _draw(left, right, whole, rng):
    rest = rng.random()
    last = 0
    for k in range(left.shape[0]):
        share = np.exp(left[k] + right[k] - whole)
        if share > 0.0:
            last = k
            rest -= share
            if rest < 0.0:
                break
    return last


@njit(cache=True, error_model="numpy")
def draw_projective(scores, closed, opened, count, rng, single_root):
    """Draw heads int32[count, n+1] by the log charts of ``eisner.charts``; O(n^2) a tree at most."""
    size = scores.shape[0]
    last = size - 1
    heads = np.full((count, size), -1, np.int32)
    stack = np.empty((2 * size, 2), np.int64)
    root_scores = np.full(size, -np.inf)
    total = closed[0, last]
    if single_root:
        for d in range(1, size):
            root_scores[d] = scores[0, d] + closed[d, 1] + closed[d, last]
        total = root_scores.max()
        total += np.log(np.exp(root_scores - total).sum())
    for tree in range(count):
        top = 0
        if single_root:
            top = _draw(root_scores, np.zeros(size), total, rng)
            heads[tree, top] = 0
        stack[0, 0], stack[0, 1] = top, min(top, 1)
        stack[1, 0], stack[1, 1] = top, last
        depth = 2
        while depth > 0:
            depth -= 1
            head, end = stack[depth, 0], stack[depth, 1]
            if head == end:
                continue
            low, high = (head + 1, end + 1) if head < end else (end, head)
            k = low + _draw(opened[head, low:high], closed[low:high, end], closed[head, end], rng)
            heads[tree, k] = head
            i, j = min(head, k), max(head, k)
            link = opened[head, k] - scores[head, k]
            split = i + _draw(closed[i, i:j], closed[j, i + 1 : j + 1], link, rng)
            stack[depth, 0], stack[depth, 1] = k, end
            stack[depth + 1, 0], stack[depth + 1, 1] = i, split
            stack[depth + 2, 0], stack[depth + 2, 1] = j, split + 1
            depth += 3
    return heads


@njit(cache=True, error_model="numpy")
def draw_by_walks(weights, count, rng):
    """Draw trees int32[count, n+1] by Wilson's loop-erased walks (1996), which must be short.

    ``weights`` float64[n+1, n+1]: probability scale, finite; 0 where forbidden and on the diagonal.
    """
    size = weights.shape[0]
    cumulative = np.zeros((size, size))
    for d in range(1, size):
        total = 0.0
        for h in range(size):
            total += weights[h, d]
            cumulative[d, h] = total
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
