"""Labels of arcs: a softmax over relations on the hashed features of one arc.

Features are those of kernels.arc_features; weights are float32[buckets, L], one row for each feature, so that
all relations are scored in one sweep of contiguous memory.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.features.adagrad import adagrad_outcomes
from qsproj.kernels.features.arc_features import between_workspace, bucket_workspace, one_arc
from qsproj.kernels.prefetch import prefetch

# Nothing is held to be less probable when a loss is reported.
TINY = 1e-300
# Weights in a line of the cache.
LINE = 16


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def score_labels(features, heads, weights, scores):
    """Write the score of every relation for the arc into each word into ``scores`` float64[n+1, L].

    ``heads`` int32[n+1]; rows of words without a head (and row 0) become zero.
    """
    between, out, ahead = between_workspace(features), bucket_workspace(features), bucket_workspace(features)
    scores[:] = 0.0
    # Memory is asked for the weights of an arc while those of the arc before are summed.
    previous, previous_count = 0, 0
    for dependent in range(1, heads.shape[0]):
        head = heads[dependent]
        if head < 0:
            continue
        count = one_arc(features, np.int64(head), dependent, between, ahead)
        ask_for_rows(weights, ahead, count)
        add_rows(weights, out, previous_count, scores[previous])
        out, ahead = ahead, out
        previous, previous_count = dependent, count
    add_rows(weights, out, previous_count, scores[previous])


@njit(cache=True, borrows=True, error_model="numpy")
def ask_for_rows(weights, rows, count):
    """Ask for the memory that the first ``count`` of some rows of weights are in."""
    flat, width = weights.reshape(-1), weights.shape[1]
    for k in range(count):
        for place in range(0, width, LINE):
            prefetch(flat, rows[k] * np.uint64(width) + np.uint64(place))


@njit(cache=True, borrows=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def add_rows(weights, rows, count, sums):
    """Add the first ``count`` of some rows of weights to ``sums`` float64[L]."""
    for k in range(count):
        row = weights[rows[k]]
        for label in range(row.shape[0]):
            sums[label] += row[label]


@njit(cache=True, borrows=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def softmax_of_rows(weights, rows, chances):
    """Write the softmax of the sum of some rows of weights into ``chances`` float64[L]."""
    chances[:] = 0.0
    for k in range(rows.shape[0]):
        row = weights[rows[k]]
        for label in range(row.shape[0]):
            chances[label] += row[label]
    top, total = -np.inf, 0.0
    for label in range(chances.shape[0]):
        top = max(top, chances[label])
    for label in range(chances.shape[0]):
        chances[label] = np.exp(chances[label] - top)
        total += chances[label]
    for label in range(chances.shape[0]):
        chances[label] /= total


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def step_labels(features, heads, labels, weights, state, rate, step):
    """Take one AdaGrad step for each labelled arc of a sentence; return the loss before it, in nats.

    ``labels`` int32[n+1]: index of the relation of each word, -1 where there is nothing to learn.
    ``weights``, ``state``, ``rate``, ``step``: see :func:`qsproj.kernels.features.adagrad.adagrad_outcomes`.
    """
    between, out = between_workspace(features), bucket_workspace(features)
    slope = np.empty(weights.shape[1])
    loss = 0.0
    for dependent in range(1, heads.shape[0]):
        head, gold = heads[dependent], labels[dependent]
        if head < 0 or gold < 0:
            continue
        count = one_arc(features, np.int64(head), dependent, between, out)
        ask_for_rows(weights, out, count)
        softmax_of_rows(weights, out[:count], slope)
        loss -= np.log(max(slope[gold], TINY))
        slope[gold] -= 1.0
        adagrad_outcomes(weights, state, out[:count], slope, rate, step)
    return loss


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def step_label_evidence(features, heads, evidence, weights, state, rate, step):
    """Take one AdaGrad step for each arc with evidence for its relation; return the loss before, in nats.

    The loss is minus the log of the mean of exp(evidence) over the relations of an arc.

    ``evidence`` float64[n+1, L]: log of how much likelier what was seen is under each relation; a row of
    zeros teaches nothing. ``weights``, ``state``, ``rate``, ``step``: see
    :func:`qsproj.kernels.features.adagrad.adagrad_outcomes`.
    """
    between, out = between_workspace(features), bucket_workspace(features)
    chances, slope = np.empty(weights.shape[1]), np.empty(weights.shape[1])
    loss = 0.0
    for dependent in range(1, heads.shape[0]):
        if heads[dependent] < 0 or not np.any(evidence[dependent]):
            continue
        count = one_arc(features, np.int64(heads[dependent]), dependent, between, out)
        ask_for_rows(weights, out, count)
        softmax_of_rows(weights, out[:count], chances)
        seen = chances * np.exp(evidence[dependent])
        total = seen.sum()
        loss -= np.log(max(total, TINY))
        for label in range(slope.shape[0]):
            slope[label] = chances[label] - seen[label] / total
        adagrad_outcomes(weights, state, out[:count], slope, rate, step)
    return loss
