"""Expectation maximisation over any model that can say what it expects, watched for what must not happen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

Parameters = TypeVar("Parameters")
Counts = TypeVar("Counts")

# What sums of floats in another order may take off the objective, in proportion to it.
ROUNDING = 1e-9


class LikelihoodFellError(RuntimeError):
    """EM made the training objective worse, which it cannot: the E-step or the M-step is wrong."""


@dataclass(frozen=True, slots=True)
class EMRecord:
    """What one iteration saw, all in nats and under the parameters it started from.

    Attributes
    ----------
    iteration : int
        Counted from 1.
    log_likelihood : float
        Of the training data (of the best derivations, in Viterbi EM).
    objective : float
        ``log_likelihood`` plus the log prior: what never falls.
    held_out : float or None
        Log-likelihood of held-out data, where there are any.
    """

    iteration: int
    log_likelihood: float
    objective: float
    held_out: float | None


@dataclass(frozen=True, slots=True)
class EMResult(Generic[Parameters]):
    """Where EM came out.

    Attributes
    ----------
    parameters
        Those that held-out data like best; without held-out data the last ones.
    records : tuple of EMRecord
        One for each iteration.
    converged : bool
        False when the iterations ran out first.
    """

    parameters: Parameters
    records: tuple[EMRecord, ...]
    converged: bool


def run_em(
    parameters: Parameters,
    *,
    e_step: Callable[[Parameters], tuple[Counts, float]],
    m_step: Callable[[Counts], Parameters],
    log_prior: Callable[[Parameters], float] = lambda _: 0.0,
    held_out: Callable[[Parameters], float] | None = None,
    iterations: int = 100,
    tolerance: float = 1e-4,
    after_iteration: Callable[[EMRecord, Parameters], None] = lambda _record, _parameters: None,
) -> EMResult[Parameters]:
    """Alternate E-steps and M-steps until the gain is small or the iterations are used up.

    Parameters
    ----------
    parameters
        Where to start.
    e_step : callable
        Gives expected counts and log-likelihood.
    m_step : callable
        Gives the parameters that maximise the expected log-likelihood plus ``log_prior``.
    log_prior : callable
        The log of the prior density, up to a constant, where the M-step smooths: a Dirichlet's is
        the sum of what is added to each count times the log of its parameter.
    held_out : callable, optional
        Log-likelihood of data that are not trained on. With it, EM stops when that gains less than
        ``tolerance``; without, when the objective does.
    iterations : int
        At most so many.
    tolerance : float
        Gain, relative to the absolute value of what is watched, below which EM has converged.
    after_iteration : callable
        Called with the record of each iteration and the parameters after it.

    Raises
    ------
    LikelihoodFellError
        When the objective falls by more than rounding can explain.

    *Source*: Dempster, Laird and Rubin 1977; stopping on held-out data as in thesis 4.6.3.2.
    """
    records: list[EMRecord] = []
    best, best_held_out = parameters, -np.inf
    watched_before = -np.inf
    for iteration in range(1, iterations + 1):
        counts, log_likelihood = e_step(parameters)
        record = EMRecord(
            iteration,
            log_likelihood,
            log_likelihood + log_prior(parameters),
            held_out(parameters) if held_out else None,
        )
        if records:
            _check_rise(records[-1], record)
        records.append(record)
        if record.held_out is not None and record.held_out > best_held_out:
            best, best_held_out = parameters, record.held_out
        watched = record.objective if record.held_out is None else record.held_out
        if watched - watched_before <= tolerance * abs(watched):
            return EMResult(best if held_out else parameters, tuple(records), True)
        watched_before = watched
        parameters = m_step(counts)
        after_iteration(record, parameters)
    if held_out is not None and held_out(parameters) <= best_held_out:
        parameters = best
    return EMResult(parameters, tuple(records), False)


def _check_rise(before: EMRecord, now: EMRecord) -> None:
    """Raise unless the objective rose, or fell by rounding only."""
    fall = before.objective - now.objective
    if not fall <= ROUNDING * abs(now.objective):
        raise LikelihoodFellError(
            f"iteration {now.iteration}: the objective fell from {before.objective!r} to {now.objective!r}"
        )
