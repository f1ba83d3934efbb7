"""TAG, TAGLINK, TRIGRAM: factors over variables of several states, such as parts of speech."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qsproj.bp.graph import FactorGroup, Messages, checked_edges, checked_scores
from qsproj.conventions import Floats, Numbers
from qsproj.kernels.bp import bp_tags


@dataclass(frozen=True, slots=True, eq=False)
class Tag(FactorGroup):
    """Unary soft factors on variables of K states each (thesis 2.2.5, TAG). O(K) each."""

    scores: Floats
    beliefs = staticmethod(bp_tags.tag_beliefs)

    def given(self, incoming: Messages) -> tuple[Any, ...]:
        n_factors, n_states = self.scores.shape
        return incoming.reshape(n_factors, n_states - 1), self.scores

    @property
    def edge_states(self) -> Numbers:
        return np.full(self.edges.size, self.scores.shape[1], dtype=np.int32)

    def propagate(self, incoming: Messages, *, maximise: bool = False) -> Messages:
        return np.asarray(bp_tags.tag_messages(*self.given(incoming))).reshape(-1)


def tag(variables: ArrayLike, scores: ArrayLike) -> Tag:
    """Make TAG factors on variables int[F] of K >= 2 states, with scores float[F, K], natural log."""
    edges = checked_edges(variables, "TAG")
    n_states = max(np.shape(scores)[1:] or (0,))
    if n_states < 2:
        expected = "(variables, 2 or more states)"
        raise ValueError(f"scores of TAG have shape {np.shape(scores)}, expected {expected}")
    return Tag(edges, checked_scores(scores, (edges.size, n_states), "TAG"))


@dataclass(frozen=True, slots=True, eq=False)
class TagLink(FactorGroup):
    """Ternary soft factors, which fire with an arc by both tags (thesis 2.2.5); O(H D) each."""

    scores: Floats
    beliefs = staticmethod(bp_tags.tag_link_beliefs)

    def given(self, incoming: Messages) -> tuple[Any, ...]:
        # Messages of arcs [F], heads [F, H-1] and dependents [F, D-1].
        n_factors, n_head, n_dependent = self.scores.shape
        links, heads, dependents = np.split(incoming, [n_factors, n_factors * n_head])
        by_factor = heads.reshape(n_factors, n_head - 1), dependents.reshape(n_factors, n_dependent - 1)
        return links, *by_factor, self.scores

    @property
    def edge_states(self) -> Numbers:
        n_factors, n_head, n_dependent = self.scores.shape
        return np.repeat(np.array([2, n_head, n_dependent], dtype=np.int32), n_factors)

    def propagate(self, incoming: Messages, *, maximise: bool = False) -> Messages:
        parts = bp_tags.tag_link_messages(*self.given(incoming), maximise)
        return np.concatenate([part.reshape(-1) for part in parts])


def tag_link(arcs: ArrayLike, head_tags: ArrayLike, dependent_tags: ArrayLike, scores: ArrayLike) -> TagLink:
    """Make TAGLINK factors of arcs and tag variables int[F]; of the root, a variable of one state.

    ``scores`` float[F, H, D]: natural log where the arc is true, [tag of head, tag of dependent].
    """
    columns = [checked_edges(variables, "TAGLINK") for variables in (arcs, head_tags, dependent_tags)]
    if len({column.size for column in columns}) != 1 or np.ndim(scores) != 3:
        found = f"{[column.size for column in columns]} variables and scores of shape {np.shape(scores)}"
        expected = "as many of each and scores (factors, head tags, dependent tags)"
        raise ValueError(f"TAGLINK has {found}, expected {expected}")
    shape = (columns[0].size, *np.shape(scores)[1:])
    return TagLink(np.concatenate(columns), checked_scores(scores, shape, "TAGLINK"))


@dataclass(frozen=True, slots=True, eq=False)
class Trigram(FactorGroup):
    """One soft factor over the tags of a sentence (thesis 2.2.5, TRIGRAM). O(n K^3) for K tags."""

    scores: Floats
    messages = staticmethod(bp_tags.trigram_messages)
    beliefs = staticmethod(bp_tags.trigram_beliefs)

    def given(self, incoming: Messages) -> tuple[Any, ...]:
        return incoming.reshape(self.edges.size, self.scores.shape[0] - 2), self.scores

    @property
    def edge_states(self) -> Numbers:
        return np.full(self.edges.size, self.scores.shape[0] - 1, dtype=np.int32)


def trigram(variables: ArrayLike, scores: ArrayLike) -> Trigram:
    """Make the TRIGRAM factor of a sentence: tag variables int[n] of K >= 2 states in the order of its words.

    ``scores`` float[K+1, K+1, K+1]: natural log, [tag before the last, last tag, tag], boundary K.
    """
    edges = checked_edges(variables, "TRIGRAM")
    side = np.shape(scores)[0] if np.ndim(scores) == 3 else 0
    if edges.size < 1 or side < 3:
        found = f"{edges.size} variables and scores of shape {np.shape(scores)}"
        expected = "1 or more and a side of two or more tags and the boundary"
        raise ValueError(f"TRIGRAM has {found}, expected {expected}")
    return Trigram(edges, checked_scores(scores, (side, side, side), "TRIGRAM"))
