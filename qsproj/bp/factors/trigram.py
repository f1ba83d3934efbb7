"""TRIGRAM: scores of three adjacent tags along a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.group import KernelGroup, Messages, Variables, checked_edges, checked_scores
from qsproj.kernels.bp.bp_tags import trigram_beliefs, trigram_messages


@dataclass(frozen=True, slots=True, eq=False)
class Trigram(KernelGroup):
    """One soft factor over the tags of a sentence (thesis 2.2.5, TRIGRAM). O(n K^3) for K tags."""

    edges: Variables
    scores: NDArray[np.float64]
    beliefs = staticmethod(trigram_beliefs)

    def given(self, incoming: Messages) -> tuple[Any, ...]:
        return incoming.reshape(self.edges.size, self.scores.shape[0] - 2), self.scores

    def propagate(self, incoming: Messages, *, maximise: bool = False) -> Messages:
        return np.asarray(trigram_messages(*self.given(incoming), maximise)).reshape(-1)

    @property
    def edge_states(self) -> NDArray[np.int32]:
        return np.full(self.edges.size, self.scores.shape[0] - 1, dtype=np.int32)

    def log_score(self, states: NDArray[np.int32]) -> float:
        boundary = self.scores.shape[0] - 1
        tags = [boundary, boundary, *(int(state) for state in states), boundary]
        return float(sum(self.scores[r, s, t] for r, s, t in zip(tags, tags[1:], tags[2:])))


def trigram(variables: ArrayLike, scores: ArrayLike) -> Trigram:
    """Make the TRIGRAM factor of a sentence: tag variables int[n] of K >= 2 states in the order of its words.

    ``scores`` float[K+1, K+1, K+1]: natural log, [tag before the last, last tag, tag]; index K is the
    boundary.
    """
    edges = checked_edges(variables, "TRIGRAM")
    side = np.shape(scores)[0] if np.ndim(scores) == 3 else 0
    if edges.size < 1 or side < 3:
        raise ValueError(
            f"TRIGRAM has {edges.size} variables and scores of shape {np.shape(scores)}, expected 1 or more "
            "and a side of two or more tags and the boundary"
        )
    return Trigram(edges, checked_scores(scores, (side, side, side), "TRIGRAM"))
