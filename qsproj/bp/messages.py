"""The messages of a run in progress."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.graph import FactorGraph
from qsproj.bp.group import FactorGroup, Messages
from qsproj.kernels.bp.bp_messages import largest_change, leave_out, replace, tell


class MessageState:
    """All messages between the variables and the groups of a graph; what schedules act on.

    ``finite`` float64[S]: sum of the finite messages at every slot. ``outgoing``: what each group last
    answered. ``contradiction``: some factor or variable has no possible state left, and messages rest.
    """

    def __init__(
        self, graph: FactorGraph, *, damping: float, maximise: bool, start: Sequence[Messages] | None
    ) -> None:
        n_groups = len(graph.groups)
        self.groups: Sequence[FactorGroup] = graph.groups
        self.contradiction = False
        self.finite = np.zeros(graph.n_slots)
        self._infinite = np.zeros(graph.n_slots, dtype=np.int32)
        self._slots = graph.slots
        self._damping = damping
        self._maximise = maximise
        # Each group's sums are kept apart and totals are formed afresh, so that no rounding piles up.
        self._finite_by_group = np.zeros((n_groups, graph.n_slots))
        self._infinite_by_group = np.zeros((n_groups, graph.n_slots), dtype=np.int32)
        self.outgoing = [np.zeros(slots.size) for slots in graph.slots]
        self._heard: list[Messages | None] = [None] * n_groups
        if start is not None:
            self.outgoing = [np.array(messages, dtype=np.float64) for messages in start]
            self.tell(range(n_groups))

    def use(self, groups: Sequence[FactorGroup]) -> None:
        self.groups = groups
        self._heard = [None] * len(groups)

    def incoming(self, index: int) -> Messages:
        """Return what the variables send to group ``index`` now (thesis eq. 2.7).

        Read-only, as those that beliefs hold: so kernels are compiled for one kind of array.
        """
        messages = np.empty(self._slots[index].size)
        leave_out(self.finite, self._infinite, self._slots[index], self.outgoing[index], messages)
        messages.flags.writeable = False
        return messages

    def all_incoming(self) -> tuple[Messages, ...]:
        return tuple(self.incoming(index) for index in range(len(self.groups)))

    def news(self, index: int, incoming: Messages) -> float:
        """Return the largest change of ``incoming`` since the group last answered; inf if it never did."""
        heard = self._heard[index]
        if heard is None:
            return np.inf
        return float(largest_change(heard, incoming)) if self.groups[index].needs_incoming else 0.0

    def answer(self, index: int, incoming: Messages) -> float:
        """Let group ``index`` answer; return the largest change of a message. Totals wait for ``tell``."""
        needs_incoming = self.groups[index].needs_incoming
        if self._heard[index] is not None and not needs_incoming:
            proposed = self.outgoing[index].copy()
        else:
            proposed = self.groups[index].propagate(incoming, maximise=self._maximise)
        self._heard[index] = incoming
        # A message that will never change is right at once: held back, it would stay so for good.
        damping = self._damping if needs_incoming else 0.0
        residual, contradiction = replace(incoming, proposed, self.outgoing[index], damping)
        self.contradiction = self.contradiction or bool(contradiction)
        return float(residual)

    def tell(self, indices: Sequence[int]) -> None:
        """Bring totals up to date with what these groups answered."""
        for index in indices:
            tell(
                self.outgoing[index],
                self._slots[index],
                index,
                self._finite_by_group,
                self._infinite_by_group,
                self.finite,
                self._infinite,
            )

    def log_ratios(self) -> NDArray[np.float64]:
        """Return the beliefs, float64[S]: log-ratios against state 0 (thesis eq. 2.9)."""
        beliefs = self.finite.copy()
        beliefs[self._infinite > 0] = np.inf
        beliefs[self._infinite < 0] = -np.inf
        return beliefs
