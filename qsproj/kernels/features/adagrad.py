"""Steps along gradients that other kernels have gathered: AdaGrad's (Duchi et al. 2011), and plain ones.

A step adds each change, times the number of the step it is made in, to a sum: ``weights - sum / steps`` is
the mean of all past weights.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.prefetch import prefetch

# Memory is asked for a weight so many steps ahead.
AHEAD = 16
TWO, THREE = np.uint64(2), np.uint64(3)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def adagrad(weights, state, touched, used, rate, step):
    """Take one step down the gradient, and clear it.

    ``state``, like ``weights`` float[buckets] but [buckets, 3], by column: sum of squared gradients; sum of
    changes, each times the number of its step; gradient, all zero between steps. ``touched`` uint64: the
    buckets with a gradient, ``used`` of which are listed; one may be listed twice. ``step``: steps taken
    before.
    """
    flat = state.reshape(-1)
    for k in range(used):
        if k + AHEAD < used:
            coming = touched[k + AHEAD]
            prefetch(weights, coming)
            prefetch(flat, coming * THREE)
            prefetch(flat, coming * THREE + TWO)
        bucket = touched[k]
        slope = state[bucket, 2]
        if slope != 0.0:
            state[bucket, 0] += slope * slope
            change = rate * slope / np.sqrt(state[bucket, 0] + 1e-12)
            weights[bucket] -= change
            state[bucket, 1] -= step * change
            state[bucket, 2] = 0.0


@njit(cache=True, error_model="numpy", fastmath=FAST)
def adagrad_outcomes(weights, state, buckets, slopes, rate, step):
    """Take one step for a softmax whose score of each outcome sums the weights of the same features.

    ``weights`` float32[buckets, L]; ``state`` float32[2, buckets, L]: sum of squared gradients; sum of
    changes times the number of the step. ``buckets`` uint64[k]: the features. ``slopes`` float64[L]:
    derivative of the loss by each score; those below 1e-3 are skipped.
    """
    steep, n_steep = np.empty(slopes.shape[0], np.int64), 0
    for outcome in range(slopes.shape[0]):
        if abs(slopes[outcome]) >= 1e-3:
            steep[n_steep] = outcome
            n_steep += 1
    squares, sums = state[0], state[1]
    for k in range(buckets.shape[0]):
        bucket = buckets[k]
        for s in range(n_steep):
            outcome = steep[s]
            slope = slopes[outcome]
            squares[bucket, outcome] += slope * slope
            change = rate * slope / np.sqrt(squares[bucket, outcome])
            weights[bucket, outcome] -= change
            sums[bucket, outcome] -= step * change


@njit(cache=True, error_model="numpy", fastmath=FAST)
def adagrad_row(weights, state, row, slopes, rate, step):
    """Do as :func:`adagrad_outcomes` in one row of ``weights`` float[rows, L], with slopes float64[L]."""
    for outcome in range(slopes.shape[0]):
        move(weights, state, row, outcome, slopes[outcome], rate, step)


@njit(cache=True, inner=True, error_model="numpy", fastmath=FAST)
def adagrad_entries(weights, state, row, outcomes, slopes, rate, step):
    """Do what :func:`adagrad_row` does, for some ``outcomes`` int64[k] alone."""
    for outcome in outcomes:
        move(weights, state, row, outcome, slopes[outcome], rate, step)


@njit(inner=True, error_model="numpy", fastmath=FAST, inline="always")
def move(weights, state, row, outcome, slope, rate, step):
    state[0, row, outcome] += slope * slope
    change = rate * slope / np.sqrt(state[0, row, outcome] + 1e-8)
    weights[row, outcome] -= change
    state[1, row, outcome] -= step * change


@njit(cache=True, error_model="numpy")
def plain_step(weights, sums, gradient, touched, used, rate, step):
    """Take one step down the gradient, and clear it, as :func:`adagrad`; a listed bucket may have none."""
    for k in range(used):
        bucket = touched[k]
        if gradient[bucket] != 0.0:
            change = rate * gradient[bucket]
            weights[bucket] -= change
            sums[bucket] -= step * change
            gradient[bucket] = 0.0
