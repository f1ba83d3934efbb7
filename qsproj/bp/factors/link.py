"""LINK: unary rewards on booleans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.group import FactorGroup, Messages, Variables, checked_edges
from qsproj.kernels.bp.bp_booleans import link_beliefs


@dataclass(frozen=True, slots=True, eq=False)
class Link(FactorGroup):
    """Unary soft factors; each fires if its boolean is true (thesis 2.2.5, LINK). O(1) each.

    ``edges`` int32[F]: one boolean each. ``scores`` float64[F]: natural log. -inf says that the boolean is
    false, +inf that it is true: evidence, of weight 1.
    """

    edges: Variables
    scores: NDArray[np.float64]
    needs_incoming: ClassVar[bool] = False

    def propagate(self, incoming: Messages, *, maximise: bool = False) -> Messages:
        """Return the scores; see :meth:`FactorGroup.propagate`."""
        return self.scores.copy()

    def log_partition(self, incoming: Messages) -> float:
        """See :meth:`FactorGroup.log_partition`."""
        log_partition, _ = link_beliefs(incoming, self.scores)
        return float(log_partition)

    def expected(self, incoming: Messages) -> NDArray[np.float64]:
        """See :meth:`FactorGroup.expected`."""
        _, fired = link_beliefs(incoming, self.scores)
        return np.asarray(fired)

    def log_score(self, states: NDArray[np.int32]) -> float:
        """See :meth:`FactorGroup.log_score`."""
        return sum(_log_value(float(score), bool(state)) for score, state in zip(self.scores, states))


def _log_value(score: float, fires: bool) -> float:
    """Return log F of one factor."""
    if score == np.inf:
        return 0.0 if fires else -np.inf
    return score if fires else 0.0


def link(variables: ArrayLike, scores: ArrayLike) -> Link:
    """Make LINK factors.

    ``variables`` int[F]: booleans. ``scores`` float[F]: natural log; infinite ones are evidence.
    """
    edges = checked_edges(variables, "LINK")
    array = np.array(scores, dtype=np.float64)
    if array.shape != edges.shape or np.isnan(array).any():
        raise ValueError(
            f"scores of LINK have shape {array.shape} and {np.isnan(array).sum()} NaN, "
            f"expected {edges.shape} and none"
        )
    return Link(edges, array)
