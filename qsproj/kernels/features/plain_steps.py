"""Steps of the size of the gradient, along gradients that other kernels have gathered."""

from __future__ import annotations

from qsproj.kernels.compilation import njit


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
