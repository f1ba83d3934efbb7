"""Beliefs of unary factors on booleans."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import plus, weight_if_false, weight_if_true
from qsproj.kernels.compilation import njit

FLAGS = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def link_beliefs(incoming, scores):
    """Return the sum of log partitions and float64[F], the probability that each factor fires.

    ``incoming`` float64[F] are log-odds, ``scores`` float64[F] natural logs; a score of +inf gives true
    weight 1 and false weight 0.
    """
    fired = np.empty(scores.shape[0])
    log_partition = 0.0
    for f in range(scores.shape[0]):
        false, true = weight_if_false(incoming[f]), weight_if_true(incoming[f])
        if scores[f] == np.inf:
            false = -np.inf
        else:
            true += scores[f]
        partition = plus(false, true, False)
        log_partition += partition
        fired[f] = np.exp(true - partition)
    return log_partition, fired
