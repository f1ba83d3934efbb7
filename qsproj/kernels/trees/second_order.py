"""Trees with sibling and grandparent scores: inside, outside, and the best tree.

A tree weighs the product of ``arcs[h, c, d]`` for each arc h -> d, c the *context* of h: in the grandparent
model its own head (0 for h = 0), in the sibling model always 0; ``siblings[h, d, s]`` for each arc, s the
dependent of h next to d towards h, or h if there is none; and for each head and side ``stops[h, s]``, s the
outermost dependent there, or ``childless[h, side]`` without one (side 0 is left; those of the root must be
one). Fence f is between the words f - 1 and f; charts hold the sums over everything below.
With own(h) the context of h's dependents, ``closed`` on h's right where f > h, else on its left::

    opened[h, c, d]  = arcs[h, c, d] * sum over s of  opened[h, c, s] * step[s];   opened[h, c, h] = 1
    step[s]          = siblings[h, d, s] * between[d, own(h), s]    (s = h: closed[d, own(h), fence at h])
    closed[h, c, f]  = sum over d of  opened[h, c, d] * end[d]
    end[d]           = stops[h, d] * closed[d, own(h), f]
    between[i, c, j] = sum over i < f <= j of  closed[i, c, f] * closed[j, c, f]

O(n^3) time with siblings, O(n^4) with grandparents; O(n^3) memory (docs/notes/second-order-inference.md).
*Source*: McDonald and Pereira (2006) for siblings; Koo and Collins (2010), Model 1.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.trees.eisner import last_argmax
from qsproj.kernels.trees.semirings import (
    MAXIMUM,
    MAXIMUM_FLAGS,
    PROBABILITY,
    add_multiple,
    inner,
    one,
    plus,
    times,
    zero,
)


class Parts(NamedTuple):
    """Weights of the parts of a tree, numbers of the semiring; N is n + 1, C is 1 (sibling model) or N."""

    arcs: NDArray[np.float64]  # [N, C, N]: head, context, dependent
    siblings: NDArray[np.float64]  # [N, N, N]: head, dependent, the dependent before it or the head
    stops: NDArray[np.float64]  # [N, N]: head, outermost dependent
    childless: NDArray[np.float64]  # [N, 2]: head, side


class Charts(NamedTuple):
    """The charts described in the module's docstring."""

    closed: NDArray[np.float64]  # [N, C, N + 1]: head, context, fence
    opened: NDArray[np.float64]  # [N, C, N]: head, context, dependent
    between: NDArray[np.float64]  # [N, C, N]: dependent, context, dependent


@njit(cache=True, error_model="numpy", fastmath=FAST)
def empty_charts(size, contexts, semiring):
    nothing = zero(semiring)
    return Charts(
        np.full((size, contexts, size + 1), nothing),
        np.full((size, contexts, size), nothing),
        np.full((size, contexts, size), nothing),
    )


@njit(cache=True, error_model="numpy", fastmath=FAST)
def sides(head, dependent):
    """Return the fence at the head, the fence beyond the dependent, and the start of the steps.

    Steps range from ``begin`` up to ``begin + |head - dependent|``, with the head and without the dependent;
    ends are one word further out.
    """
    if dependent > head:
        return head + 1, dependent + 1, head
    return head, dependent, dependent + 1


@njit(cache=True, error_model="numpy", fastmath=FAST)
def fill_steps(head, dependent, parts, charts, steps, semiring):
    """Write ``steps[s]`` for every word s from the head up to the dependent."""
    own = min(head, parts.arcs.shape[1] - 1)
    near, _, begin = sides(head, dependent)
    for s in range(begin, begin + abs(head - dependent)):
        reached = charts.closed[dependent, own, near] if s == head else charts.between[dependent, own, s]
        steps[s] = times(parts.siblings[head, dependent, s], reached, semiring)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def fill_ends(head, outermost, parts, charts, ends, semiring):
    """Write ``ends[d]`` for every word d beyond the head up to ``outermost``, at the fence beyond that."""
    own = min(head, parts.arcs.shape[1] - 1)
    _, far, _ = sides(head, outermost)
    for d in range(min(head + 1, outermost), max(head, outermost + 1)):
        ends[d] = times(parts.stops[head, d], charts.closed[d, own, far], semiring)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def possible(parts, semiring):
    """Return the possible arcs, bool[N, N], and contexts of a word, bool[N, C], few when pruned."""
    size, contexts = parts.arcs.shape[0], parts.arcs.shape[1]
    nothing = zero(semiring)
    arcs = np.zeros((size, size), np.bool_)
    for h in range(size):
        for c in range(contexts):
            for d in range(1, size):
                arcs[h, d] |= parts.arcs[h, c, d] != nothing
    allowed = np.ones((size, contexts), np.bool_)
    if contexts > 1:
        for d in range(size):
            for h in range(size):
                allowed[d, h] = arcs[h, d]
        allowed[0, 0] = True
    return arcs, allowed


