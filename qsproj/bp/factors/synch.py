"""SYNCH: two trees and an alignment that a synchronous grammar could have derived."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.group import HardGroup, Messages, Variables, checked_edges
from qsproj.kernels.bp.bp_booleans import synch_log_partition, synch_messages


@dataclass(frozen=True, slots=True, eq=False)
class Synch(HardGroup):
    """Hard factors over two links and two arcs (thesis 4.7.2.4); O(1) each.

    Where the dependents are linked, a factor forbids that exactly two of the three others are true: the link
    of the heads, the source arc, the target arc.
    """

    edges: Variables

    def propagate(self, incoming: Messages, *, maximise: bool = False) -> Messages:
        return np.asarray(synch_messages(incoming, maximise))

    def log_partition(self, incoming: Messages) -> float:
        return float(synch_log_partition(incoming))

    def log_score(self, states: NDArray[np.int32]) -> float:
        for dependents, heads, source, target in states.reshape(-1, 4).astype(bool):
            broken = (
                (source and dependents and target and not heads)
                or (source and dependents and heads and not target)
                or (target and dependents and heads and not source)
            )
            if broken:
                return -np.inf
        return 0.0


def synch(variables: ArrayLike) -> Synch:
    """Make SYNCH factors, int[F, 4]: link of the dependents, link of the heads, source arc, target arc."""
    return Synch(checked_edges(variables, "SYNCH", degree=4))
