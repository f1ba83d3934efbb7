"""Belief propagation: pass messages until they converge and return beliefs (thesis 2.3, algorithm 2.1).

A schedule runs one iteration on a :class:`MessageState` and returns its residual, the largest change of a
message; it stops early at a contradiction. This module does not depend on the kinds of factors.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from qsproj.bp.graph import FactorGraph, FactorGroup, Messages, rescored
from qsproj.conventions import Floats, Numbers, starts_of
from qsproj.errors import UsageError, check_name
from qsproj.kernels.bp import bp_messages


class MessageState:
    """All messages between the variables and the groups of a graph, as updated by schedules.

    ``finite`` float64[S]: sum of the finite messages at every slot. ``outgoing``: the latest messages of each
    group. ``contradiction``: some factor or variable has no possible state left; messages stay fixed.
    """

    def __init__(self, graph: FactorGraph, *, damping: float, maximise: bool) -> None:
        n_groups, n_slots = len(graph.groups), int(graph.starts[-1])
        self.contradiction = False
        self.finite = np.zeros(n_slots)
        self._infinite = np.zeros(n_slots, dtype=np.int32)
        self._slots = graph.slots
        self._damping = damping
        self._maximise = maximise
        # Each group's sums are stored separately and totals are recomputed, to avoid accumulating rounding.
        self._finite_by_group = np.zeros((n_groups, n_slots))
        self._infinite_by_group = np.zeros((n_groups, n_slots), dtype=np.int32)
        self.outgoing = [np.zeros(slots.size) for slots in graph.slots]
        self.use(graph.groups)

    def use(self, groups: Sequence[FactorGroup]) -> None:
        self.groups = groups
        self._heard: list[Messages | None] = [None] * len(groups)

    def incoming(self, index: int) -> Messages:
        """Return the messages of the variables to group ``index`` (thesis eq. 2.7), read-only."""
        messages = np.empty(self._slots[index].size)
        bp_messages.leave_out(self.finite, self._infinite, self._slots[index], self.outgoing[index], messages)
        messages.flags.writeable = False
        return messages

    def news(self, index: int, incoming: Messages) -> float:
        """Return the largest change of ``incoming`` since the group's last update; inf before the first."""
        heard = self._heard[index]
        if heard is None:
            return np.inf
        return bp_messages.largest_change(heard, incoming) if self.groups[index].needs_incoming else 0.0

    def answer(self, index: int, incoming: Messages) -> float:
        needs_incoming = self.groups[index].needs_incoming
        if self._heard[index] is not None and not needs_incoming:
            proposed = self.outgoing[index].copy()
        else:
            proposed = self.groups[index].propagate(incoming, maximise=self._maximise)
        self._heard[index] = incoming
        # Constant messages are sent once, so damping would make them wrong for good.
        damping = self._damping if needs_incoming else 0.0
        outgoing = self.outgoing[index]
        residual, contradiction = bp_messages.replace_messages(incoming, proposed, outgoing, damping)
        self.contradiction = self.contradiction or bool(contradiction)
        return float(residual)

    def publish(self, indices: Sequence[int]) -> None:
        sums = self._finite_by_group, self._infinite_by_group, self.finite, self._infinite
        for index in indices:
            bp_messages.publish(self.outgoing[index], self._slots[index], index, *sums)

    def log_ratios(self) -> Floats:
        """Return the beliefs, float64[S]: log-ratios against state 0 (thesis eq. 2.9)."""
        beliefs = self.finite.copy()
        beliefs[self._infinite > 0] = np.inf
        beliefs[self._infinite < 0] = -np.inf
        return beliefs


