"""Expectation maximisation for any model with expected counts; checks that the objective never falls."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from qsproj.errors import pluralise

Parameters = TypeVar("Parameters")
Counts = TypeVar("Counts")

ROUNDING = 1e-9  # relative decrease of the objective that rounding may cause


class LikelihoodFellError(RuntimeError):
    """EM lowered the training objective, so the E-step or the M-step is wrong."""


@dataclass(frozen=True, slots=True)
class EMRecord:
    """One iteration, counted from 1, in nats and under its initial parameters; ``objective`` never falls."""

    iteration: int
    log_likelihood: float
    objective: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EMReport:
    """A summary of EM; ``log_likelihood``, in nats, is that of the resulting parameters."""

    iterations: tuple[EMRecord, ...]
    log_likelihood: float | None
    converged: bool

    def ending(self) -> tuple[str, ...]:
        if not self.iterations:
            return ()
        how = "converged" if self.converged else "stopped"
        count = pluralise(len(self.iterations), "iteration")
        change = f"from {self.iterations[0].log_likelihood:.1f} to {self.log_likelihood:.1f}"
        return (f"{how} after {count} of EM: log-likelihood {change}",)


@dataclass(frozen=True, slots=True)
class EMState(Generic[Parameters]):
    """The state that EM resumes from, or its result."""

    parameters: Parameters
    records: tuple[EMRecord, ...]
    converged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EMProblem(Generic[Parameters, Counts]):
    """A model and its data, as functions of the parameters.

    ``m_step`` returns the parameters that maximise the expected log-likelihood plus ``log_prior``, the log
    prior density up to a constant: for a Dirichlet, the sum of each pseudo-count times the log of its
    parameter. EM stops when the objective gains no more than the share ``tolerance``. ``iterations``: at
    most, with those of an earlier run.
    """

    iterations: int
    tolerance: float
    e_step: Callable[[Parameters], tuple[Counts, float]]
    m_step: Callable[[Counts], Parameters]
    log_prior: Callable[[Parameters], float] = lambda _: 0.0


def run_em(
    parameters: Parameters,
    problem: EMProblem[Parameters, Counts],
    *,
    resume: EMState[Parameters] | None = None,
    after_iteration: Callable[[EMState[Parameters]], None] = lambda _: None,
) -> EMState[Parameters]:
    """Alternate E-steps and M-steps until the gain is small or the iterations are used up.

    Starts from ``parameters``, or from ``resume``, the state of an earlier run: the result equals that of an
    uninterrupted run. Raises LikelihoodFellError when the objective falls by more than rounding explains.
    *Source*: Dempster, Laird and Rubin 1977.
    """
    state = resume or EMState(parameters, ())
    while len(state.records) < problem.iterations:
        counts, log_likelihood = problem.e_step(state.parameters)
        before = state.records
        objective = log_likelihood + problem.log_prior(state.parameters)
        records = (*before, EMRecord(len(before) + 1, log_likelihood, objective))
        if before and not before[-1].objective - objective <= ROUNDING * abs(objective):
            raise LikelihoodFellError(
                f"iteration {len(records)}: the objective fell from {before[-1].objective!r} to {objective!r}"
            )
        if before and objective - before[-1].objective <= problem.tolerance * abs(objective):
            return EMState(state.parameters, records, converged=True)
        state = EMState(problem.m_step(counts), records)
        after_iteration(state)
    return state


def reached(result: EMState[Parameters], problem: EMProblem[Parameters, Counts]) -> float:
    return result.records[-1].log_likelihood if result.converged else problem.e_step(result.parameters)[1]
