"""Features of arcs in clusters: as :mod:`.arc_features`, with a row of weights for each bucket.

An arc is hashed once for all clusters. Weights and gradients are flat: cluster c of bucket b has index
b C + c, so that the weights of a feature are adjacent.
"""

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.features.arc_features import (
    ONE,
    ZERO,
    arc_buckets,
    between_workspace,
    bucket_workspace,
    extend_between,
    hash_between,
    keep_supported,
    nothing_between,
    one_arc,
    total_weight,
)
from qsproj.kernels.features.sparse_gradient import DONE, add_slopes
from qsproj.kernels.prefetch import prefetch_rows


@njit(cache=True, error_model="numpy")
def first_clusters(buckets, count, clusters):
    for k in range(count):
        buckets[k] *= np.uint64(clusters)


@njit(cache=True, error_model="numpy")
def next_clusters(buckets, count):
    for k in range(count):
        buckets[k] += ONE


@njit(cache=True, error_model="numpy")
def total_weights(weights, places, count, scores):
    """Write the sums of weights of an arc in each cluster into ``scores`` float64[C]; mutates ``places``."""
    for cluster in range(scores.shape[0]):
        scores[cluster] = total_weight(weights, places, count)
        next_clusters(places, count)


@njit(cache=True, error_model="numpy")
def score_clusters(features, weights, scores):
    """Write the score of every arc in every cluster into float64[n+1, n+1, C]; O(n^2 T C) time."""
    n, clusters = scores.shape[0] - 1, scores.shape[2]
    between, out, ahead = between_workspace(features), bucket_workspace(features), bucket_workspace(features)
    previous_head = previous_dependent = previous_count = ZERO
    for head in range(n + 1):
        for direction in (1, -1):
            nothing_between(features, between)
            dependent = head + direction
            while 1 <= dependent <= n:
                count = arc_buckets(features, head, dependent, between, ahead)[1]
                first_clusters(ahead, count, clusters)
                prefetch_rows(weights, ahead, count)
                if previous_count:
                    total_weights(weights, out, previous_count, scores[previous_head, previous_dependent])
                out, ahead = ahead, out
                previous_head, previous_dependent, previous_count = head, dependent, count
                if extend_between(features.tags[dependent], between):
                    hash_between(features, between)
                dependent += direction
    if previous_count:
        total_weights(weights, out, previous_count, scores[previous_head, previous_dependent])


@njit(cache=True, error_model="numpy")
def gather_clusters(features, slopes, chances, support, negligible, gradient, touched, used, begin):
    """Add the gradient of one sentence, as :func:`.arc_features.gather_arcs` does.

    ``slopes``: the clusters summed out; ``chances`` float64[n+1, n+1, C]: probability of each cluster.
    """
    between, out = between_workspace(features), bucket_workspace(features)
    size, clusters = slopes.shape[0], chances.shape[2]
    for arc in range(begin, size * size):
        head, dependent = arc // size, arc % size
        slope = slopes[head, dependent]
        if dependent == 0 or head == dependent or abs(slope) <= negligible:
            continue
        count = one_arc(features, head, dependent, between, out)
        if used + count * clusters > touched.shape[0]:
            return used, arc
        supported = keep_supported(out, count, support)
        first_clusters(out, supported, clusters)
        for cluster in range(clusters):
            share = slope * chances[head, dependent, cluster]
            used = add_slopes(out, supported, share, gradient, touched, used)
            next_clusters(out, supported)
    return used, DONE
