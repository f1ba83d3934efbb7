"""Rows of hashed features, kept as a table: score them, and gather the gradient of their weights.

Unlike arcs, whose features are hashed again whenever they are needed, the factors of a joint graph are few
and have a dozen features each; their buckets are kept: ``buckets`` int32[F, T].
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.features.sparse_gradient import DONE, add_slopes

FLAGS = {"reassoc", "contract", "nsz", "arcp"}


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
