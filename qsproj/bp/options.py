"""How messages are passed: options, and the schedules in which the groups of an iteration answer.

A schedule runs one iteration on a :class:`~qsproj.bp.messages.MessageState` and returns its residual, the
largest change of a message; it stops early at a contradiction.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from qsproj.bp.messages import MessageState
from qsproj.errors import UsageError, check_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """In which order, how long and how carefully messages are passed.

    ``schedule``: ``flooding``, all factors answer the same messages, then all variables do (as in the
    thesis); ``sequential``, groups in their order, each hearing the newest messages; ``residual``, always the
    group whose incoming messages have changed most, as often as there are groups. ``damping``, below 1: how
    far a new message is held back at its predecessor, on the log-ratio scale. ``tolerance``: messages have
    settled when none changes by more than this (log-ratios). ``temperatures``: deterministic annealing
    (thesis 2.6): iteration i runs with every factor to the power 1 / temperatures[i]; the last one stays, and
    only there can messages settle.
    """

    schedule: str = "flooding"
    max_iterations: int = 100
    damping: float = 0.0
    tolerance: float = 1e-6
    temperatures: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        check_name("schedule", self.schedule, SCHEDULES)
        if self.max_iterations < 1:
            raise UsageError(f"max_iterations is {self.max_iterations}, expected at least 1")
        if not 0.0 <= self.damping < 1.0:
            raise UsageError(f"damping is {self.damping}, expected 0 <= damping < 1")
        if not self.temperatures or not all(0.0 < one < np.inf for one in self.temperatures):
            raise UsageError(
                f"temperatures are {list(self.temperatures)}, expected one or more positive numbers"
            )


Sweep = Callable[[MessageState, float], float]


def flooding(state: MessageState, tolerance: float) -> float:
    """Let every group answer the same state of the variables (thesis algorithm 2.1)."""
    residual = 0.0
    indices = range(len(state.groups))
    for index in indices:
        residual = max(residual, state.answer(index, state.incoming(index)))
        if state.contradiction:
            return np.inf
    state.tell(indices)
    return residual


def sequential(state: MessageState, tolerance: float) -> float:
    """Let the groups answer in their order, each after hearing those before it."""
    residual = 0.0
    for index in range(len(state.groups)):
        residual = max(residual, state.answer(index, state.incoming(index)))
        if state.contradiction:
            return np.inf
        state.tell([index])
    return residual


def residual_priority(state: MessageState, tolerance: float) -> float:
    """Let the group answer that has the most news, as often as there are groups; return what is left.

    The change of what a group hears bounds and stands for the change of what it would say (Sutton and
    McCallum 2007; thesis 5.6).
    """
    indices = range(len(state.groups))
    for _ in indices:
        incoming = [state.incoming(index) for index in indices]
        news = [state.news(index, messages) for index, messages in zip(indices, incoming)]
        loudest = int(np.argmax(news)) if news else 0
        if news[loudest] <= tolerance:
            return news[loudest]
        state.answer(loudest, incoming[loudest])
        if state.contradiction:
            return np.inf
        state.tell([loudest])
    return max(state.news(index, state.incoming(index)) for index in indices)


SCHEDULES: dict[str, Sweep] = {"flooding": flooding, "sequential": sequential, "residual": residual_priority}
