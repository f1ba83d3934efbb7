"""SYNCH: what no synchronous derivation has, forbidden four booleans at a time; O(1) a factor."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import plus, weight_if_false, weight_if_true
from qsproj.kernels.compilation import njit

FLAGS = {"reassoc", "contract", "nsz", "arcp"}

# Bit e of an assignment is the state of edge e; edge 0 is the link of the dependents. Forbidden: this link
# and exactly two of the other three.
FORBIDDEN = (0b0111, 0b1011, 0b1101)


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _weight(messages, assignment, left_out):
    """Return the log weight of an assignment under its messages, all but the one to ``left_out``."""
    weight = 0.0
    for e in range(4):
        if e != left_out:
            if assignment >> e & 1:
                weight += weight_if_true(messages[e])
            else:
                weight += weight_if_false(messages[e])
    return weight


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def synch_messages(incoming, maximise):
    """Return the outgoing log-odds, float64[4 F]; ``incoming`` float64[4 F] are log-odds too."""
    outgoing = np.empty(incoming.shape[0])
    for start in range(0, incoming.shape[0], 4):
        messages = incoming[start : start + 4]
        for e in range(4):
            if_true, if_false = -np.inf, -np.inf
            for assignment in range(16):
                if assignment not in FORBIDDEN:
                    weight = _weight(messages, assignment, e)
                    if assignment >> e & 1:
                        if_true = plus(if_true, weight, maximise)
                    else:
                        if_false = plus(if_false, weight, maximise)
            outgoing[start + e] = if_true - if_false
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def synch_log_partition(incoming):
    """Return the sum of the factors' log partitions."""
    log_partition = 0.0
    for start in range(0, incoming.shape[0], 4):
        partition = -np.inf
        for assignment in range(16):
            if assignment not in FORBIDDEN:
                partition = plus(partition, _weight(incoming[start : start + 4], assignment, -1), False)
        log_partition += partition
    return log_partition
