"""TAGLINK: scores on an arc together with the tags of its two words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.group import KernelGroup, Messages, Variables, checked_edges, checked_scores
from qsproj.kernels.bp.bp_tags import tag_link_beliefs, tag_link_messages


@dataclass(frozen=True, slots=True, eq=False)
class TagLink(KernelGroup):
    """Ternary soft factors; each fires if its arc is true, with a value by both tags (thesis 2.2.5).

    O(H D) each, for H tags of the head and D of the dependent.
    """

    edges: Variables
    scores: NDArray[np.float64]
    beliefs = staticmethod(tag_link_beliefs)

    def given(self, incoming: Messages) -> tuple[Any, ...]:
        # Messages of arcs [F], heads [F, H-1] and dependents [F, D-1].
        n_factors, n_head, n_dependent = self.scores.shape
        links, heads, dependents = np.split(incoming, [n_factors, n_factors * n_head])
        by_factor = heads.reshape(n_factors, n_head - 1), dependents.reshape(n_factors, n_dependent - 1)
        return links, *by_factor, self.scores

    @property
    def edge_states(self) -> NDArray[np.int32]:
        n_factors, n_head, n_dependent = self.scores.shape
        return np.repeat(np.array([2, n_head, n_dependent], dtype=np.int32), n_factors)

    def propagate(self, incoming: Messages, *, maximise: bool = False) -> Messages:
        parts = tag_link_messages(*self.given(incoming), maximise)
        return np.concatenate([part.reshape(-1) for part in parts])

    def log_score(self, states: NDArray[np.int32]) -> float:
        arcs, heads, dependents = states.reshape(3, -1)
        fired = [float(self.scores[f, heads[f], dependents[f]]) for f in range(arcs.size) if arcs[f]]
        return sum(fired)


def tag_link(arcs: ArrayLike, head_tags: ArrayLike, dependent_tags: ArrayLike, scores: ArrayLike) -> TagLink:
    """Make TAGLINK factors.

    ``arcs``, ``head_tags``, ``dependent_tags`` int[F]: boolean of each arc and the tag variables of its
    words, of H and D states; for arcs from the root, make a variable of one state. ``scores`` float[F, H, D]:
    natural log where the arc is true.
    """
    columns = [checked_edges(variables, "TAGLINK") for variables in (arcs, head_tags, dependent_tags)]
    if len({column.size for column in columns}) != 1 or np.ndim(scores) != 3:
        raise ValueError(
            f"TAGLINK has {[column.size for column in columns]} variables and scores of shape "
            f"{np.shape(scores)}, expected as many of each and scores (factors, head tags, dependent tags)"
        )
    shape = (columns[0].size, *np.shape(scores)[1:])
    return TagLink(np.concatenate(columns), checked_scores(scores, shape, "TAGLINK"))
