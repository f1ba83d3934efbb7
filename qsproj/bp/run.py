"""Belief propagation: pass messages until they settle (thesis 2.3, algorithm 2.1).

Nothing here knows one factor from another.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from qsproj.bp.beliefs import Beliefs
from qsproj.bp.graph import FactorGraph
from qsproj.bp.group import Messages
from qsproj.bp.messages import MessageState
from qsproj.bp.options import SCHEDULES, Passing
from qsproj.bp.status import Monitor, Status
from qsproj.errors import UsageError

# Flooding, undamped, at one temperature.
AS_IN_THE_THESIS = Passing()


def run(
    graph: FactorGraph,
    passing: Passing = AS_IN_THE_THESIS,
    *,
    maximise: bool = False,
    start: Sequence[Messages] | None = None,
) -> Beliefs:
    """Pass messages along the edges of a factor graph, which is not changed.

    ``maximise``: max-product, so that beliefs are max-marginals. ``start``: what the groups are taken to have
    said before, such as the ``outgoing`` messages of a run over a similar graph; by default 0, which stands
    for nothing. Never raises because messages do not settle or factors contradict each other: that is the
    status. Raises UsageError when ``start`` does not fit the groups. Exact on acyclic graphs, once the number
    of iterations reaches their diameter.
    """
    _check_start(graph, start)
    state = MessageState(graph, damping=passing.damping, maximise=maximise, start=start)
    sweep = SCHEDULES[passing.schedule]
    monitor = Monitor(passing.tolerance)
    tempered = graph
    for iteration in range(passing.max_iterations):
        if iteration < len(passing.temperatures):
            tempered = _at_temperature(graph, passing.temperatures[iteration])
            state.use(tempered.groups)
        residual = sweep(state, passing.tolerance)
        monitor.record(residual, state.finite, final=iteration + 1 >= len(passing.temperatures))
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
    if temperature == 1.0:
        return graph
    return replace(graph, groups=tuple(group.tempered(temperature) for group in graph.groups))


def _check_start(graph: FactorGraph, start: Sequence[Messages] | None) -> None:
    if start is None:
        return
    sizes, expected = [messages.size for messages in start], [slots.size for slots in graph.slots]
    if sizes != expected:
        raise UsageError(f"messages to start from are {sizes} for the groups, expected {expected}")
    if any(np.isnan(messages).any() for messages in start):
        raise UsageError("a message to start from is NaN, expected the messages of a run that went well")
