"""Which arcs of a tree cross another: what rules a tree out of projective models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD, Heads


def crossing_arcs(heads: Heads) -> NDArray[np.bool_]:
    """Tell of each word whether the arc into it crosses the arc into another word.

    Parameters
    ----------
    heads : int32[n+1]
        A whole or partial tree; words without a head cross nothing. Arcs from the root (position 0) count.

    Returns
    -------
    bool[n+1]
        False for the root. O(n^2) time and memory.
    """
    words = np.arange(len(heads))
    known = heads != NO_HEAD
    low = np.where(known, np.minimum(words, heads), 0)
    high = np.where(known, np.maximum(words, heads), 0)
    inside = (low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high)
    crossed = inside & known & known[:, None]
    result: NDArray[np.bool_] = crossed.any(axis=0) | crossed.any(axis=1)
    return result
