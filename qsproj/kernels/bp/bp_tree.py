"""Messages of tree factors, from what is known of each arc: O(n^2)."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import others_totals, settle_forced
from qsproj.kernels.compilation import njit

FLAGS = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def tree_scores(incoming, heads, dependents, size):
    """Return arc scores float64[size, size] [head, dependent], -inf where there is no variable.

    ``incoming`` float64[E] are log-odds of the arcs ``heads[e] -> dependents[e]``, int32[E]. A certain arc
    forbids its dependent's other heads.
    """
    by_dependent = np.full((size, size), -np.inf)
    for e in range(incoming.shape[0]):
        by_dependent[dependents[e], heads[e]] = incoming[e]
    settled = np.empty((size, size))
    for d in range(size):
        settle_forced(by_dependent[d], settled[d])
    return settled.T.copy()


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def tree_messages(incoming, heads, dependents, with_arc, maximise):
    """Return the outgoing log-odds, float64[E].

    ``with_arc`` float64[n+1, n+1] [head, dependent] are log-marginals, or best scores of a tree with the arc.
    A word has exactly one head, so the weight of "not this arc" is the total over the word's other heads
    (design section 4): nothing is taken from 1. Where an arc is certain or excluded, so is the answer.
    """
    by_dependent = with_arc.T.copy()
    others = np.full(with_arc.shape, -np.inf)
    before = np.empty(with_arc.shape[0])
    for d in range(1, with_arc.shape[0]):
        others_totals(by_dependent[d], before, others[d], maximise)
    outgoing = np.empty(incoming.shape[0])
    for e in range(incoming.shape[0]):
        if abs(incoming[e]) == np.inf:
            possible = by_dependent[dependents[e], heads[e]] if incoming[e] > 0.0 else 0.0
            outgoing[e] = np.nan if possible == -np.inf else incoming[e]
        else:
            outgoing[e] = (
                by_dependent[dependents[e], heads[e]] - others[dependents[e], heads[e]] - incoming[e]
            )
    return outgoing
