"""Logistic regression over sparse features: a binary decision at each of many positions."""

import math

import numpy as np

from qsproj.kernels.compilation import njit


@njit(cache=True, error_model="numpy")
def log_odds(rows, weights, odds):
    """Fill ``odds`` float64[n] with the sums of the ``weights`` float[R] of ``rows`` int32[n, K], or -1."""
    for i in range(rows.shape[0]):
        total = 0.0
        for row in rows[i]:
            if row >= 0:
                total += weights[row]
        odds[i] = total


@njit(cache=True, error_model="numpy")
def logistic_gradient(rows, outcomes, weights, slopes):
    """Return the loss of ``outcomes`` bool[n]; add its gradient to ``slopes`` float64[R]."""
    odds = np.empty(rows.shape[0])
    log_odds(rows, weights, odds)
    loss = 0.0
    for i in range(rows.shape[0]):
        against = -odds[i] if outcomes[i] else odds[i]
        loss += max(against, 0.0) + math.log1p(math.exp(-abs(against)))
        slope = 1.0 / (1.0 + math.exp(-against))
        if outcomes[i]:
            slope = -slope
        for row in rows[i]:
            if row >= 0:
                slopes[row] += slope
    return loss
