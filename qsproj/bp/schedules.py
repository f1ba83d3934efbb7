"""In which order the groups of an iteration answer.

A schedule runs one iteration on a :class:`~qsproj.bp.messages.MessageState` and returns its residual, the
largest change of a message; it stops early at a contradiction.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qsproj.bp.messages import MessageState

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
    """Let the group answer that has the most news, as often as there are groups.

    The change of what a group hears bounds and stands for the change of what it would say, which is not known
    before it is computed (Sutton and McCallum 2007; thesis 5.6). The residual is the most news that any group
    has left.
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


SCHEDULES: dict[str, Sweep] = {
    "flooding": flooding,
    "sequential": sequential,
    "residual": residual_priority,
}
