"""Factor graphs: variables, groups of like factors over them, and the interface of a group."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.conventions import Floats, Numbers, starts_of

Messages = Floats
Variables = Numbers


class Scored:
    """Declares the parameters of factors, which each group has at its own place among its fields."""

    scores: Floats


@dataclass(frozen=True, slots=True, eq=False)
class FactorGroup(Scored):
    """A family of like factors. Subclasses are frozen dataclasses and final.

    An *edge* joins one factor to one variable. Messages of a group are one flat float64 array: edge after
    edge, K - 1 natural-log ratios against state 0 for a variable of K states, so one log-odds for a boolean.
    Messages may be infinite: -inf rules a state out, and +inf, on one ratio of an edge at most, makes its
    state certain. A message that rules out state 0 but leaves several others gives these relative to the best
    of them, raised by 1e5 (``qsproj.kernels.bp.bp_arithmetic.CERTAIN``). Methods are pure.

    ``edges`` int32[E]: the variable of each edge. ``scores``: the parameters, natural log, -inf legal; empty
    where the factors have none. ``needs_incoming``: False where messages are constant and sent just once.
    ``messages``, ``beliefs``: kernels, static methods of a subclass that does not override their callers.
    Both take the incoming messages, then the fields of the subclass in their order, except ``edges``; a
    subclass with another layout overrides :meth:`given`. ``messages`` also takes ``maximise`` and returns the
    outgoing messages, in any shape; ``beliefs`` the results of :meth:`log_partition` and :meth:`expected`.
    """

    edges: Variables
    needs_incoming: ClassVar[bool] = True
    messages: ClassVar[Callable[..., Any]]
    beliefs: ClassVar[Callable[..., Any]]

    @property
    def edge_states(self) -> Numbers:
        """Required number of states of each edge's variable, int32[E]; 2 unless overridden."""
        return np.full(self.edges.size, 2, dtype=np.int32)

    def given(self, incoming: Messages) -> tuple[Any, ...]:
        kind: Any = type(self)
        return incoming, *(getattr(self, name) for name in _tables_of(kind))

    def propagate(self, incoming: Messages, *, maximise: bool = False) -> Messages:
        """Return the messages to the variables (thesis eq. 2.8; with maxima for sums if ``maximise``).

        A message is the log-ratio of the factor's belief (eq. 2.10) about its variable minus the incoming
        message. Where the incoming ratio is infinite it need only be consistent with it. NaN: the incoming
        messages leave the factor no possible assignment.
        """
        return self.messages(*self.given(incoming), maximise).reshape(-1)

    def log_partition(self, incoming: Messages) -> float:
        """Return the sum over factors of log sum over assignments of F times the incoming weights.

        State 0 has weight 1; after +inf, the states that it leaves have.
        """
        return float(self.beliefs(*self.given(incoming))[0])

    def expected(self, incoming: Messages) -> Floats:
        """Return the gradient of :meth:`log_partition` by ``scores``, of their shape; 0 at -inf.

        It is the probability, under the factor's belief, that each score is counted.
        """
        return np.asarray(self.beliefs(*self.given(incoming))[1])


@cache
def _tables_of(kind: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind) if one.init and one.name != "edges")


@dataclass(frozen=True, slots=True, eq=False)
class HardGroup(FactorGroup):
    """A family of factors without parameters, whose values are 0 or 1; ``beliefs`` is the log partition."""

    scores: Floats = field(init=False, repr=False, default_factory=lambda: np.zeros(0))

    def log_partition(self, incoming: Messages) -> float:
        return float(self.beliefs(*self.given(incoming)))

    def expected(self, incoming: Messages) -> Floats:
        return self.scores


def rescored(group: FactorGroup, scores: Floats, places: NDArray[np.int64] | None = None) -> FactorGroup:
    """Return the group with other natural-log scores: all, or float64[F] at flat ``places`` int64[F]."""
    if places is not None:
        laid_out = np.zeros(group.scores.shape)
        laid_out.reshape(-1)[places] = scores
        scores = laid_out
    return replace(cast(Any, group), scores=scores)


