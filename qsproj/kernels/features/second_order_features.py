"""Hashed features of factors over several words, on the fly: score them, and step along a gradient.

As for arcs (:mod:`qsproj.kernels.features.arc_features`), a hash is put together from what a template asks of
each word of a factor, computed once for each position; and a feature and its twin with the factor's place lie
in one block of 16 buckets, a line of cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.compilation import njit
from qsproj.kernels.features.adagrad import adagrad
from qsproj.kernels.features.arc_features import MULTIPLIER

FLAGS = {"reassoc", "contract", "nsz", "arcp"}

# A gradient (a difference of probabilities) smaller than this does not step the weights.
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
def _add_slope(bucket, slope, state, touched, used):
    """Add to the gradient of one bucket; return how many buckets are touched now."""
    if state[bucket, 2] == 0.0:
        touched[used] = bucket
        used += 1
    state[bucket, 2] += slope
    return used


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def step_factors(features, gradient, weights, state, touched, rate, step):
    """Take one AdaGrad step down the gradient of one family in one sentence. Mutates weights and state.

    Parameters
    ----------
    features : FactorFeatures
    gradient : float64[F]
        Derivative of the loss by each factor's score; entries below NEGLIGIBLE are skipped.
    weights, state, touched, rate, step
        See :func:`qsproj.kernels.features.adagrad.adagrad`; when ``touched`` is full, the step is taken in
        parts.
    """
    used = 0
    templates = features.parts.shape[2]
    for factor in range(gradient.shape[0]):
        slope = gradient[factor]
        if abs(slope) < NEGLIGIBLE:
            continue
        if used + 2 * templates > touched.shape[0]:
            adagrad(weights, state, touched, used, rate, step)
            used = 0
        for t in range(templates):
            bucket = bucket_of(features, factor, t)
            used = _add_slope(bucket ^ features.places[factor], slope, state, touched, used)
            if t < features.plain:
                used = _add_slope(bucket, slope, state, touched, used)
    adagrad(weights, state, touched, used, rate, step)
