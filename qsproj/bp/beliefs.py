"""What belief propagation found: beliefs of variables and factors, Bethe log Z and its gradient; log-odds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.graph import FactorGraph
from qsproj.bp.group import Messages
from qsproj.bp.status import Status
from qsproj.errors import UsageError
from qsproj.kernels.bp.bp_messages import expected_messages, state_probabilities, variable_entropies


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Beliefs:
    """The end of a run.

    ``graph`` is at the last temperature; ``str(status)`` says what to do about how it ended. ``residuals``
    float64[iterations]: largest change of a message (log-ratios) in each; inf where one became infinite.
    ``log_ratios`` float64[S]: natural-log ratios of each state of a variable against state 0, variable after
    variable as ``graph.starts`` says; may be infinite. ``incoming``, ``outgoing`` tuples of float64[M]: each
    group's last messages from the variables, which with the factors are the factors' beliefs, and to them,
    which another run can start from. ``maximised``: after max-product, ratios are of max-marginals.
    """

    graph: FactorGraph
    status: Status
    residuals: NDArray[np.float64]
    log_ratios: NDArray[np.float64]
    incoming: tuple[Messages, ...]
    outgoing: tuple[Messages, ...]
    maximised: bool

    def __post_init__(self) -> None:
        for array in (self.residuals, self.log_ratios, *self.incoming, *self.outgoing):
            array.flags.writeable = False


def log_odds(beliefs: Beliefs, variables: ArrayLike) -> NDArray[np.float64]:
    """Return the log-odds that each of these booleans is true, in the shape of ``variables``."""
    ids = np.asarray(variables, dtype=np.int64)
    return beliefs.log_ratios[beliefs.graph.starts[ids]]


def probabilities(beliefs: Beliefs, variable: int) -> NDArray[np.float64]:
    """Return the belief about one variable, float64[K]; after max-product, of max-marginals."""
    starts = beliefs.graph.starts[variable : variable + 2]
    ratios = beliefs.log_ratios[starts[0] : starts[1]]
    return np.asarray(state_probabilities(ratios, starts - starts[0]))


def assignment(beliefs: Beliefs) -> NDArray[np.int32]:
    """Return the favourite state of each variable, int32[V], of equal ones the lowest.

    After max-product on an acyclic graph it is the best assignment, if that is unique.
    """
    graph = beliefs.graph
    chances = state_probabilities(beliefs.log_ratios, graph.starts)
    begins = graph.starts[:-1] + np.arange(graph.states.size)
    return np.array([np.argmax(chances[a : a + k]) for a, k in zip(begins, graph.states)], dtype=np.int32)


def factor_expectations(beliefs: Beliefs) -> tuple[NDArray[np.float64], ...]:
    """Return the gradient of Bethe log Z by the scores of every group, in their shapes (thesis eq. 2.18).

    Exact on acyclic graphs, and at a fixed point the exact gradient of :func:`bethe_log_z`. With temperature
    T, the derivative is by scores / T.
    """
    _require_sums(beliefs, "expectations")
    return tuple(group.expected(incoming) for group, incoming in zip(beliefs.graph.groups, beliefs.incoming))


def bethe_log_z(beliefs: Beliefs) -> float:
    """Return minus the Bethe free energy (thesis eq. 2.19): log Z, exact on acyclic graphs; no bound.

    -inf after a contradiction. Each factor's entropy and expected score come from its exact log partition and
    the expectation of its incoming messages; so the entropy of a tree factor is exact, in O(n^3).
    """
    _require_sums(beliefs, "log Z")
    if beliefs.status is Status.CONTRADICTION:
        return -np.inf
    graph = beliefs.graph
    degrees = np.zeros(graph.states.size)
    log_z = 0.0
    for group, incoming, starts in zip(graph.groups, beliefs.incoming, graph.edge_starts):
        degrees += np.bincount(group.edges, minlength=degrees.size)
        outgoing = group.propagate(incoming)
        log_z += group.log_partition(incoming) - expected_messages(incoming, outgoing, starts)
    chances = state_probabilities(beliefs.log_ratios, graph.starts)
    return float(log_z - (degrees - 1.0) @ variable_entropies(chances, graph.starts))


def _require_sums(beliefs: Beliefs, what: str) -> None:
    if beliefs.maximised:
        raise UsageError(
            f"max-product gives no {what}, expected beliefs of sum-product; run without maximise"
        )


Array = NDArray[np.float64]


def odds_of(chances: Array) -> Array:
    """Return the log-odds of probabilities 0..1, in the same shape; infinite at 0 and 1."""
    with np.errstate(divide="ignore"):
        odds: Array = np.log(chances) - np.log1p(-np.minimum(chances, 1.0))
    return odds


def probability(log_odds: Array) -> Array:
    """Return the probabilities of log-odds, in the same shape; infinite ones are legal."""
    chances: Array = np.exp(-np.logaddexp(0.0, -log_odds))
    return chances
