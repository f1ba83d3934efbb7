"""A factor graph: how many states each variable has, and the groups of factors over them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.group import FactorGroup, starts_of


@dataclass(frozen=True, slots=True, eq=False)
class FactorGraph:
    """A factor graph; made by :func:`factor_graph`.

    ``states`` int32[V]: number of states of each variable; a boolean has 2, and true is state 1. ``groups``
    stand in the order in which a sequential schedule runs them. ``starts`` int64[V+1]: the log-ratios of
    variable v lie in the slots ``starts[v]:starts[v + 1]``. For each group, ``slots`` int32[M] is the slot of
    each entry of its messages, and ``edge_starts`` int64[E+1] where the entries of each edge begin.
    """

    states: NDArray[np.int32]
    groups: tuple[FactorGroup, ...]
    starts: NDArray[np.int64]
    slots: tuple[NDArray[np.int32], ...]
    edge_starts: tuple[NDArray[np.int64], ...]

    @property
    def n_slots(self) -> int:
        return int(self.starts[-1])


def factor_graph(states: ArrayLike, groups: Sequence[FactorGroup]) -> FactorGraph:
    """Join variables of ``states`` int[V] states each, at least 1, and groups of factors."""
    counts = np.array(states, dtype=np.int32)
    if counts.ndim != 1 or (counts < 1).any():
        raise ValueError("states must be a list of numbers of at least 1, one a variable")
    counts.flags.writeable = False
    starts = starts_of(counts - 1)
    slots, edge_starts = [], []
    for group in groups:
        _check_edges(group, counts)
        begins = starts_of(group.edge_states - 1)
        inside = np.arange(begins[-1]) - np.repeat(begins[:-1], np.diff(begins))
        slots.append((np.repeat(starts[group.edges], np.diff(begins)) + inside).astype(np.int32))
        edge_starts.append(begins)
    return FactorGraph(counts, tuple(groups), starts, tuple(slots), tuple(edge_starts))


def _check_edges(group: FactorGroup, states: NDArray[np.int32]) -> None:
    name = type(group).__name__
    if group.edges.size and (group.edges.min() < 0 or group.edges.max() >= states.size):
        raise ValueError(f"{name} names variable {group.edges.max()}, expected 0..{states.size - 1}")
    wrong = np.flatnonzero(states[group.edges] != group.edge_states)
    if wrong.size:
        edge = wrong[0]
        variable = group.edges[edge]
        raise ValueError(
            f"{name} expects {group.edge_states[edge]} states of variable {variable}, "
            f"which has {states[variable]}"
        )
