"""Sparse gradients of hashed weights: kernels add to them, bucket by bucket; optimisers read and clear them.

Arrays that the kernels which gather share
------------------------------------------
gradient : float32[buckets] or float64[buckets], any stride
    Zero but for the buckets that are listed. Mutated.
touched : uint64[capacity]
    The buckets with a gradient; one whose gradient was zero again in between is listed twice. Mutated.
used : int
    How many are listed.
begin : int
    Where to begin: 0, or where the last call stopped because there was no more room.

They return ``used`` and where they stopped: DONE, or a ``begin`` to go on from when there is room again.
"""

from __future__ import annotations

from qsproj.kernels.compilation import njit

DONE = -1


@njit(cache=True, borrows=True, error_model="numpy")
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
