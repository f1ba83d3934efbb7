"""Marginals of projective trees scored by siblings and grandparents: the inside pass in reverse mode.

Notation and recursion are those of :mod:`qsproj.kernels.trees.eisner_second_order_inside`; time and memory
are of the same order as there, about three times as much.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.trees.eisner_second_order_inside import (
    Parts,
    contexts_of,
    empty_charts,
    fill_ends,
    fill_steps,
    possible,
    sides,
)
from qsproj.kernels.trees.semirings import FLAGS, PROBABILITY, add_multiple, plus, times, zero


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _reverse_ends(head, outermost, parts, charts, outer, with_part, rows, semiring):
    """Pass on the derivatives of ``closed[head, :, fence beyond outermost]``."""
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


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _reverse_steps(head, dependent, parts, charts, outer, with_part, rows, semiring):
    """Pass on the derivatives of ``opened[head, :, dependent]``."""
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


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _reverse_between(i, j, charts, outer, semiring):
    """Pass on the derivatives of ``between[i, :, j]``."""
    fences = slice(i + 1, j + 1)
    for part in range(2):
        first, stop = contexts_of(i, j, charts.between.shape[1], part)
        for c in range(first, stop):
            derivative = outer.between[i, c, j]
            add_multiple(outer.closed[i, c, fences], derivative, charts.closed[j, c, fences], semiring)
            add_multiple(outer.closed[j, c, fences], derivative, charts.closed[i, c, fences], semiring)


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _collect(charts, outer, with_part, semiring):
    """Fill what is known of arcs and of childless sides once all derivatives are complete."""
    size, contexts = charts.opened.shape[0], charts.opened.shape[1]
    for h in range(size):
        for c in range(contexts):
            for d in range(1, size):
                if h != d:
                    with_part.arcs[h, c, d] = times(charts.opened[h, c, d], outer.opened[h, c, d], semiring)
            for side in range(2):
                value = times(charts.closed[h, c, h + side], outer.closed[h, c, h + side], semiring)
                with_part.childless[h, side] = plus(with_part.childless[h, side], value, semiring)


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def outside(parts, charts, semiring):
    """Find the share of the trees that have each part.

    ``parts`` Parts: probabilities or natural logs. ``charts`` Charts: those that ``inside`` filled; their
    total must not be the zero of the semiring. ``semiring``: PROBABILITY, LOG, or MAXIMUM for the best score
    of a tree with each part less the best of all. Returns ``with_part``: numbers of the semiring:
    probabilities, or their natural logs; ``outer``: derivatives of the log of the total by each entry of the
    charts.
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