@njit(cache=True, error_model="numpy", fastmath=FAST)
def contexts_of(left, right, contexts, part):
    """Return the range of contexts before (part 0) or after (part 1) the words ``left..right``."""
    if part == 0:
        return 0, min(max(left, 1), contexts)
    return (right + 1, contexts) if left > 0 else (contexts, contexts)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _fill(head, dependent, parts, is_arc, allowed, charts, steps, ends, semiring):
    """Fill the chart entries over the words from a head to a word on one side of it."""
    contexts, distance = parts.arcs.shape[1], abs(head - dependent)
    _, far, begin = sides(head, dependent)
    outer = begin + 1 if dependent > head else begin - 1
    if is_arc[head, dependent]:
        fill_steps(head, dependent, parts, charts, steps, semiring)
    fill_ends(head, dependent, parts, charts, ends, semiring)
    for part in range(2):
        first, stop = contexts_of(min(head, dependent), max(head, dependent), contexts, part)
        for c in range(first, stop):
            if not allowed[head, c]:
                continue
            row = charts.opened[head, c]
            if is_arc[head, dependent]:
                path = inner(row[begin : begin + distance], steps[begin : begin + distance], semiring)
                row[dependent] = times(parts.arcs[head, c, dependent], path, semiring)
            charts.closed[head, c, far] = inner(
                row[outer : outer + distance], ends[outer : outer + distance], semiring
            )


