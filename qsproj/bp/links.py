"""The variables of arcs, and the index tables of factors over arcs.

Everywhere ``links`` is int32[n+1, n+1], [head, dependent]: the boolean variable of each arc, -1 for an
impossible arc (column 0, the diagonal, pruned arcs). Words are 1..n, the root is 0. Tables list the
``variables`` int32[F, k] of each factor, and the ``words`` int32[F, k] that determine its score.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.conventions import Numbers, starts_of

NO_LINK = -1

Table = Numbers


def chosen_links(allowed: ArrayLike) -> Table:
    """Return ``links`` for arcs ``allowed`` bool[n+1, n+1] but column 0 and diagonal, head after head."""
    mask = np.array(allowed, dtype=bool)
    mask[:, 0] = False
    np.fill_diagonal(mask, False)
    links = np.full(mask.shape, NO_LINK, dtype=np.int32)
    links[mask] = np.arange(mask.sum())
    return links


def arcs_of(links: Table) -> tuple[Table, Table, Table]:
    """Return head, dependent and variable of every arc, int32[E] each, head after head."""
    heads, dependents = np.nonzero(links >= 0)
    return heads.astype(np.int32), dependents.astype(np.int32), links[heads, dependents]


def candidate_heads(links: Table) -> list[Table]:
    return [column[column >= 0] for column in links.T[1:]]


def grandparents(heads: Table, dependents: Table, variables: Table) -> tuple[Table, Table]:
    """Return all chains of two arcs, for GRAND: their variables, upper first, and their three words."""
    # For each arc h -> d the candidate heads of h, one after another.
    order = np.lexsort((heads, dependents))
    into = np.bincount(dependents, minlength=int(heads.max(initial=0)) + 1)
    repeats = into[heads]
    arc = np.repeat(np.arange(heads.size), repeats)
    inside = np.arange(arc.size) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    above = order[starts_of(into)[heads[arc]] + inside]
    keep = heads[above] != dependents[arc]
    above, arc = above[keep], arc[keep]
    words = np.stack([heads[above], heads[arc], dependents[arc]], axis=1)
    return np.stack([variables[above], variables[arc]], axis=1), words.astype(np.int32)


def siblings(links: Table) -> tuple[Table, Table]:
    """Return all pairs of arcs from the same head, for SIB; words are head, first, second dependent."""
    present = links >= 0
    h, a, b = np.nonzero(np.triu(present[:, :, None] & present[:, None, :], k=1))
    return np.stack([links[h, a], links[h, b]], axis=1), np.stack([h, a, b], axis=1).astype(np.int32)


def rival_heads(links: Table) -> Table:
    """Return int32[F, 2], all pairs of arcs into the same word."""
    return siblings(np.ascontiguousarray(links.T))[0]


def two_cycles(links: Table) -> Table:
    """Return int32[F, 2], all pairs of arcs h -> d and d -> h."""
    h, d = np.nonzero(np.triu((links >= 0) & (links.T >= 0), k=1))
    return np.stack([links[h, d], links[d, h]], axis=1)


def crossing_pairs(heads: Table, dependents: Table, variables: Table) -> tuple[Table, Table]:
    """Return all pairs of arcs that cross, and their dependents by position; O(E^2) time and memory."""
    low, high = np.minimum(heads, dependents), np.maximum(heads, dependents)
    pairs = np.argwhere((low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high))
    words = np.sort(dependents[pairs], axis=1)
    return variables[pairs].astype(np.int32), words.astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """The possible dependents of each head on each side, from the head outwards.

    ``variables``, ``dependents`` int32[E]: arcs and words, chain after chain with ``starts`` int64[F+1].
    ``heads``, ``sides`` int32[F]: head of each chain, and 0 left, 1 right. Empty chains are listed too; the
    root has no left side.
    """

    variables: Table
    dependents: Table
    starts: NDArray[np.int64]
    heads: Table
    sides: Table


def dependent_chains(heads: Table, dependents: Table, variables: Table, *, size: int) -> Chains:
    """List the arcs int[A] of each head on each side, nearest first; ``size``: words and root."""
    sides = dependents > heads
    order = np.lexsort((np.abs(dependents - heads), sides, heads))
    # The left side of the root, which has no arcs, would be chain -1.
    chains = 2 * heads + sides - 1
    n_chains = 2 * size - 1
    starts = starts_of(np.bincount(chains, minlength=n_chains))
    numbers = np.arange(1, n_chains + 1, dtype=np.int32)
    return Chains(variables[order], dependents[order], starts, numbers // 2, numbers % 2)
