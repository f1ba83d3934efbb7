"""LINK: unary rewards on booleans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.group import KernelGroup, Messages, Variables, checked_edges
from qsproj.kernels.bp.bp_booleans import link_beliefs


@dataclass(frozen=True, slots=True, eq=False)
class Link(KernelGroup):
    """Unary soft factors; each fires if its boolean is true (thesis 2.2.5, LINK). O(1) each."""

    edges: Variables
    scores: NDArray[np.float64]
    needs_incoming: ClassVar[bool] = False
    beliefs = staticmethod(link_beliefs)

    def given(self, incoming: Messages) -> tuple[Any, ...]:
        return incoming, self.scores

    def propagate(self, incoming: Messages, *, maximise: bool = False) -> Messages:
        return self.scores.copy()

    def log_score(self, states: NDArray[np.int32]) -> float:
        return sum(_log_value(float(score), bool(state)) for score, state in zip(self.scores, states))


def _log_value(score: float, fires: bool) -> float:
    if score == np.inf:
        return 0.0 if fires else -np.inf
    return score if fires else 0.0


def link(variables: ArrayLike, scores: ArrayLike) -> Link:
    """Make LINK factors on booleans int[F], of scores float[F], natural log; infinite ones are evidence.

    ALIGN (thesis 4.7.1.2) is LINK over candidate links of words.
    """
    edges = checked_edges(variables, "LINK")
    array = np.array(scores, dtype=np.float64)
    if array.shape != edges.shape or np.isnan(array).any():
        raise ValueError(
            f"scores of LINK have shape {array.shape} and {np.isnan(array).sum()} NaN, "
            f"expected {edges.shape} and none"
        )
    return Link(edges, array)
