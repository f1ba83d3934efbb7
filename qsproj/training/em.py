"""Expectation maximisation for any model with expected counts; checks that the objective never falls."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from qsproj.errors import pluralise

Parameters = TypeVar("Parameters")
Counts = TypeVar("Counts")

# Relative decrease of the objective that rounding may cause.
ROUNDING = 1e-9


class LikelihoodFellError(RuntimeError):
    """EM lowered the training objective, so the E-step or the M-step is wrong."""


@dataclass(frozen=True, slots=True)
class EMRecord:
    """One iteration, counted from 1, in nats and under its initial parameters; ``objective`` never falls."""

    iteration: int
    log_likelihood: float
    objective: float
    held_out: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EMReport:
    """A summary of EM; ``log_likelihood``, in nats, is that of the resulting parameters."""

    iterations: tuple[EMRecord, ...]
    log_likelihood: float | None
    converged: bool

    def ending(self) -> tuple[str, ...]:
        if not self.iterations:
            return ()
        return (
            f"{'converged' if self.converged else 'stopped'} after "
            f"{pluralise(len(self.iterations), 'iteration')} of EM: "
            f"log-likelihood from {self.iterations[0].log_likelihood:.1f} to {self.log_likelihood:.1f}",
        )


@dataclass(frozen=True, slots=True)
class EMState(Generic[Parameters]):
    """The state that EM resumes from, or its result; ``best``: by held-out data, else the initial ones."""

    parameters: Parameters
    best: Parameters
    records: tuple[EMRecord, ...]
    converged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EMProblem(Generic[Parameters, Counts]):
    """A model and its data, as functions of the parameters.

    ``m_step`` returns the parameters that maximise the expected log-likelihood plus ``log_prior``, the log
    prior density up to a constant: for a Dirichlet, the sum of each pseudo-count times the log of its
    parameter. ``held_out``: log-likelihood of held-out data. With it, EM stops when this gains no more than
    the share ``tolerance``; without, when the objective does. ``iterations``: at most, with those of an
    earlier run.
    """

    iterations: int
    tolerance: float
    e_step: Callable[[Parameters], tuple[Counts, float]]
    m_step: Callable[[Counts], Parameters]
    log_prior: Callable[[Parameters], float] = lambda _: 0.0
    held_out: Callable[[Parameters], float] | None = None


def run_em(
    parameters: Parameters,
    problem: EMProblem[Parameters, Counts],
    *,
    resume: EMState[Parameters] | None = None,
    after_iteration: Callable[[EMState[Parameters]], None] = lambda _: None,
) -> EMState[Parameters]:
    """Alternate E-steps and M-steps until the gain is small or the iterations are used up.

    Starts from ``parameters``, or from ``resume``, the state of an earlier run: the result equals that of an
    uninterrupted run. Returns the best parameters on held-out data, or without it the last ones. Raises
    LikelihoodFellError when the objective falls by more than rounding explains.

    *Source*: Dempster, Laird and Rubin 1977; stopping on held-out data as in thesis 4.6.3.2.
    """
    state = resume or EMState(parameters, parameters, ())
    held_out = problem.held_out
    while len(state.records) < problem.iterations:
        counts, log_likelihood = problem.e_step(state.parameters)
        record = EMRecord(
            len(state.records) + 1,
            log_likelihood,
            log_likelihood + problem.log_prior(state.parameters),
            held_out(state.parameters) if held_out else None,
        )
        before = state.records
        if before and not before[-1].objective - record.objective <= ROUNDING * abs(record.objective):
            raise LikelihoodFellError(
                f"iteration {record.iteration}: the objective fell from {before[-1].objective!r} to "
                f"{record.objective!r}"
            )
        improves = record.held_out is not None and record.held_out > _best_held_out(before)
        best = state.parameters if improves else state.best
        records = (*before, record)
        if before and _watched(record) - _watched(before[-1]) <= problem.tolerance * abs(_watched(record)):
            return EMState(best if held_out else state.parameters, best, records, converged=True)
        state = EMState(problem.m_step(counts), best, records)
        after_iteration(state)
    if held_out is not None and held_out(state.parameters) <= _best_held_out(state.records):
        return replace(state, parameters=state.best)
    return state


def reached(result: EMState[Parameters], problem: EMProblem[Parameters, Counts]) -> float:
    if result.converged and problem.held_out is None:
        return result.records[-1].log_likelihood
    return problem.e_step(result.parameters)[1]


def _watched(record: EMRecord) -> float:
    return record.objective if record.held_out is None else record.held_out


def _best_held_out(records: tuple[EMRecord, ...]) -> float:
    return max((record.held_out for record in records if record.held_out is not None), default=-np.inf)
