"""Rows of hashed features, kept as a table: score them, and gather the gradient of their weights.

Unlike arcs, whose features are hashed again whenever they are needed, the factors of a joint graph are few
and have a dozen features each; their buckets are kept: ``buckets`` int32[F, T].
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit

FLAGS = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def score_rows(buckets, weights):
    """Return float64[F], the sum of the weights of each row."""
    scores = np.empty(buckets.shape[0])
    for f in range(buckets.shape[0]):
        total = 0.0
        for t in range(buckets.shape[1]):
            total += weights[buckets[f, t]]
        scores[f] = total
    return scores


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def add_rows(buckets, slopes, state, touched, used):
    """Add the gradient of each row, float64[F], to its features; return how many buckets are touched.

    ``state`` float64[B, 3] holds the gradient in its last column; ``touched`` uint64 lists the buckets whose
    gradient was zero before, ``used`` of them so far.
    """
    for f in range(buckets.shape[0]):
        slope = slopes[f]
        if slope != 0.0:
            for t in range(buckets.shape[1]):
                bucket = buckets[f, t]
                if state[bucket, 2] == 0.0:
                    touched[used] = bucket
                    used += 1
                state[bucket, 2] += slope
    return used
