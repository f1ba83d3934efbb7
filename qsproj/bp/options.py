"""How messages are passed: options of belief propagation, checked when they are made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qsproj.bp.schedules import SCHEDULES
from qsproj.errors import UsageError, unknown_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """In which order, how long and how carefully messages are passed.

    ``schedule``: ``flooding``, all factors answer the same messages, then all variables do (as in the
        thesis); ``sequential``, groups in their order, each hearing the newest messages; ``residual``, always
        the group whose incoming messages have changed most, as often as there are groups.
    ``max_iterations``: at least 1.
    ``damping``: how far a new message is held back at its predecessor, on the log-ratio scale, below 1.
    ``tolerance``: messages have settled when none changes by more than this (log-ratios).
    ``temperatures``: deterministic annealing (thesis 2.6): iteration i runs with every factor to the power
        1 / temperatures[i]; the last one stays. Only there can messages settle.
    """

    schedule: str = "flooding"
    max_iterations: int = 100
    damping: float = 0.0
    tolerance: float = 1e-6
    temperatures: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise unknown_name("schedule", self.schedule, list(SCHEDULES))
        if self.max_iterations < 1:
            raise UsageError(f"max_iterations is {self.max_iterations}, expected at least 1")
        if not 0.0 <= self.damping < 1.0:
            raise UsageError(f"damping is {self.damping}, expected 0 <= damping < 1")
        if not self.temperatures or not all(0.0 < one < np.inf for one in self.temperatures):
            raise UsageError(
                f"temperatures are {list(self.temperatures)}, expected one or more positive numbers"
            )
