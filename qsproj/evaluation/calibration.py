"""How well probabilities keep what they promise: of the arcs said to be right with 0.8, 80% should be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

BINS = 10


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The predictions whose confidence lies in one range.

    Attributes
    ----------
    low, high : float
        The range; ``high`` belongs to it only in the last bin.
    count : int
    confidence, accuracy : float
        Mean probability, and share that was right; NaN in an empty bin.
    """

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


def reliability(confidences: ArrayLike, right: ArrayLike, *, bins: int = BINS) -> tuple[ReliabilityBin, ...]:
    """Sort predictions into bins of equal width by their confidence.

    Parameters
    ----------
    confidences : float[k]
        Probability of each prediction, 0..1.
    right : bool[k]
        Whether it was right.

    Raises
    ------
    ValueError
        When shapes differ or a confidence is no probability.
    """
    probabilities = np.asarray(confidences, dtype=np.float64)
    outcomes = np.asarray(right, dtype=np.bool_)
    if probabilities.shape != outcomes.shape or probabilities.ndim != 1:
        raise ValueError(f"{probabilities.shape} confidences for {outcomes.shape} outcomes")
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise ValueError("a confidence is outside 0..1, expected probabilities")
    places = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    counts = np.bincount(places, minlength=bins)
    with np.errstate(invalid="ignore"):
        means = np.bincount(places, probabilities, minlength=bins) / counts
        accuracies = np.bincount(places, outcomes, minlength=bins) / counts
    return tuple(
        ReliabilityBin(k / bins, (k + 1) / bins, int(counts[k]), float(means[k]), float(accuracies[k]))
        for k in range(bins)
    )


def expected_calibration_error(table: Sequence[ReliabilityBin]) -> float:
    """Return the mean gap between confidence and accuracy over all predictions, 0..1; NaN without any.

    *Source*: Naeini, Cooper and Hauskrecht 2015, Obtaining well calibrated probabilities; Guo et al. 2017.
    """
    total = sum(row.count for row in table)
    if not total:
        return float("nan")
    return sum(row.count * abs(row.confidence - row.accuracy) for row in table if row.count) / total
