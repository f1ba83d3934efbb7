"""Closed-form factors over booleans: LINK, PAIR and relatives, ANYPAIR, EXACTLY1 and ATMOST1, SYNCH."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp import graph
from qsproj.bp.links import rival_heads, two_cycles
from qsproj.conventions import Floats, Numbers, starts_of
from qsproj.kernels.bp import bp_booleans


@dataclass(frozen=True, slots=True, eq=False)
class AllTrue(graph.FactorGroup):
    """Factors that fire if all of their booleans are true; O(d) each."""

    scores: Floats
    degree: int
    messages = staticmethod(bp_booleans.all_true_messages)
    beliefs = staticmethod(bp_booleans.all_true_beliefs)


def all_true(variables: ArrayLike, scores: ArrayLike) -> AllTrue:
    """Make factors on booleans int[F, d] with scores float[F], natural log, for all being true."""
    table = np.asarray(variables, dtype=np.int32)
    if table.ndim != 2 or table.shape[1] < 1:
        raise ValueError(f"variables of all_true have shape {table.shape}, expected (factors, degree)")
    edges = graph.checked_edges(table, "all_true", degree=table.shape[1])
    return AllTrue(edges, graph.checked_scores(scores, (table.shape[0],), "all_true"), table.shape[1])


def pair(variables: ArrayLike, scores: ArrayLike) -> AllTrue:
    """Make PAIR factors (thesis 2.2.5), such as GRAND and SIB, which fire if both int[F, 2] are true."""
    graph.checked_edges(variables, "PAIR", degree=2)
    return all_true(variables, scores)


def nand(variables: ArrayLike) -> AllTrue:
    """Make NAND factors (thesis 2.2.4): at most one of two booleans, int[F, 2], is true; O(1) each."""
    table = np.asarray(variables, dtype=np.int32)
    return pair(table, np.full(len(table), -np.inf))


def not2(links: Numbers) -> AllTrue:
    """Make the NOT2 family: no word has two heads, one factor per pair of arcs; O(n^3) factors."""
    return nand(rival_heads(links))


def no2cycle(links: Numbers) -> AllTrue:
    """Make the NO2CYCLE family: no two words head each other; O(n^2) factors."""
    return nand(two_cycles(links))


@dataclass(frozen=True, slots=True, eq=False)
class Link(graph.FactorGroup):
    """Unary soft factors; each fires if its boolean is true (thesis 2.2.5, LINK). O(1) each."""

    scores: Floats
    needs_incoming: ClassVar[bool] = False
    beliefs = staticmethod(bp_booleans.link_beliefs)

    def propagate(self, incoming: graph.Messages, *, maximise: bool = False) -> graph.Messages:
        return self.scores.copy()


def link(variables: ArrayLike, scores: ArrayLike) -> Link:
    """Make LINK factors (ALIGN, thesis 4.7.1.2) on booleans int[F], of scores float[F], natural log."""
    edges = graph.checked_edges(variables, "LINK")
    array = np.array(scores, dtype=np.float64)
    if array.shape != edges.shape or np.isnan(array).any():
        found = f"shape {array.shape} and {np.isnan(array).sum()} NaN"
        raise ValueError(f"scores of LINK have {found}, expected {edges.shape} and none")
    return Link(edges, array)


@dataclass(frozen=True, slots=True, eq=False)
class AnyPair(graph.HardGroup):
    """ANYPAIR, hard: the result is true if both booleans of some pair are, else false; O(pairs) each.

    It ties the grandparent and sibling variables of thesis 4.7.2.1 to links: the variable of words i and k is
    true if, for some middle word j, the arcs i -> j and j -> k (or j -> i and j -> k) are. TREE already
    ensures that at most one middle word fits: repeating it for each result would make beliefs overconfident.
    ``edges`` int32[E], grouped by factor with ``starts`` int64[F+1]: its result, then its pairs, two each.

    *Source*: thesis 4.7.2.2 (indicator variables and the sum over middle words).
    """

    starts: NDArray[np.int64]
    messages = staticmethod(bp_booleans.any_pair_messages)
    beliefs = staticmethod(bp_booleans.any_pair_log_partition)


def any_pair(results: graph.Variables, pairs: graph.Variables) -> AnyPair:
    """Make ANYPAIR factors: ``results`` int32[P], equal ones adjacent, of ``pairs`` int32[P, 2]."""
    begins = np.diff(results, prepend=-1) != 0
    first, factor = np.flatnonzero(begins), np.cumsum(begins) - 1
    starts = np.append(2 * first + np.arange(first.size), 2 * len(results) + first.size).astype(np.int64)
    edges = np.empty(starts[-1], dtype=np.int32)
    edges[starts[:-1]] = results[first]
    places = 2 * np.arange(len(results)) + factor + 1
    edges[places], edges[places + 1] = pairs[:, 0], pairs[:, 1]
    return AnyPair(edges, starts)


@dataclass(frozen=True, slots=True, eq=False)
class ExactlyOne(graph.HardGroup):
    """Hard factors: exactly one boolean is true, or with ``allow_none`` at most one; O(d) (thesis 2.5.2).

    ``edges`` int32[E]: the booleans, grouped by factor with ``starts`` int64[F+1].
    """

    starts: NDArray[np.int64]
    allow_none: bool
    messages = staticmethod(bp_booleans.exactly_one_messages)
    beliefs = staticmethod(bp_booleans.exactly_one_log_partition)

    def given(self, incoming: graph.Messages) -> tuple[Any, ...]:
        return incoming, self.starts, 0.0 if self.allow_none else -np.inf


def at_most_one(variables: Sequence[ArrayLike]) -> ExactlyOne:
    """Make ATMOST1 factors, each over a list of variables; ValueError for invalid variables."""
    return exactly_one(variables, allow_none=True)


def exactly_one(variables: Sequence[ArrayLike], *, allow_none: bool = False) -> ExactlyOne:
    """Make EXACTLY1 factors, each over a list of variables; ValueError for invalid or empty lists."""
    name = "ATMOST1" if allow_none else "EXACTLY1"
    lists = [graph.checked_edges(members, name) for members in variables]
    starts = starts_of([members.size for members in lists])
    graph.check_empty_families(starts, np.full(len(lists), 0.0 if allow_none else -np.inf), name)
    edges = np.concatenate([np.zeros(0, dtype=np.int32), *lists])
    return ExactlyOne(edges, starts, allow_none)


@dataclass(frozen=True, slots=True, eq=False)
class Synch(graph.HardGroup):
    """Hard factors over two links and two arcs, as in :func:`synch` (thesis 4.7.2.4); O(1) each.

    Where the dependents are linked, exactly two of the other three may not be true.
    """

    messages = staticmethod(bp_booleans.synch_messages)
    beliefs = staticmethod(bp_booleans.synch_log_partition)


def synch(variables: ArrayLike) -> Synch:
    """Make SYNCH factors, int[F, 4]: link of the dependents, link of the heads, source arc, target arc."""
    return Synch(graph.checked_edges(variables, "SYNCH", degree=4))
