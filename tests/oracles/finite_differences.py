"""Gradients by central differences: slow, obvious. Imports nothing of qsproj."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def gradient(function: Callable[[np.ndarray], float], point: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Return d function / d point, accurate to about step squared; entries that are not finite get 0."""
    result = np.zeros_like(point)
    for index in np.ndindex(point.shape):
        if not np.isfinite(point[index]):
            continue
        above, below = point.copy(), point.copy()
        above[index] += step
        below[index] -= step
        result[index] = (function(above) - function(below)) / (2.0 * step)
    return result
