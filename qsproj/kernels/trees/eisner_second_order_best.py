"""Best projective tree under scores of siblings and grandparents: the way back through the maxima."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.trees.eisner_second_order_inside import fill_ends, fill_steps, sides
from qsproj.kernels.trees.semirings import MAXIMUM, MAXIMUM_FLAGS


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def _argmax(left, right):
    """Return where ``left + right`` is greatest."""
    best, where = -np.inf, 0
    for k in range(left.shape[0]):
        value = left[k] + right[k]
        if value >= best:
            best, where = value, k
    return where


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def _push(stack, depth, head, context, fence):
    """Write a closed entry at ``depth`` and return the depth above it."""
    stack[depth, 0], stack[depth, 1], stack[depth, 2] = head, context, fence
    return depth + 1


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def best_tree(parts, charts):
    """Return the heads of the best tree, int32[n+1]; ``heads[0] == -1``.

    Splits are found anew instead of stored: a tree needs few of them.

    ``parts`` Parts: natural-log scores, finite or -inf
    (:mod:`qsproj.kernels.trees.eisner_second_order_inside`). ``charts`` Charts: the maxima that ``inside``
    found; their total must be finite.
    """
    size, contexts = parts.arcs.shape[0], parts.arcs.shape[1]
    heads = np.full(size, -1, np.int32)
    row = np.empty(size)
    # Closed entries yet to be followed: head, context, fence.
    stack = np.empty((2 * size, 3), np.int64)
    depth = _push(stack, 0, 0, 0, size)
    while depth > 0:
        depth -= 1
        head, context, fence = stack[depth]
        if fence == head or fence == head + 1:
            continue
        own = min(head, contexts - 1)
        opened = charts.opened[head, context]
        outermost = fence - 1 if fence > head else fence
        low, high = min(head + 1, outermost), max(head, outermost + 1)
        fill_ends(head, outermost, parts, charts, row, MAXIMUM)
        d = low + _argmax(opened[low:high], row[low:high])
        depth = _push(stack, depth, d, own, fence)
        while d != head:
            heads[d] = head
            near, _, low = sides(head, d)
            high = low + abs(head - d)
            fill_steps(head, d, parts, charts, row, MAXIMUM)
            s = low + _argmax(opened[low:high], row[low:high])
            if s != head:
                left, right = charts.closed[min(s, d), own], charts.closed[max(s, d), own]
                low, high = min(s, d) + 1, max(s, d) + 1
                near = low + _argmax(left[low:high], right[low:high])
                depth = _push(stack, depth, s, own, near)
            depth = _push(stack, depth, d, own, near)
            d = s
    return heads
