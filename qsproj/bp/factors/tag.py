"""TAG: unary scores on variables of several states, such as parts of speech."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.group import KernelGroup, Messages, Variables, checked_edges, checked_scores
from qsproj.kernels.bp.bp_tags import tag_beliefs, tag_messages


@dataclass(frozen=True, slots=True, eq=False)
class Tag(KernelGroup):
    """Unary soft factors on variables of K states each (thesis 2.2.5, TAG). O(K) each."""

    edges: Variables
    scores: NDArray[np.float64]
    beliefs = staticmethod(tag_beliefs)

    def given(self, incoming: Messages) -> tuple[Any, ...]:
        n_factors, n_states = self.scores.shape
        return incoming.reshape(n_factors, n_states - 1), self.scores

    @property
    def edge_states(self) -> NDArray[np.int32]:
        return np.full(self.edges.size, self.scores.shape[1], dtype=np.int32)

    def propagate(self, incoming: Messages, *, maximise: bool = False) -> Messages:
        return np.asarray(tag_messages(*self.given(incoming))).reshape(-1)

    def log_score(self, states: NDArray[np.int32]) -> float:
        return float(sum(row[state] for row, state in zip(self.scores, states)))


def tag(variables: ArrayLike, scores: ArrayLike) -> Tag:
    """Make TAG factors on variables int[F] of K >= 2 states, by scores float[F, K], natural log."""
    edges = checked_edges(variables, "TAG")
    n_states = max(np.shape(scores)[1:] or (0,))
    if n_states < 2:
        raise ValueError(
            f"scores of TAG have shape {np.shape(scores)}, expected (variables, 2 or more states)"
        )
    return Tag(edges, checked_scores(scores, (edges.size, n_states), "TAG"))
