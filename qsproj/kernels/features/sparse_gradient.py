"""Sparse gradients of hashed weights, and rows of features that are kept as a table.

Kernels add to gradients, bucket by bucket; optimisers read and clear them. Those that gather share
``gradient``, float32[buckets] or float64[buckets] of any stride, zero but for the buckets that are listed;
``touched`` uint64[capacity], these buckets (one whose gradient was zero again in between is listed twice);
``used``, how many are listed; ``begin``: 0, or where the last call stopped because there was no more room.
They return ``used`` and where they stopped: DONE, or a ``begin`` to go on from when there is room again.

Unlike arcs, whose features are hashed again whenever they are needed, the factors of a joint graph are few
and have a dozen features each; their buckets are kept: ``buckets`` int32[F, T].
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit

DONE = -1


@njit(cache=True, inner=True, borrows=True, error_model="numpy")
def add_slopes(buckets, count, slope, gradient, touched, used):
    """Add ``slope`` to the gradient of the first ``count`` buckets; return how many are listed now.

    One call for all features of an arc: a call for each feature takes three times as long, as numba counts
    references to the arrays.
    """
    for k in range(count):
        bucket = buckets[k]
        # Without a branch, which would have to wait for the gradient.
        touched[used] = bucket
        used += gradient[bucket] == 0.0
        gradient[bucket] += slope
    return used


@njit(cache=True, error_model="numpy", fastmath={"nsz"})
def score_rows(buckets, weights):
    """Return float64[F], the sum of the weights of each row, from left to right.

    Else the order is that of the processor's lanes, and joint training, which drops what is negligible, makes
    other weights of other last digits.
    """
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
