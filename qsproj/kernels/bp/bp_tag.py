"""TAG: unary scores on variables of several states."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import ratios_against_state_0, state_weights, total
from qsproj.kernels.compilation import njit

FLAGS = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def tag_messages(incoming, scores):
    """Return the outgoing log-ratios, float64[F, K-1].

    ``scores`` float64[F, K] are natural logs; ``incoming`` float64[F, K-1] is only looked at for states that
    it rules out.
    """
    outgoing = np.empty(incoming.shape)
    weights = np.empty(scores.shape[1])
    for f in range(scores.shape[0]):
        state_weights(incoming[f], weights)
        ratios_against_state_0(scores[f], weights, outgoing[f])
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def tag_beliefs(incoming, scores):
    """Return the sum of log partitions and the probabilities float64[F, K]; incoming float64[F, K-1]."""
    beliefs = np.empty(scores.shape)
    log_partition = 0.0
    for f in range(scores.shape[0]):
        state_weights(incoming[f], beliefs[f])
        beliefs[f] += scores[f]
        partition = total(beliefs[f], False)
        log_partition += partition
        beliefs[f] = np.exp(beliefs[f] - partition)
    return log_partition, beliefs
