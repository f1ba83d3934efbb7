"""How a run of belief propagation ended."""

from enum import Enum

import numpy as np
from numpy.typing import NDArray

REVERSALS = 4
STANDSTILL = 0.5


class Status(Enum):
    """How a run ended; ``str()`` says what it means and what can be done."""

    CONVERGED = "messages have settled"
    LIMIT = (
        "messages still change at the limit of iterations; allow more of them, or use the beliefs as they are"
    )
    OSCILLATING = (
        "messages swing back and forth and do not settle; use damping (0.5 is usual), another schedule or "
        "falling temperatures"
    )
    CONTRADICTION = (
        "hard factors contradict each other or what is known: no assignment is possible, and beliefs mean "
        "nothing; drop a hard factor or allow more states"
    )

    def __str__(self) -> str:
        return self.value


class Monitor:
    """Watches residuals, each the largest change of a message in an iteration, and beliefs."""

    def __init__(self, tolerance: float) -> None:
        self.residuals: list[float] = []
        self.converged = False
        self._tolerance = tolerance
        self._beliefs: NDArray[np.float64] | None = None
        self._step: NDArray[np.float64] | None = None
        self._reversals = 0

    def record(self, residual: float, beliefs: NDArray[np.float64], *, final: bool) -> None:
        """Note one iteration; ``final`` says that the temperature will not change any more."""
        self.residuals.append(residual)
        self.converged = final and residual <= self._tolerance
        if self._beliefs is not None:
            step = beliefs - self._beliefs
            if self._step is not None:
                self._reversals = self._reversals + 1 if step @ self._step < 0.0 else 0
            self._step = step
        self._beliefs = beliefs.copy()

    def status(self) -> Status:
        """Return the status at the end: oscillating if the last steps undid each other and did not fade."""
        if self.converged:
            return Status.CONVERGED
        if self._reversals >= REVERSALS and self.residuals[-1] > STANDSTILL * self.residuals[-1 - REVERSALS]:
            return Status.OSCILLATING
        return Status.LIMIT
