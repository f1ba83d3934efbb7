"""How unlike two languages are, from counts of trigrams."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

BOUNDARY = 0


def trigram_counts(sequences: Iterable[NDArray[np.int64]], kinds: int) -> NDArray[np.int64]:
    """Count the trigrams around each symbol of some sequences.

    Parameters
    ----------
    sequences : iterable of int64[n]
        Symbols 1..kinds; BOUNDARY stands before and after each sequence.
    kinds : int

    Returns
    -------
    int64[kinds + 1, kinds + 1, kinds + 1]
        [left, symbol, right].
    """
    counts = np.zeros((kinds + 1,) * 3, dtype=np.int64)
    for symbols in sequences:
        bounded = np.concatenate(([BOUNDARY], symbols, [BOUNDARY]))
        np.add.at(counts, (bounded[:-2], bounded[1:-1], bounded[2:]), 1)
    return counts


def divergence(target: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Return the Kullback-Leibler divergence of two trigram distributions, in nats.

    Parameters
    ----------
    target, other : int64[...]
        Counts of the same shape, neither all zero. What ``target`` has and ``other`` lacks counts as
        seen once there.

    Returns
    -------
    float
        0 for equal distributions; high where the target says what the other never says.

    *Source*: KLcpos3 (Rosa and Zabokrtsky 2015).
    """
    seen = target > 0
    p = target[seen] / target.sum()
    smoothed = np.maximum(other[seen], 1)
    q = smoothed / max(int(other.sum()), 1)
    return float((p * np.log(p / q)).sum())


def similarity_weights(divergences: NDArray[np.float64], *, power: float = 2.0) -> NDArray[np.float64]:
    """Return (least / each) ** power of positive divergences: 1 for the most alike, less for the others.

    Values under 1e-6 count as that, so that copies of the target weigh 1 and nothing is divided by zero.
    """
    bounded = np.maximum(divergences, 1e-6)
    weights: NDArray[np.float64] = (bounded.min() / bounded) ** power
    return weights
