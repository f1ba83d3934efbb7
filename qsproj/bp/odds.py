"""Probabilities of booleans as log-odds, and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def odds_of(chances: Array) -> Array:
    """Return the log-odds of probabilities 0..1, natural log, in the same shape; infinite at 0 and 1."""
    with np.errstate(divide="ignore"):
        odds: Array = np.log(chances) - np.log1p(-np.minimum(chances, 1.0))
    return odds


def probability(log_odds: Array) -> Array:
    """Return probabilities of log-odds, in the same shape; infinite ones are legal."""
    chances: Array = np.exp(-np.logaddexp(0.0, -log_odds))
    return chances
