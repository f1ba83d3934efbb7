"""What training asks of the features of arcs: how often they occur, and the gradient of their weights.

Features are those of :mod:`.arc_features`, hashed again whenever they are needed.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.features.arc_features import ONE, between_workspace, bucket_workspace, one_arc
from qsproj.kernels.features.sparse_gradient import DONE, add_slopes
from qsproj.kernels.prefetch import prefetch_rows

# A gradient (a difference of probabilities) smaller than this does not move the weights, so that most arcs
# need no second pass. Against 1e-4, training is a third faster and dev UAS the same (docs/parsing.md).
NEGLIGIBLE = 5e-3


@njit(cache=True, error_model="numpy")
def count_features(features, arcs, counts, last, sentence):
    """Count the features that fire on some arcs of a sentence.

    ``features`` ArcFeatures. ``arcs`` bool[n+1, n+1]. ``counts`` uint16[buckets]: saturating. Mutated.
    ``last`` int32[buckets]: the sentence that each bucket was last counted in. Mutated. ``sentence``: 0 or
    more: the number of this sentence, which counts once for each feature; -1: every arc counts.
    """
    between, out = between_workspace(features), bucket_workspace(features)
    for head in range(arcs.shape[0]):
        for dependent in range(1, arcs.shape[0]):
            if head != dependent and arcs[head, dependent]:
                for k in range(one_arc(features, head, dependent, between, out)):
                    bucket = out[k]
                    if counts[bucket] < 65535 and (sentence < 0 or last[bucket] != sentence):
                        counts[bucket] += np.uint16(1)
                        last[bucket] = sentence


@njit(cache=True, borrows=True, error_model="numpy")
def keep_supported(buckets, count, support):
    """Move the buckets of features that exist, of the first ``count``, to the front; return how many."""
    kept = np.int64(0)
    for k in range(count):
        bucket = buckets[k]
        buckets[kept] = bucket
        kept += np.int64((support[bucket >> np.uint64(6)] >> (bucket & np.uint64(63))) & ONE)
    return kept


@njit(cache=True, error_model="numpy")
def list_arcs(features, heads, dependents, support):
    """List the features of some arcs, ``heads[a]`` to ``dependents[a]``, int32[A].

    Returns ``starts`` int64[A + 1]; ``buckets`` uint64[starts[A]]: those of arc a are ``buckets[starts[a] :
    starts[a + 1]]``.
    """
    between, out = between_workspace(features), bucket_workspace(features)
    starts = np.zeros(heads.shape[0] + 1, np.int64)
    buckets = np.empty(256 * (heads.shape[0] + 1), np.uint64)
    for arc in range(heads.shape[0]):
        count = one_arc(features, heads[arc], dependents[arc], between, out)
        count = keep_supported(out, count, support)
        first = starts[arc]
        if first + count > buckets.shape[0]:
            more = np.empty(2 * (first + count), np.uint64)
            for k in range(first):
                more[k] = buckets[k]
            buckets = more
        for k in range(count):
            buckets[first + k] = out[k]
        starts[arc + 1] = first + count
    return starts, buckets[: starts[-1]]


@njit(cache=True, borrows=True, error_model="numpy")
def _gather(features, slopes, support, where, gradient, touched, used, between, room):
    """Do what :func:`gather_arcs` does; ``room`` uint64[2, B] is for the buckets of this arc and the last."""
    begin, negligible = where
    size = slopes.shape[0]
    row, waiting, steepness = 0, 0, 0.0
    for arc in range(begin, size * size):
        head, dependent = arc // size, arc % size
        slope = slopes[head, dependent]
        if dependent == 0 or head == dependent or abs(slope) <= negligible:
            continue
        count = one_arc(features, head, dependent, between, room[row])
        if used + waiting + count > touched.shape[0]:
            return add_slopes(room[1 - row], waiting, steepness, gradient, touched, used), arc
        supported = keep_supported(room[row], count, support)
        # The gradient of this arc is on its way while that of the arc before is added to.
        prefetch_rows(gradient, room[row], supported)
        used = add_slopes(room[1 - row], waiting, steepness, gradient, touched, used)
        row, waiting, steepness = 1 - row, supported, slope
    return add_slopes(room[1 - row], waiting, steepness, gradient, touched, used), DONE


@njit(cache=True, error_model="numpy")
def gather_arcs(features, slopes, support, negligible, gradient, touched, used, begin):
    """Add the gradient of one sentence to those of its features; see :mod:`.sparse_gradient`.

    ``features`` ArcFeatures. ``slopes`` float64[n+1, n+1]: derivative of the loss by each arc score.
    ``support`` uint64[buckets / 64]: bit mask of the features that exist. ``negligible``: slopes of this size
    or less are skipped.
    """
    between = between_workspace(features)
    room = np.empty((2, bucket_workspace(features).shape[0]), np.uint64)
    where = (begin, negligible)
    return _gather(features, slopes, support, where, gradient, touched, used, between, room)
