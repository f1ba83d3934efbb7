"""IBM model 1: which word generates each word of one sentence, all positions alike.

Source: Brown et al. (1993), section 4.1, with a NULL of fixed probability.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit

FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FAST)
def ibm1_posteriors(emissions, null_emissions, null_probability, posteriors, null_posteriors):
    """Fill the posteriors of one sentence pair and return the log-likelihood (natural log).

    ``emissions`` float64[n, m]: probability of generated word j given generating word i. ``null_emissions``
    float64[n]: probability of generated word j given NULL, > 0. ``null_probability``: prior of NULL; each of
    the m words has an equal share of the rest. ``posteriors``, ``null_posteriors`` float64[n, m], float64[n],
    written: p(j comes from i), p(j comes from NULL); each row and its NULL sum to 1. O(nm) time.
    """
    n, m = emissions.shape
    prior = (1.0 - null_probability) / m
    log_likelihood = 0.0
    for j in range(n):
        null = null_probability * null_emissions[j]
        total = null
        for i in range(m):
            posteriors[j, i] = prior * emissions[j, i]
            total += posteriors[j, i]
        for i in range(m):
            posteriors[j, i] /= total
        null_posteriors[j] = null / total
        log_likelihood += np.log(total)
    return log_likelihood
