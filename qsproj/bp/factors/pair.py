"""PAIR and what is made of it: a reward where all booleans of a factor are true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.group import FactorGroup, Messages, Variables, checked_edges, checked_scores
from qsproj.kernels.bp.bp_booleans import all_true_beliefs, all_true_messages


@dataclass(frozen=True, slots=True, eq=False)
class AllTrue(FactorGroup):
    """Factors that fire if all of their booleans are true; O(d) each.

    ``edges`` int32[F * degree]: the booleans, factor after factor.
    ``scores`` float64[F]: natural log; -inf forbids that all are true.
    ``degree``: number of booleans of each factor.
    """

    edges: Variables
    scores: NDArray[np.float64]
    degree: int

    def propagate(self, incoming: Messages, *, maximise: bool = False) -> Messages:
        """See :meth:`FactorGroup.propagate`."""
        return np.asarray(all_true_messages(incoming, self.scores, self.degree, maximise))

    def log_partition(self, incoming: Messages) -> float:
        """See :meth:`FactorGroup.log_partition`."""
        log_partition, _ = all_true_beliefs(incoming, self.scores, self.degree)
        return float(log_partition)

    def expected(self, incoming: Messages) -> NDArray[np.float64]:
        """See :meth:`FactorGroup.expected`."""
        _, fired = all_true_beliefs(incoming, self.scores, self.degree)
        return np.asarray(fired)

    def log_score(self, states: NDArray[np.int32]) -> float:
        """See :meth:`FactorGroup.log_score`."""
        factors = states.reshape(-1, self.degree)
        return float(sum(score for score, values in zip(self.scores, factors) if all(values)))


def all_true(variables: ArrayLike, scores: ArrayLike) -> AllTrue:
    """Make factors that reward all of their booleans being true.

    ``variables`` int[F, d]: the booleans of each factor, d >= 1. ``scores`` float[F]: natural log of F where
    all are true; -inf forbids it.
    """
    table = np.asarray(variables, dtype=np.int32)
    if table.ndim != 2 or table.shape[1] < 1:
        raise ValueError(f"variables of all_true have shape {table.shape}, expected (factors, degree)")
    edges = checked_edges(table, "all_true", degree=table.shape[1])
    return AllTrue(edges, checked_scores(scores, (table.shape[0],), "all_true"), table.shape[1])


def pair(variables: ArrayLike, scores: ArrayLike) -> AllTrue:
    """Make PAIR factors (thesis 2.2.5), which fire if both booleans are true; O(1) each.

    GRAND and SIB are PAIR over the rows of :func:`qsproj.bp.links.grandparents` and
    :func:`qsproj.bp.links.siblings`.

    ``variables`` int[F, 2]: the two booleans of each factor. ``scores`` float[F]: natural log; -inf forbids
    the pair.
    """
    checked_edges(variables, "PAIR", degree=2)
    return all_true(variables, scores)
