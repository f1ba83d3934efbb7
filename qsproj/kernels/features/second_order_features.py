"""Hashed features of factors over several words, on the fly: score them, and gather gradients.

As for arcs (:mod:`qsproj.kernels.features.arc_features`), a hash combines a template's attributes of each
word of a factor, computed once for each position; and a feature with and without the factor's place is in one
block of 16 buckets, a cache line.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.compilation import njit
from qsproj.kernels.features.arc_features import MULTIPLIER, ZERO, total_weight
from qsproj.kernels.features.sparse_gradient import DONE, add_slopes
from qsproj.kernels.prefetch import prefetch_rows

# A gradient (a difference of probabilities) smaller than this does not move the weights.
NEGLIGIBLE = 1e-3


class FactorFeatures(NamedTuple):
    """The parts of the hashes of the features of one family of factors in one sentence.

    Position p is at p + 1 of ``parts``; the first and the last are outside the sentence. Templates [0, plain)
    fire with and without the place, the others with it only.
    """

    parts: NDArray[np.uint64]  # [R, n + 3, T]: hash of each template's attributes of a position in R roles
    members: NDArray[np.int32]  # [F, R]: the words of each factor, as indices into parts
    places: NDArray[np.uint64]  # [F]: place of each factor, 1..15
    plain: int
    shift: np.uint64  # a 64-bit hash shifted right by this is a bucket


@njit(cache=True, borrows=True, error_model="numpy")
def factor_buckets(features, factor, out):
    """Write the buckets of a factor's features, blocks of 16, into uint64[2 T]; return their number."""
    templates, place = features.parts.shape[2], features.places[factor]
    part = features.parts[0, features.members[factor, 0]]
    for t in range(templates):
        out[t] = part[t]
    for role in range(1, features.members.shape[1]):
        part = features.parts[role, features.members[factor, role]]
        for t in range(templates):
            out[t] ^= part[t]
    for t in range(templates):
        out[t] = ((out[t] * MULTIPLIER) >> features.shift) ^ place
    for t in range(features.plain):
        out[templates + t] = out[t] ^ place
    return templates + features.plain


@njit(cache=True, borrows=True, error_model="numpy")
def _score_factors(features, weights, room, scores):
    """Compute :func:`score_factors`; ``room`` uint64[2, 2 T]: buckets of this factor and the last."""
    templates, count = features.parts.shape[2], ZERO
    for factor in range(scores.shape[0] + 1):
        out, ahead = room[(factor + 1) % 2], room[factor % 2]
        coming = 0
        if factor < scores.shape[0]:
            coming = factor_buckets(features, factor, ahead)
            prefetch_rows(weights, ahead, templates)
        if factor > 0:
            scores[factor - 1] = total_weight(weights, out, count)
        count = coming


@njit(cache=True, error_model="numpy")
def score_factors(features, weights):
    """Return the score of every factor, float64[F], natural log, in O(F T) time."""
    scores = np.zeros(features.members.shape[0])
    _score_factors(features, weights, np.empty((2, 2 * features.parts.shape[2]), np.uint64), scores)
    return scores


@njit(cache=True, error_model="numpy")
def gather_factors(features, slopes, gradient, touched, used, begin):
    """Add the gradient of a family in one sentence by ``slopes`` float64[F]; see :mod:`.sparse_gradient`."""
    out = np.empty(2 * features.parts.shape[2], np.uint64)
    for factor in range(begin, slopes.shape[0]):
        slope = slopes[factor]
        if abs(slope) < NEGLIGIBLE:
            continue
        if used + out.shape[0] > touched.shape[0]:
            return used, factor
        count = factor_buckets(features, factor, out)
        prefetch_rows(gradient, out, count)
        used = add_slopes(out, count, slope, gradient, touched, used)
    return used, DONE
