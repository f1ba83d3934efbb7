"""Weights lie where kernels read them fast, and nothing else is changed about them."""

import numpy as np

from qsproj.models.arc.arc_scorer import CACHE_LINE, aligned_weights


def test_a_copy_starts_on_a_line_of_the_cache():
    values = np.linspace(-1.0, 1.0, 37)
    for first in range(17):
        copy = aligned_weights(values[first:])
        assert copy.ctypes.data % CACHE_LINE == 0
        assert copy.dtype == np.float32
        assert copy.tolist() == values[first:].astype(np.float32).tolist()
        assert not np.shares_memory(copy, values)
