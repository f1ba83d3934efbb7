"""Projective trees scored by siblings and grandparents: the inside charts, in any semiring.

A tree weighs the product of

* for each arc h -> d: ``arcs[h, c, d]``, c the *context* of h: in the grandparent model its own head (0 for
  h = 0), in the sibling model always 0, the only context;
* for each arc: ``siblings[h, d, s]``, s the dependent of h next to d on the way to h, or h if there is none;
* for each head and side: ``stops[h, s]``, s the outermost dependent there, or ``childless[h, side]`` without
  one (side 0 is left; those of the root must be one, as all trees have a dependent there or no such side).

Fence f stands between the words f - 1 and f. The charts hold the sums over all that is below

``closed[h, c, f]``
    the words from head h out to fence f, h's stop included: on its right where f > h, else on its left;
``opened[h, c, d]``
    the words from h to its dependent d, without d's outer side; ``opened[h, c, h]`` is one;
``between[i, c, j]``
    the words from i to j, two neighbouring dependents of the head that is the context; symmetric.

With own(h) the context of h's dependents::

    opened[h, c, d]  = arcs[h, c, d] * sum over s of  opened[h, c, s] * step[s]
    step[s]          = siblings[h, d, s] * between[d, own(h), s]    (s = h: closed[d, own(h), fence at h])
    closed[h, c, f]  = sum over d of  opened[h, c, d] * end[d]
    end[d]           = stops[h, d] * closed[d, own(h), f]
    between[i, c, j] = sum over i < f <= j of  closed[i, c, f] * closed[j, c, f]

Steps and ends do not depend on c, so that every product is a matrix times a vector: O(n^3) time in the
sibling model, O(n^4) with grandparents; O(n^3) memory. Every tree has one derivation.

*Source*: McDonald and Pereira (2006) for siblings; Koo and Collins (2010), Model 1, for scores that are a sum
of siblings' and grandparents', where the thesis (2.9.2) counts O(n^5). Fences and contexts are ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.compilation import njit
from qsproj.kernels.trees.semirings import inner, one, times, zero

FLAGS = {"reassoc", "contract", "nsz", "arcp"}


class Parts(NamedTuple):
    """Weights of the parts of a tree, numbers of the semiring; N is n + 1, C is 1 (sibling model) or N."""

    arcs: NDArray[np.float64]  # [N, C, N]: head, context, dependent
    siblings: NDArray[np.float64]  # [N, N, N]: head, dependent, the dependent before it or the head
    stops: NDArray[np.float64]  # [N, N]: head, outermost dependent
    childless: NDArray[np.float64]  # [N, 2]: head, side


class Charts(NamedTuple):
    """The charts that the module describes."""

    closed: NDArray[np.float64]  # [N, C, N + 1]: head, context, fence
    opened: NDArray[np.float64]  # [N, C, N]: head, context, dependent
    between: NDArray[np.float64]  # [N, C, N]: dependent, context, dependent


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def empty_charts(size, contexts, semiring):
    """Return charts of zeros."""
    nothing = zero(semiring)
    return Charts(
        np.full((size, contexts, size + 1), nothing),
        np.full((size, contexts, size), nothing),
        np.full((size, contexts, size), nothing),
    )


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def sides(head, dependent):
    """Return the fence at the head, the fence beyond the dependent, and where the steps begin.

    Steps are over ``begin`` up to ``begin + |head - dependent|``, with the head and without the dependent;
    ends are one word further out.
    """
    if dependent > head:
        return head + 1, dependent + 1, head
    return head, dependent, dependent + 1


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def fill_steps(head, dependent, parts, charts, steps, semiring):
    """Write ``steps[s]`` for every word s from the head up to the dependent."""
    own = min(head, parts.arcs.shape[1] - 1)
    near, _, begin = sides(head, dependent)
    for s in range(begin, begin + abs(head - dependent)):
        reached = charts.closed[dependent, own, near] if s == head else charts.between[dependent, own, s]
        steps[s] = times(parts.siblings[head, dependent, s], reached, semiring)


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def fill_ends(head, outermost, parts, charts, ends, semiring):
    """Write ``ends[d]`` for every word d beyond the head up to ``outermost``, at the fence beyond that."""
    own = min(head, parts.arcs.shape[1] - 1)
    _, far, _ = sides(head, outermost)
    for d in range(min(head + 1, outermost), max(head, outermost + 1)):
        ends[d] = times(parts.stops[head, d], charts.closed[d, own, far], semiring)


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def possible(parts, semiring):
    """Return which arcs some tree may have, bool[N, N], and which contexts a word may have, bool[N, C].

    Where arcs are pruned, few contexts are left: time is then nearer to that of the sibling model.
    """
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


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def contexts_of(left, right, contexts, part):
    """Return the range of contexts that lie before (part 0) or behind (part 1) the words ``left..right``."""
    if part == 0:
        return 0, min(max(left, 1), contexts)
    return (right + 1, contexts) if left > 0 else (contexts, contexts)


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _fill(head, dependent, parts, is_arc, allowed, charts, steps, ends, semiring):
    """Fill the entries of the charts whose words are those from a head to a word on one side of it."""
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


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def inside(parts, semiring):
    """Fill the charts over the words 0..n; the sum over all trees is ``closed[0, 0, n + 1]``.

    ``parts`` Parts: C-contiguous arrays, probabilities or natural logs; zeros of the semiring are legal
    everywhere. Not read: arcs into the root or from a word to itself, contexts within the arc. ``semiring``:
    a number of :mod:`qsproj.kernels.trees.semirings`.
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
