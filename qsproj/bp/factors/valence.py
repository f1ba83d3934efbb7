"""VALENCE: scores for each head's number of dependents on a side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.group import (
    KernelGroup,
    Messages,
    Variables,
    check_empty_families,
    checked_edges,
    checked_scores,
)
from qsproj.kernels.bp.bp_chains import valence_beliefs, valence_messages


@dataclass(frozen=True, slots=True, eq=False)
class Valence(KernelGroup):
    """Families of booleans, scored by how many of them are true (thesis 2.2.5). O(m B) for m booleans."""

    edges: Variables
    starts: NDArray[np.int64]
    scores: NDArray[np.float64]
    messages = staticmethod(valence_messages)
    beliefs = staticmethod(valence_beliefs)

    def given(self, incoming: Messages) -> tuple[Any, ...]:
        return incoming, self.starts, self.scores

    def log_score(self, states: NDArray[np.int32]) -> float:
        last = self.scores.shape[1] - 1
        counts = [min(int(states[a:b].sum()), last) for a, b in zip(self.starts, self.starts[1:])]
        return float(sum(self.scores[f, count] for f, count in enumerate(counts)))


def valence(variables: ArrayLike, starts: ArrayLike, scores: ArrayLike) -> Valence:
    """Make VALENCE factors over families as :func:`qsproj.bp.links.dependent_chains` lists them.

    ``variables`` int[E] and where each family begins, ``starts`` int[F+1]. ``scores`` float[F, B+1], B >= 1:
    natural log for 0, 1, ..., B - 1 and for B or more of them.
    """
    edges = checked_edges(variables, "VALENCE")
    begins = np.ascontiguousarray(starts, dtype=np.int64)
    bins = max(np.shape(scores)[1:] or (0,))
    if bins < 2:
        raise ValueError(
            f"scores of VALENCE have shape {np.shape(scores)}, expected (families, 2 or more bins)"
        )
    array = checked_scores(scores, (begins.size - 1, bins), "VALENCE")
    check_empty_families(begins, array[:, 0], "VALENCE")
    return Valence(edges, begins, array)