def checked_scores(scores: ArrayLike, shape: tuple[int, ...], name: str) -> Floats:
    """Return scores as C-contiguous float64 of this shape; ValueError with the position of NaN or +inf."""
    array = np.ascontiguousarray(scores, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"scores of {name} have shape {array.shape}, expected {shape}")
    bad = ~(array < np.inf)
    if bad.any():
        where = np.argwhere(bad)[0].tolist()
        why = "NaN often comes from weights that diverged in training: lower the learning rate"
        raise ValueError(f"score {where} of {name} is {array[tuple(where)]}, expected finite or -inf; {why}")
    return array


def checked_edges(variables: ArrayLike, name: str, *, degree: int | None = None) -> Variables:
    """Return variable ids, int[F, degree] or (None) flat, as flat C-contiguous int32, or raise ValueError."""
    array = np.ascontiguousarray(variables, dtype=np.int32)
    if degree is not None and (array.ndim != 2 or array.shape[1] != degree):
        raise ValueError(f"variables of {name} have shape {array.shape}, expected (factors, {degree})")
    if degree is None and array.ndim != 1:
        raise ValueError(f"variables of {name} have shape {array.shape}, expected (variables,)")
    return array.reshape(-1)


def check_empty_families(starts: NDArray[np.int64], scores_of_none: Floats, name: str) -> None:
    """Raise ValueError when a family without booleans, which sends nothing, scores -inf for none."""
    impossible = np.flatnonzero((starts[1:] == starts[:-1]) & (scores_of_none == -np.inf))
    if impossible.size:
        found = f"family {impossible[0]} of {name} has no boolean, and none true scores -inf"
        raise ValueError(f"{found}: no assignment is possible; allow more arcs or drop the factor")


@dataclass(frozen=True, slots=True, eq=False)
class FactorGraph:
    """A factor graph; made by :func:`factor_graph`.

    ``states`` int32[V]: number of states of each variable; a boolean has 2, and true is state 1. ``groups``:
    in the order of a sequential schedule. ``starts`` int64[V+1]: the log-ratios of variable v are in the
    slots ``starts[v]:starts[v + 1]``. ``slots`` int32[M] of each group: the slots of its messages' entries.
    """

    states: Numbers
    groups: tuple[FactorGroup, ...]
    starts: NDArray[np.int64]
    slots: tuple[Numbers, ...]


def factor_graph(states: ArrayLike, groups: Sequence[FactorGroup]) -> FactorGraph:
    """Join variables of ``states`` int[V] states each, at least 1, and groups of factors."""
    counts = np.array(states, dtype=np.int32)
    if counts.ndim != 1 or (counts < 1).any():
        raise ValueError("states must be a list of numbers of at least 1, one a variable")
    counts.flags.writeable = False
    starts = starts_of(counts - 1)
    slots = []
    for group in groups:
        _check_edges(group, counts)
        begins = starts_of(group.edge_states - 1)
        inside = np.arange(begins[-1]) - np.repeat(begins[:-1], np.diff(begins))
        slots.append((np.repeat(starts[group.edges], np.diff(begins)) + inside).astype(np.int32))
    return FactorGraph(counts, tuple(groups), starts, tuple(slots))


def _check_edges(group: FactorGroup, states: Numbers) -> None:
    name = type(group).__name__
    outside = group.edges[(group.edges < 0) | (group.edges >= states.size)]
    if outside.size:
        raise ValueError(f"{name} names variable {outside[0]}, expected 0..{states.size - 1}")
    wrong = np.flatnonzero(states[group.edges] != group.edge_states)
    if wrong.size:
        variable, expected = group.edges[wrong[0]], group.edge_states[wrong[0]]
        found = f"{expected} states of variable {variable}, which has {states[variable]}"
        raise ValueError(f"{name} expects {found}")
