"""Steps along gradients that other kernels have gathered: AdaGrad's (Duchi et al. 2011), and plain ones.

A step adds each change, times the number of the step it is made in, to a sum: ``weights - sum / steps`` is
the mean of all past weights.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.prefetch import prefetch

# Memory is asked for a weight so many steps ahead.
AHEAD = 16
TWO, THREE = np.uint64(2), np.uint64(3)


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def adagrad(weights, state, touched, used, rate, step):
    """Take one step down the gradient, and clear it.

    ``weights`` float32[buckets] or float64[buckets], mutated. ``state`` like ``weights``, [buckets, 3]: by
    column: sum of squared gradients; sum of changes, each times the number of its step; gradient, all zero
    between steps. Mutated. ``touched`` uint64[capacity]: the buckets with a gradient; one may be listed
    twice. ``used``: how many of ``touched`` are listed. ``step``: number of steps taken before this one.
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


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def adagrad_outcomes(weights, state, buckets, slopes, rate, step):
    """Take one step for a softmax whose score of each outcome sums the weights of the same features.

    ``weights`` float32[buckets, L], mutated. ``state`` float32[2, buckets, L]: sum of squared gradients; sum
    of changes times the number of the step. Mutated. ``buckets`` uint64[k]: the features. ``slopes``
    float64[L]: derivative of the loss by the score of each outcome; those below 1e-3 are skipped. ``rate``,
    ``step`` as for :func:`adagrad`.
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


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def adagrad_row(weights, state, row, slopes, rate, step):
    """Take one step in one row of ``weights`` float[rows, L], all of whose outcomes have slopes float64[L].

    Others as for :func:`adagrad_outcomes`.
    """
    for outcome in range(slopes.shape[0]):
        _move(weights, state, row, outcome, slopes[outcome], rate, step)


@njit(cache=True, inner=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def adagrad_entries(weights, state, row, outcomes, slopes, rate, step):
    """Do what :func:`adagrad_row` does, for some ``outcomes`` int64[k] alone."""
    for outcome in outcomes:
        _move(weights, state, row, outcome, slopes[outcome], rate, step)


@njit(error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"}, inline="always")
def _move(weights, state, row, outcome, slope, rate, step):
    """Take one step with one weight."""
    state[0, row, outcome] += slope * slope
    change = rate * slope / np.sqrt(state[0, row, outcome] + 1e-8)
    weights[row, outcome] -= change
    state[1, row, outcome] -= step * change


@njit(cache=True, error_model="numpy")
def plain_step(weights, sums, gradient, touched, used, rate, step):
    """Take one step down the gradient, and clear it.

    ``weights``, ``sums``, ``gradient`` float32[buckets] or float64[buckets]: ``weights - sums / steps`` is
    the mean of all past weights. Mutated. ``touched`` uint64[capacity]: the buckets with a gradient; one may
    be listed twice, or have none. ``used``: how many of ``touched`` are listed. ``step``: number of steps
    taken before this one.
    """
    for k in range(used):
        bucket = touched[k]
        if gradient[bucket] != 0.0:
            change = rate * gradient[bucket]
            weights[bucket] -= change
            sums[bucket] -= step * change
            gradient[bucket] = 0.0