@njit(cache=True, error_model="numpy", fastmath=FAST)
def inside(parts, semiring):
    """Fill the charts over the words 0..n; the sum over all trees is ``closed[0, 0, n + 1]``.

    Zeros of the semiring are legal everywhere. Not read: arcs into the root or from a word to itself,
    contexts within the arc.
    """
    size, contexts = parts.arcs.shape[0], parts.arcs.shape[1]
    charts = empty_charts(size, contexts, semiring)
    is_arc, allowed = possible(parts, semiring)
    steps, ends = np.empty(size), np.empty(size)
    for h in range(size):
        charts.opened[h, :, h] = one(semiring)
        charts.closed[h, :, h] = parts.childless[h, 0]
        charts.closed[h, :, h + 1] = parts.childless[h, 1]
    for width in range(1, size):
        for i in range(size - width):
            j = i + width
            _fill(i, j, parts, is_arc, allowed, charts, steps, ends, semiring)
            if i == 0:
                continue
            _fill(j, i, parts, is_arc, allowed, charts, steps, ends, semiring)
            for part in range(2):
                first, stop = contexts_of(i, j, contexts, part)
                for c in range(first, stop):
                    if allowed[i, c] and allowed[j, c]:
                        left, right = charts.closed[i, c], charts.closed[j, c]
                        meeting = inner(left[i + 1 : j + 1], right[i + 1 : j + 1], semiring)
                        charts.between[i, c, j] = meeting
                        charts.between[j, c, i] = meeting
    return charts


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _reverse_ends(head, outermost, parts, charts, outer, with_part, rows, semiring):
    own = min(head, parts.arcs.shape[1] - 1)
    _, far, _ = sides(head, outermost)
    low, high = min(head + 1, outermost), max(head, outermost + 1)
    ends, d_ends = rows[0], rows[1]
    fill_ends(head, outermost, parts, charts, ends, semiring)
    d_ends[low:high] = zero(semiring)
    for part in range(2):
        first, stop = contexts_of(min(head, outermost), max(head, outermost), parts.arcs.shape[1], part)
        for c in range(first, stop):
            derivative = outer.closed[head, c, far]
            add_multiple(outer.opened[head, c, low:high], derivative, ends[low:high], semiring)
            add_multiple(d_ends[low:high], derivative, charts.opened[head, c, low:high], semiring)
    for d in range(low, high):
        outer.closed[d, own, far] = plus(
            outer.closed[d, own, far], times(d_ends[d], parts.stops[head, d], semiring), semiring
        )
        with_part.stops[head, d] = plus(
            with_part.stops[head, d], times(d_ends[d], ends[d], semiring), semiring
        )


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _reverse_steps(head, dependent, parts, charts, outer, with_part, rows, semiring):
    own = min(head, parts.arcs.shape[1] - 1)
    near, _, low = sides(head, dependent)
    high = low + abs(head - dependent)
    steps, d_steps = rows[0], rows[1]
    fill_steps(head, dependent, parts, charts, steps, semiring)
    d_steps[low:high] = zero(semiring)
    for part in range(2):
        first, stop = contexts_of(min(head, dependent), max(head, dependent), parts.arcs.shape[1], part)
        for c in range(first, stop):
            derivative = times(outer.opened[head, c, dependent], parts.arcs[head, c, dependent], semiring)
            add_multiple(outer.opened[head, c, low:high], derivative, steps[low:high], semiring)
            add_multiple(d_steps[low:high], derivative, charts.opened[head, c, low:high], semiring)
    for s in range(low, high):
        with_part.siblings[head, dependent, s] = times(d_steps[s], steps[s], semiring)
        derivative = times(d_steps[s], parts.siblings[head, dependent, s], semiring)
        if s == head:
            outer.closed[dependent, own, near] = plus(
                outer.closed[dependent, own, near], derivative, semiring
            )
        else:
            left, right = min(s, dependent), max(s, dependent)
            outer.between[left, own, right] = plus(outer.between[left, own, right], derivative, semiring)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _reverse_between(i, j, charts, outer, semiring):
    fences = slice(i + 1, j + 1)
    for part in range(2):
        first, stop = contexts_of(i, j, charts.between.shape[1], part)
        for c in range(first, stop):
            derivative = outer.between[i, c, j]
            add_multiple(outer.closed[i, c, fences], derivative, charts.closed[j, c, fences], semiring)
            add_multiple(outer.closed[j, c, fences], derivative, charts.closed[i, c, fences], semiring)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _collect(charts, outer, with_part, semiring):
    """Fill the shares of arcs and of childless sides once all derivatives are complete."""
    size, contexts = charts.opened.shape[0], charts.opened.shape[1]
    for h in range(size):
        for c in range(contexts):
            for d in range(1, size):
                if h != d:
                    with_part.arcs[h, c, d] = times(charts.opened[h, c, d], outer.opened[h, c, d], semiring)
            for side in range(2):
                value = times(charts.closed[h, c, h + side], outer.closed[h, c, h + side], semiring)
                with_part.childless[h, side] = plus(with_part.childless[h, side], value, semiring)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def outside(parts, charts, semiring):
    """Return the share of trees with each part, and the derivatives of the log total by the charts.

    ``charts``: from :func:`inside`, with a total that is not the zero of the semiring. Shares are
    probabilities or their natural logs; with MAXIMUM, best scores with each part minus the best of all.
    """
    size, contexts = parts.arcs.shape[0], parts.arcs.shape[1]
    nothing = zero(semiring)
    outer = empty_charts(size, contexts, semiring)
    with_part = Parts(
        np.full((size, contexts, size), nothing),
        np.full((size, size, size), nothing),
        np.full((size, size), nothing),
        np.full((size, 2), nothing),
    )
    rows = np.empty((2, size))
    is_arc, _ = possible(parts, semiring)
    total = charts.closed[0, 0, size]
    outer.closed[0, 0, size] = 1.0 / total if semiring == PROBABILITY else -total
    for width in range(size - 1, 0, -1):
        for i in range(size - width):
            j = i + width
            for turn in range(2 if i > 0 else 1):
                head, dependent = (i, j) if turn == 0 else (j, i)
                _reverse_ends(head, dependent, parts, charts, outer, with_part, rows, semiring)
                if is_arc[head, dependent]:
                    _reverse_steps(head, dependent, parts, charts, outer, with_part, rows, semiring)
            if i > 0:
                _reverse_between(i, j, charts, outer, semiring)
    _collect(charts, outer, with_part, semiring)
    return with_part, outer


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def _push(stack, depth, head, context, fence):
    stack[depth, 0], stack[depth, 1], stack[depth, 2] = head, context, fence
    return depth + 1


@njit(cache=True, error_model="numpy", fastmath=MAXIMUM_FLAGS)
def best_tree(parts, charts):
    """Return the heads of the best tree by the maxima of :func:`inside`; splits are recomputed."""
    size, contexts = parts.arcs.shape[0], parts.arcs.shape[1]
    heads = np.full(size, -1, np.int32)
    row = np.empty(size)
    # Closed entries to follow: head, context, fence.
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
        d = low + last_argmax(opened[low:high], row[low:high])
        depth = _push(stack, depth, d, own, fence)
        while d != head:
            heads[d] = head
            near, _, low = sides(head, d)
            high = low + abs(head - d)
            fill_steps(head, d, parts, charts, row, MAXIMUM)
            s = low + last_argmax(opened[low:high], row[low:high])
            if s != head:
                left, right = charts.closed[min(s, d), own], charts.closed[max(s, d), own]
                low, high = min(s, d) + 1, max(s, d) + 1
                near = low + last_argmax(left[low:high], right[low:high])
                depth = _push(stack, depth, s, own, near)
            depth = _push(stack, depth, d, own, near)
            d = s
    return heads
