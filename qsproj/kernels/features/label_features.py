"""Labels of arcs: a softmax over relations on the hashed features of one arc.

Features are those of kernels.arc_features; weights are float32[buckets, L], one row for each feature, so that
all relations are scored in one sweep of contiguous memory.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.features.adagrad import adagrad_outcomes
from qsproj.kernels.features.arc_features import bucket_workspace, one_arc


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def score_labels(features, heads, weights, scores):
    """Write the score of every relation for the arc into each word into ``scores`` float64[n+1, L].

    ``heads`` int32[n+1]; rows of words without a head (and row 0) become zero.
    """
    out = bucket_workspace(features)
    between_tags = np.empty(4, np.int64)
    scores[:] = 0.0
    for dependent in range(1, heads.shape[0]):
        head = heads[dependent]
        if head < 0:
            continue
        count = one_arc(features, head, dependent, between_tags, out)
        for k in range(count):
            row = weights[out[k]]
            for label in range(row.shape[0]):
                scores[dependent, label] += row[label]


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def step_labels(features, heads, labels, weights, state, rate, step):
    """Take one AdaGrad step for each labelled arc of a sentence; return the loss before it, in nats.

    Parameters
    ----------
    labels : int32[n+1]
        Index of the relation of each word, -1 where there is nothing to learn.
    weights, state, rate, step
        See :func:`qsproj.kernels.features.adagrad.adagrad_outcomes`.
    """
    relations = weights.shape[1]
    out = bucket_workspace(features)
    between_tags = np.empty(4, np.int64)
    slope = np.empty(relations)
    loss = 0.0
    for dependent in range(1, heads.shape[0]):
        head, gold = heads[dependent], labels[dependent]
        if head < 0 or gold < 0:
            continue
        count = one_arc(features, head, dependent, between_tags, out)
        slope[:] = 0.0
        for k in range(count):
            row = weights[out[k]]
            for label in range(relations):
                slope[label] += row[label]
        top = slope.max()
        gold_score = slope[gold]
        total = 0.0
        for label in range(relations):
            slope[label] = np.exp(slope[label] - top)
            total += slope[label]
        loss += np.log(total) + top - gold_score
        for label in range(relations):
            slope[label] /= total
        slope[gold] -= 1.0
        adagrad_outcomes(weights, state, out[:count], slope, rate, step)
    return loss
