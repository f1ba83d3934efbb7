"""Hashed features of factors over several words, on the fly: score them, and gather gradients.

As for arcs (:mod:`qsproj.kernels.features.arc_features`), a hash is put together from what a template asks of
each word of a factor, computed once for each position; and a feature and its twin with the factor's place lie
in one block of 16 buckets, a line of cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.compilation import njit
from qsproj.kernels.features.arc_features import MULTIPLIER
from qsproj.kernels.features.sparse_gradient import DONE, add_slopes

FLAGS = {"reassoc", "contract", "nsz", "arcp"}

# A gradient (a difference of probabilities) smaller than this does not move the weights.
NEGLIGIBLE = 1e-3


class FactorFeatures(NamedTuple):
    """All that the features of one family of factors in one sentence are put together from.

    Attributes
    ----------
    parts : uint64[R, n + 3, T]
        Hash of what each template asks of a position in each of R roles; position p stands at p + 1, and the
        first and the last are the outside of the sentence.
    members : int32[F, R]
        The words of each factor, as indices into ``parts``.
    places : uint64[F]
        Place of each factor, 1..15.
    plain : int
        Templates [0, plain) fire with and without the place, the others with it only.
    shift : uint64
        A 64-bit hash shifted right by this is a bucket.
    """

    parts: NDArray[np.uint64]
    members: NDArray[np.int32]
    places: NDArray[np.uint64]
    plain: int
    shift: np.uint64


@njit(cache=True, error_model="numpy")
def bucket_of(features, factor, t):
    """Return the bucket of template ``t`` of a factor, without its place."""
    state = features.parts[0, features.members[factor, 0], t]
    for role in range(1, features.members.shape[1]):
        state ^= features.parts[role, features.members[factor, role], t]
    return (state * MULTIPLIER) >> features.shift


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def score_factors(features, weights):
    """Return the score of every factor, float64[F], natural log: the sum of its features' weights.

    ``weights`` float32[buckets] holds zero for a feature that does not exist. O(F T) time.
    """
    scores = np.zeros(features.members.shape[0])
    for factor in range(scores.shape[0]):
        place = features.places[factor]
        for t in range(features.parts.shape[2]):
            bucket = bucket_of(features, factor, t)
            scores[factor] += weights[bucket ^ place]
            if t < features.plain:
                scores[factor] += weights[bucket]
    return scores


@njit(cache=True, error_model="numpy")
def gather_factors(features, slopes, gradient, touched, used, begin):
    """Add the gradient of one family in one sentence to those of its features; see :mod:`.sparse_gradient`.

    Parameters
    ----------
    features : FactorFeatures
    slopes : float64[F]
        Derivative of the loss by each factor's score; entries below NEGLIGIBLE are skipped.
    """
    templates = features.parts.shape[2]
    out = np.empty(2 * templates, np.uint64)
    for factor in range(begin, slopes.shape[0]):
        slope = slopes[factor]
        if abs(slope) < NEGLIGIBLE:
            continue
        if used + 2 * templates > touched.shape[0]:
            return used, factor
        count = 0
        for t in range(templates):
            bucket = bucket_of(features, factor, t)
            out[count] = bucket ^ features.places[factor]
            count += 1
            if t < features.plain:
                out[count] = bucket
                count += 1
        used = add_slopes(out, count, slope, gradient, touched, used)
    return used, DONE
