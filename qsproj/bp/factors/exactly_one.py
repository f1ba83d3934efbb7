"""EXACTLY1 and ATMOST1: counting constraints on booleans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.group import HardGroup, Messages, Variables, check_empty_families, checked_edges
from qsproj.kernels.bp.bp_booleans import exactly_one_log_partition, exactly_one_messages


@dataclass(frozen=True, slots=True, eq=False)
class ExactlyOne(HardGroup):
    """Hard factors: exactly one, or (``allow_none``) at most one, boolean is true; O(d); thesis 2.5.2.

    ``edges`` int32[E]: the booleans, factor after factor, those of each from ``starts`` int64[F+1].
    """

    edges: Variables
    starts: NDArray[np.int64]
    allow_none: bool

    @property
    def _log_weight_of_none(self) -> float:
        return 0.0 if self.allow_none else -np.inf

    def propagate(self, incoming: Messages, *, maximise: bool = False) -> Messages:
        return np.asarray(exactly_one_messages(incoming, self.starts, self._log_weight_of_none, maximise))

    def log_partition(self, incoming: Messages) -> float:
        return float(exactly_one_log_partition(incoming, self.starts, self._log_weight_of_none))

    def log_score(self, states: NDArray[np.int32]) -> float:
        counts = [int(states[a:b].sum()) for a, b in zip(self.starts, self.starts[1:])]
        fits = all(count == 1 or (count == 0 and self.allow_none) for count in counts)
        return 0.0 if fits else -np.inf


def exactly_one(variables: Sequence[ArrayLike]) -> ExactlyOne:
    """Make EXACTLY1 factors: of each list of booleans, none empty, exactly one is true.

    For "each word has exactly one head" the lists are :func:`qsproj.bp.links.candidate_heads`.
    """
    return _counted(variables, allow_none=False)


def at_most_one(variables: Sequence[ArrayLike]) -> ExactlyOne:
    """Make ATMOST1 factors: of each list of booleans at most one is true."""
    return _counted(variables, allow_none=True)


def _counted(variables: Sequence[ArrayLike], *, allow_none: bool) -> ExactlyOne:
    name = "ATMOST1" if allow_none else "EXACTLY1"
    lists = [checked_edges(members, name) for members in variables]
    starts = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum([members.size for members in lists], out=starts[1:])
    check_empty_families(starts, np.full(len(lists), 0.0 if allow_none else -np.inf), name)
    edges = np.concatenate([np.zeros(0, dtype=np.int32), *lists])
    return ExactlyOne(edges, starts, allow_none)
