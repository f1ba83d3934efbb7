"""Belief propagation: pass messages until they settle (thesis 2.3, algorithm 2.1).

Nothing here knows one factor from another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from qsproj.bp.beliefs import Beliefs
from qsproj.bp.graph import FactorGraph
from qsproj.bp.group import Messages
from qsproj.bp.messages import MessageState
from qsproj.bp.schedules import SCHEDULES
from qsproj.bp.status import Monitor, Status
from qsproj.errors import UsageError, unknown_name


def run(
    graph: FactorGraph,
    *,
    schedule: str = "flooding",
    max_iterations: int = 100,
    damping: float = 0.0,
    tolerance: float = 1e-6,
    maximise: bool = False,
    temperatures: Sequence[float] = (1.0,),
    start: Sequence[Messages] | None = None,
) -> Beliefs:
    """Pass messages along the edges of a factor graph.

    Parameters
    ----------
    graph : FactorGraph
        Not changed.
    schedule : {"flooding", "sequential", "residual"}
        Flooding: all factors answer the same messages, then all variables do (as in the thesis).
        Sequential: groups in their order, each hearing the newest messages. Residual: always the group whose
        incoming messages have changed most; an iteration is as many updates as there are groups.
    max_iterations : int
        At least 1.
    damping : float
        How far a new message is held back at its predecessor, on the log-ratio scale, 0 <= damping < 1.
    tolerance : float
        Messages have settled when none changes by more than this (log-ratios).
    maximise : bool
        Max-product instead of sum-product: beliefs are then max-marginals.
    temperatures : sequence of float
        Deterministic annealing (thesis 2.6): iteration i runs with every factor to the power
        1 / temperatures[i]; the last one stays. Only there can messages settle.
    start : sequence of float64[M], optional
        What the groups are taken to have said before, such as the ``outgoing`` messages of a run over a
        similar graph; 0 stands for nothing, which is also what they say by default.

    Returns
    -------
    Beliefs
        With a status: it never raises because messages do not settle or factors contradict each other.

    Raises
    ------
    UsageError
        When an option is out of range, or ``start`` does not fit the groups.

    Notes
    -----
    Exact on acyclic graphs, once the number of iterations reaches their diameter.
    """
    _check_options(schedule, max_iterations, damping, temperatures)
    _check_start(graph, start)
    state = MessageState(graph, damping=damping, maximise=maximise, start=start)
    sweep = SCHEDULES[schedule]
    monitor = Monitor(tolerance)
    tempered = graph
    for iteration in range(max_iterations):
        if iteration < len(temperatures):
            tempered = _at_temperature(graph, temperatures[iteration])
            state.use(tempered.groups)
        residual = sweep(state, tolerance)
        monitor.record(residual, state.finite, final=iteration + 1 >= len(temperatures))
        if state.contradiction or monitor.converged:
            break
    status = Status.CONTRADICTION if state.contradiction else monitor.status()
    return Beliefs(
        graph=tempered,
        status=status,
        residuals=np.array(monitor.residuals),
        log_ratios=state.log_ratios(),
        incoming=state.all_incoming(),
        outgoing=tuple(state.outgoing),
        maximised=maximise,
    )


def _at_temperature(graph: FactorGraph, temperature: float) -> FactorGraph:
    """Return the graph with every factor to the power 1 / ``temperature``."""
    if temperature == 1.0:
        return graph
    return replace(graph, groups=tuple(group.tempered(temperature) for group in graph.groups))


def _check_options(schedule: str, max_iterations: int, damping: float, temperatures: Sequence[float]) -> None:
    """Raise UsageError for an option out of range."""
    if schedule not in SCHEDULES:
        raise unknown_name("schedule", schedule, list(SCHEDULES))
    if max_iterations < 1:
        raise UsageError(f"max_iterations is {max_iterations}, expected at least 1")
    if not 0.0 <= damping < 1.0:
        raise UsageError(f"damping is {damping}, expected 0 <= damping < 1")
    if not temperatures or not all(0.0 < temperature < np.inf for temperature in temperatures):
        raise UsageError(f"temperatures are {list(temperatures)}, expected one or more positive numbers")


def _check_start(graph: FactorGraph, start: Sequence[Messages] | None) -> None:
    """Raise UsageError unless there is a message to start from for every edge of every group, none NaN."""
    if start is None:
        return
    sizes, expected = [messages.size for messages in start], [slots.size for slots in graph.slots]
    if sizes != expected:
        raise UsageError(f"messages to start from are {sizes} for the groups, expected {expected}")
    if any(np.isnan(messages).any() for messages in start):
        raise UsageError("a message to start from is NaN, expected the messages of a run that went well")
