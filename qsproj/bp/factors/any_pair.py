"""ANYPAIR: a boolean that is true exactly if both members of one of its pairs are.

It ties the grandparent and sibling variables of thesis 4.7.2.1 to links: the one of words i and k is true
if, for some middle word j, the arcs i -> j and j -> k (grandparent) or j -> i and j -> k (sibling) are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.group import HardGroup, Messages, Variables
from qsproj.kernels.bp.bp_booleans import any_pair_log_partition, any_pair_messages


@dataclass(frozen=True, slots=True, eq=False)
class AnyPair(HardGroup):
    """Hard factors: the result is true if some pair is both true, else false; O(pairs) each.

    In a tree a word has one head, so at most one middle word fits. The factor does not rely on it: were it to
    assume "exactly one head", it would repeat what TREE says already, once for each result, and beliefs would
    grow too sure. As it stands, a result of which nothing is heard sends no message to its arcs.

    ``edges`` int32[E]: factor after factor, from ``starts`` int64[F+1]: its result, then its pairs, two each.

    *Source*: thesis 4.7.2.2 (indicator variables and the sum over middle words).
    """

    edges: Variables
    starts: NDArray[np.int64]

    def propagate(self, incoming: Messages, *, maximise: bool = False) -> Messages:
        return np.asarray(any_pair_messages(incoming, self.starts, maximise))

    def log_partition(self, incoming: Messages) -> float:
        return float(any_pair_log_partition(incoming, self.starts))

    def log_score(self, states: NDArray[np.int32]) -> float:
        for start, stop in zip(self.starts, self.starts[1:]):
            pairs = states[start + 1 : stop].reshape(-1, 2)
            if bool(states[start]) != any(bool(a) and bool(b) for a, b in pairs):
                return -np.inf
        return 0.0


def any_pair(results: ArrayLike, pairs: Sequence[ArrayLike]) -> AnyPair:
    """Make ANYPAIR factors: ``results`` int[F] that they decide; of each, pairs int[P, 2], one or more."""
    decided = np.asarray(results, dtype=np.int32)
    tables = [np.asarray(table, dtype=np.int32) for table in pairs]
    if decided.ndim != 1 or len(tables) != decided.size:
        raise ValueError(f"ANYPAIR has {decided.size} results and {len(tables)} lists of pairs")
    for table in tables:
        if table.ndim != 2 or table.shape[1] != 2 or not table.size:
            raise ValueError(f"pairs of ANYPAIR have shape {table.shape}, expected (1 or more, 2)")
    pieces = [np.append(result, table.reshape(-1)) for result, table in zip(decided, tables)]
    starts = np.zeros(len(pieces) + 1, dtype=np.int64)
    np.cumsum([piece.size for piece in pieces], out=starts[1:])
    edges = np.concatenate([np.zeros(0, dtype=np.int32), *pieces])
    return AnyPair(np.ascontiguousarray(edges, dtype=np.int32), starts)


def any_pair_sorted(results: Variables, pairs: Variables) -> AnyPair:
    """Make ANYPAIR factors from a table, without a loop over factors.

    ``results`` int32[P]: the boolean that each pair, of ``pairs`` int32[P, 2], makes true; equal ones, which
    form a factor, stand together.
    """
    begins = np.diff(results, prepend=-1) != 0
    first, factor = np.flatnonzero(begins), np.cumsum(begins) - 1
    starts = np.append(2 * first + np.arange(first.size), 2 * len(results) + first.size).astype(np.int64)
    edges = np.empty(starts[-1], dtype=np.int32)
    edges[starts[:-1]] = results[first]
    places = 2 * np.arange(len(results)) + factor + 1
    edges[places], edges[places + 1] = pairs[:, 0], pairs[:, 1]
    return AnyPair(edges, starts)
