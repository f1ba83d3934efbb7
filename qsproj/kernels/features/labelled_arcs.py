"""Scores of the relations that an arc may have, and the gradient of their weights.

An arc is given by its two ends, int32 each. Its candidates are the relations that the coarse tags of its ends
may stand in: those of pair ``p = head's tag * TAGS + dependent's tag`` are ``relations[starts[p] :
starts[p + 1]]``, int32. Features are those of :mod:`.arc_features`; weights are one row of L for each bucket.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.features.arc_features import between_workspace, bucket_workspace, one_arc
from qsproj.kernels.features.sparse_gradient import DONE

# Tags are numbers below this.
TAGS = 63


@njit(cache=True, error_model="numpy", inline="always")
def tag_pair(tags, head, dependent):
    """Return the number of a pair of tags."""
    return np.int64(tags[head]) * TAGS + np.int64(tags[dependent])


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def score_relations(features, heads, dependents, starts, relations, weights, scores):
    """Write the score of each candidate relation of each arc into ``scores`` float64[k, L], else -inf.

    ``weights`` float32[buckets, L]. O(k (C T + n)) time, where C relations are candidates.
    """
    between, out = between_workspace(features), bucket_workspace(features)
    sums = np.empty(weights.shape[1])
    scores[:] = -np.inf
    for arc in range(heads.shape[0]):
        head, dependent = heads[arc], dependents[arc]
        pair = tag_pair(features.tags, head, dependent)
        first, last = starts[pair], starts[pair + 1]
        count = one_arc(features, head, dependent, between, out)
        sums[: last - first] = 0.0
        for k in range(count):
            row = weights[out[k]]
            for j in range(first, last):
                sums[j - first] += row[relations[j]]
        for j in range(first, last):
            scores[arc, relations[j]] = sums[j - first]


@njit(cache=True, error_model="numpy")
def sum_relations(scores, summed, chances):
    """Write the log of the summed exponentials of each row, and the softmax of each row.

    Parameters
    ----------
    scores : float64[k, L]
        Natural log; -inf for what is no candidate. At least one of each row is finite.
    summed : float64[k]
        Written.
    chances : float64[k, L]
        Written; rows sum to one.
    """
    for arc in range(scores.shape[0]):
        top = scores[arc].max()
        total = 0.0
        for label in range(scores.shape[1]):
            chances[arc, label] = np.exp(scores[arc, label] - top) if scores[arc, label] > -np.inf else 0.0
            total += chances[arc, label]
        for label in range(scores.shape[1]):
            chances[arc, label] /= total
        summed[arc] = top + np.log(total)


@njit(cache=True, error_model="numpy")
def gather_relations(features, heads, dependents, slopes, negligible, gradient, touched, used, begin):
    """Add the gradient of one sentence to those of its weights; see :mod:`.sparse_gradient`.

    Parameters
    ----------
    slopes : float64[k, L]
        Derivative of the loss by the score of each relation of each arc.
    negligible : float
        Slopes of this size or less are skipped.
    gradient : float32[buckets * L]
        Of the rows of weights, one after the other.
    """
    between, out = between_workspace(features), bucket_workspace(features)
    labels = slopes.shape[1]
    steep = np.empty(labels, np.int64)
    for arc in range(begin, heads.shape[0]):
        some = 0
        for label in range(labels):
            if abs(slopes[arc, label]) > negligible:
                steep[some] = label
                some += 1
        if some == 0:
            continue
        count = one_arc(features, heads[arc], dependents[arc], between, out)
        if used + count * some > touched.shape[0]:
            return used, arc
        for k in range(count):
            first = np.int64(out[k]) * labels
            for j in range(some):
                cell = first + steep[j]
                if gradient[cell] == 0.0:
                    touched[used] = cell
                    used += 1
                gradient[cell] += slopes[arc, steep[j]]
    return used, DONE
