"""PAIR, NAND and their like: a reward, or a ban, where all booleans of a factor are true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.group import KernelGroup, Messages, Variables, checked_edges, checked_scores
from qsproj.bp.links import rival_heads, two_cycles
from qsproj.kernels.bp.bp_booleans import all_true_beliefs, all_true_messages


@dataclass(frozen=True, slots=True, eq=False)
class AllTrue(KernelGroup):
    """Factors that fire if all of their booleans are true; O(d) each."""

    edges: Variables
    scores: NDArray[np.float64]
    degree: int
    messages = staticmethod(all_true_messages)
    beliefs = staticmethod(all_true_beliefs)

    def given(self, incoming: Messages) -> tuple[Any, ...]:
        return incoming, self.scores, self.degree

    def log_score(self, states: NDArray[np.int32]) -> float:
        factors = states.reshape(-1, self.degree)
        return float(sum(score for score, values in zip(self.scores, factors) if all(values)))


def all_true(variables: ArrayLike, scores: ArrayLike) -> AllTrue:
    """Make factors that reward all of their booleans int[F, d] being true, by scores float[F] in logs."""
    table = np.asarray(variables, dtype=np.int32)
    if table.ndim != 2 or table.shape[1] < 1:
        raise ValueError(f"variables of all_true have shape {table.shape}, expected (factors, degree)")
    edges = checked_edges(table, "all_true", degree=table.shape[1])
    return AllTrue(edges, checked_scores(scores, (table.shape[0],), "all_true"), table.shape[1])


def pair(variables: ArrayLike, scores: ArrayLike) -> AllTrue:
    """Make PAIR factors (thesis 2.2.5), which fire if both booleans int[F, 2] are true; O(1) each.

    GRAND and SIB are PAIR over the rows of :func:`qsproj.bp.links.grandparents` and
    :func:`qsproj.bp.links.siblings`.
    """
    checked_edges(variables, "PAIR", degree=2)
    return all_true(variables, scores)


def nand(variables: ArrayLike) -> AllTrue:
    """Make NAND factors (thesis 2.2.4): at most one of two booleans, int[F, 2], is true; O(1) each."""
    table = np.asarray(variables, dtype=np.int32)
    return pair(table, np.full(len(table), -np.inf))


def not2(links: NDArray[np.int32]) -> AllTrue:
    """Make the NOT2 family: no word has two heads, said pair by pair; O(n^3) factors."""
    return nand(rival_heads(links))


def no2cycle(links: NDArray[np.int32]) -> AllTrue:
    """Make the NO2CYCLE family: no two words head each other; O(n^2) factors."""
    return nand(two_cycles(links))