@dataclass(frozen=True, slots=True, kw_only=True)
class BPOptions:
    """Schedule, number of iterations, damping and annealing of message passing.

    ``schedule``: ``flooding``, all factors are updated from the same messages, then all variables (as in the
    thesis); ``sequential``, groups in their order, each from the newest messages; ``residual``, always the
    group whose incoming messages have changed most, one update per group and iteration. ``damping``, below 1:
    weight of the previous message in a new one, on the log-ratio scale. ``tolerance``: messages have
    converged when none changes by more (log-ratios). ``temperatures``: deterministic annealing (thesis 2.6):
    iteration i runs with every factor to the power 1 / temperatures[i]; messages converge only at the last.
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
            found = list(self.temperatures)
            raise UsageError(f"temperatures are {found}, expected one or more positive numbers")


def in_batches(state: MessageState, batches: Iterable[Sequence[int]]) -> float:
    """Update the groups of each batch from the same messages; return the residual."""
    residual = 0.0
    for batch in batches:
        for index in batch:
            residual = max(residual, state.answer(index, state.incoming(index)))
            if state.contradiction:
                return np.inf
        state.publish(batch)
    return residual


def residual_priority(state: MessageState, tolerance: float) -> float:
    """Update the group of the largest change of input; return the rest (thesis 5.6)."""
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
        state.publish([loudest])
    return max(state.news(index, state.incoming(index)) for index in indices)


SCHEDULES: dict[str, Callable[[MessageState, float], float]] = {
    "flooding": lambda state, _: in_batches(state, [range(len(state.groups))]),
    "sequential": lambda state, _: in_batches(state, ([index] for index in range(len(state.groups)))),
    "residual": residual_priority,
}

# Messages oscillate if this many steps in a row reverse the one before, and shrink by less than half.
REVERSALS, STANDSTILL = 4, 0.5


class Status(Enum):
    """The outcome of a run; ``str()`` explains it and suggests a remedy."""

    CONVERGED = "messages have settled"
    LIMIT = "messages still change at the limit of iterations; allow more of them, or use these beliefs"
    OSCILLATING = (
        "messages oscillate and do not converge; use damping (0.5 is usual), another schedule or "
        "falling temperatures"
    )
    CONTRADICTION = (
        "hard factors contradict each other or the evidence: no assignment is possible, and beliefs are "
        "meaningless; drop a hard factor or allow more states"
    )

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Beliefs:
    """The result of a run.

    ``graph`` is at the last temperature; ``str(status)`` explains the outcome and suggests a remedy.
    ``residuals`` float64[iterations]: largest change of a message (log-ratios) in each; inf where one became
    infinite. ``log_ratios`` float64[S]: natural-log ratios of each state of a variable against state 0, laid
    out by ``graph.starts``; may be infinite. ``incoming`` tuple of float64[M]: each group's last messages
    from the variables, which with the factors define the factors' beliefs. ``maximised``: after max-product,
    ratios are of max-marginals.
    """

    graph: FactorGraph
    status: Status
    residuals: Floats
    log_ratios: Floats
    incoming: tuple[Messages, ...]
    maximised: bool

    def __post_init__(self) -> None:
        for array in (self.residuals, self.log_ratios, *self.incoming):
            array.flags.writeable = False


def log_odds(beliefs: Beliefs, variables: ArrayLike) -> Floats:
    """Return the log-odds that each of these booleans is true, in the shape of ``variables``."""
    return beliefs.log_ratios[beliefs.graph.starts[np.asarray(variables, dtype=np.int64)]]


def probabilities(beliefs: Beliefs, variable: int) -> Floats:
    """Return the belief about one variable, float64[K]; after max-product, of max-marginals."""
    starts = beliefs.graph.starts[variable : variable + 2]
    ratios = beliefs.log_ratios[starts[0] : starts[1]]
    return np.asarray(bp_messages.state_probabilities(ratios, starts - starts[0]))


def assignment(beliefs: Beliefs) -> Numbers:
    """Return the most probable state of each variable, int32[V], the lowest of equal ones."""
    graph = beliefs.graph
    chances = bp_messages.state_probabilities(beliefs.log_ratios, graph.starts)
    begins = graph.starts[:-1] + np.arange(graph.states.size)
    return np.array([np.argmax(chances[a : a + k]) for a, k in zip(begins, graph.states)], dtype=np.int32)


def factor_expectations(beliefs: Beliefs) -> tuple[Floats, ...]:
    """Return the gradient of Bethe log Z by the scores of every group, in their shapes (thesis eq. 2.18)."""
    _require_sums(beliefs, "expectations")
    return tuple(group.expected(incoming) for group, incoming in zip(beliefs.graph.groups, beliefs.incoming))


def bethe_log_z(beliefs: Beliefs) -> float:
    """Return minus the Bethe free energy (thesis eq. 2.19), -inf after a contradiction; no bound.

    The entropy of a tree factor is exact, in O(n^3).
    """
    _require_sums(beliefs, "log Z")
    if beliefs.status is Status.CONTRADICTION:
        return -np.inf
    graph = beliefs.graph
    degrees = np.zeros(graph.states.size)
    log_z = 0.0
    for group, incoming in zip(graph.groups, beliefs.incoming):
        degrees += np.bincount(group.edges, minlength=degrees.size)
        outgoing, starts = group.propagate(incoming), starts_of(group.edge_states - 1)
        log_z += group.log_partition(incoming) - bp_messages.expected_messages(incoming, outgoing, starts)
    chances = bp_messages.state_probabilities(beliefs.log_ratios, graph.starts)
    return float(log_z - (degrees - 1.0) @ bp_messages.variable_entropies(chances, graph.starts))


def _require_sums(beliefs: Beliefs, what: str) -> None:
    if beliefs.maximised:
        remedy = "run without maximise"
        raise UsageError(f"max-product gives no {what}, expected beliefs of sum-product; {remedy}")


def odds_of(chances: Floats) -> Floats:
    """Return the log-odds of probabilities 0..1, in the same shape; infinite at 0 and 1."""
    with np.errstate(divide="ignore"):
        return np.log(chances) - np.log1p(-np.minimum(chances, 1.0))


def probability(log_odds: Floats) -> Floats:
    return np.exp(-np.logaddexp(0.0, -log_odds))


AS_IN_THE_THESIS = BPOptions()  # undamped flooding at one temperature


def run(graph: FactorGraph, passing: BPOptions = AS_IN_THE_THESIS, *, maximise: bool = False) -> Beliefs:
    """Pass messages along the edges of a factor graph, which is not changed.

    ``maximise``: max-product, so that beliefs are max-marginals. Non-convergence and contradictions are
    reported by the status and never raise. Exact on acyclic graphs, once the number of iterations reaches
    their diameter.
    """
    state = MessageState(graph, damping=passing.damping, maximise=maximise)
    sweep = SCHEDULES[passing.schedule]
    tempered, residuals, settled = graph, list[float](), False
    recent = deque[Floats](maxlen=REVERSALS + 2)
    for iteration in range(passing.max_iterations):
        if iteration < len(passing.temperatures):
            temperature = passing.temperatures[iteration]
            tempered = graph if temperature == 1.0 else replace(graph, groups=_tempered(graph, temperature))
            state.use(tempered.groups)
        residuals.append(sweep(state, passing.tolerance))
        recent.append(state.finite.copy())
        # The temperature must not change any more.
        settled = residuals[-1] <= passing.tolerance and iteration + 1 >= len(passing.temperatures)
        if state.contradiction or settled:
            break
    status = Status.CONTRADICTION if state.contradiction else Status.CONVERGED
    if not (state.contradiction or settled):
        status = Status.OSCILLATING if _oscillate(residuals, recent) else Status.LIMIT
    return Beliefs(
        graph=tempered,
        status=status,
        residuals=np.array(residuals),
        log_ratios=state.log_ratios(),
        incoming=tuple(map(state.incoming, range(len(graph.groups)))),
        maximised=maximise,
    )


def _oscillate(residuals: Sequence[float], recent: Sequence[Floats]) -> bool:
    """Return whether the last steps of the beliefs reverse each other and barely become smaller."""
    steps = [after - before for before, after in pairwise(recent)]
    reversals = sum(step @ before < 0.0 for before, step in pairwise(steps))
    return reversals == REVERSALS and residuals[-1] > STANDSTILL * residuals[-1 - REVERSALS]


def _tempered(graph: FactorGraph, temperature: float) -> tuple[FactorGroup, ...]:
    """Return the groups with every factor raised to the power 1 / ``temperature``; hard ones are the same."""
    groups = graph.groups
    return tuple(rescored(one, one.scores / temperature) if one.scores.size else one for one in groups)
