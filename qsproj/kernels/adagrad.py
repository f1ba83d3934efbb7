"""The step of AdaGrad along a sparse gradient that other kernels have gathered."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def adagrad(weights, state, touched, used, rate, step):
    """Take one step (Duchi et al. 2011) down the gradient, and clear it.

    Parameters
    ----------
    weights : float32[buckets] or float64[buckets]
        Mutated.
    state : like ``weights``, [buckets, 3]
        By column: sum of squared gradients; sum of steps, each times the number of the step it was made at
        (for averaging: ``weights - state[:, 1] / steps`` is the mean of all past weights); gradient, all zero
        between steps. Mutated.
    touched : uint64[capacity]
        The buckets with a gradient; one may be listed twice.
    used : int
        How many of ``touched`` are listed.
    rate : float
    step : float
        Number of steps taken before this one.
    """
    for k in range(used):
        bucket = touched[k]
        slope = state[bucket, 2]
        if slope != 0.0:
            state[bucket, 0] += slope * slope
            change = rate * slope / np.sqrt(state[bucket, 0] + 1e-12)
            weights[bucket] -= change
            state[bucket, 1] -= step * change
            state[bucket, 2] = 0.0
