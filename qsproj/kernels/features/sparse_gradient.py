"""Sparse gradients of hashed weights, gradient steps, and tables of features.

Kernels add to gradients, bucket by bucket; optimisers read and clear them. Gathering kernels share
``gradient``, float32[buckets] or float64[buckets] of any stride, zero except for the listed buckets;
``touched`` uint64[capacity], these buckets (one whose gradient was zero in between is listed twice);
``used``, their number; ``begin``: 0, or where the last call stopped because the list was full. They return
``used`` and where they stopped: DONE, or a ``begin`` from which to continue when the list has been cleared.

Unlike arcs, whose features are hashed again whenever they are needed, the factors of a joint graph are few
and have a dozen features each; their buckets are stored: ``buckets`` int32[F, T].
"""

import numpy as np

from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.prefetch import prefetch

DONE = -1


@njit(cache=True, borrows=True, error_model="numpy")
def add_slopes(buckets, count, slope, gradient, touched, used):
    """Add ``slope`` to the gradient of the first ``count`` buckets; return the new length of the list.

    One call for all features of an arc: a call for each feature takes three times as long, as numba counts
    references to the arrays.
    """
    for k in range(count):
        bucket = buckets[k]
        # Branch-free, since a branch would wait for the gradient.
        touched[used] = bucket
        used += gradient[bucket] == 0.0
        gradient[bucket] += slope
    return used


@njit(cache=True, error_model="numpy", fastmath={"nsz"})
def score_rows(buckets, weights):
    """Return float64[F], the sum of the weights of each row, from left to right on any processor."""
    scores = np.empty(buckets.shape[0])
    for f in range(buckets.shape[0]):
        total = 0.0
        for t in range(buckets.shape[1]):
            total += weights[buckets[f, t]]
        scores[f] = total
    return scores


@njit(cache=True, error_model="numpy")
def gather_rows(buckets, slopes, gradient, touched, used, begin):
    """Add the gradient of each row, float64[F], to those of its features; see :mod:`.sparse_gradient`."""
    for f in range(begin, buckets.shape[0]):
        slope = slopes[f]
        if slope == 0.0:
            continue
        if used + buckets.shape[1] > touched.shape[0]:
            return used, f
        used = add_slopes(buckets[f], buckets.shape[1], slope, gradient, touched, used)
    return used, DONE


# Number of steps by which weights are prefetched.
AHEAD = 16
TWO, THREE = np.uint64(2), np.uint64(3)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def adagrad(weights, state, touched, used, rate, step):
    """Take one step down the gradient, and clear it.

    ``state``, like ``weights`` float[buckets] but [buckets, 3], by column: sum of squared gradients; sum of
    changes, each times the number of its step; gradient, all zero between steps. ``touched`` uint64: the
    buckets with a gradient, ``used`` of them, some perhaps twice. ``step``: number of previous steps.
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


@njit(cache=True, borrows=True, error_model="numpy")
def prefetch_columns(flat, first, columns):
    """Prefetch some columns int64[k] of a row of a table; the row starts at ``first`` in ``flat``."""
    for column in columns:
        prefetch(flat, first + column)


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


@njit(error_model="numpy", fastmath=FAST, inline="always")
def move(weights, state, row, outcome, slope, rate, step):
    """Take one step for one of the ``weights`` float[rows, L], as :func:`adagrad_outcomes`."""
    state[0, row, outcome] += slope * slope
    change = rate * slope / np.sqrt(state[0, row, outcome] + 1e-8)
    weights[row, outcome] -= change
    state[1, row, outcome] -= step * change


@njit(cache=True, error_model="numpy")
def plain_step(weights, sums, gradient, touched, used, step):
    """Move the weights by the gradient, and clear it, as :func:`adagrad`; a listed bucket may have none."""
    for k in range(used):
        bucket = touched[k]
        if gradient[bucket] != 0.0:
            weights[bucket] -= gradient[bucket]
            sums[bucket] -= step * gradient[bucket]
            gradient[bucket] = 0.0
