"""Dirichlet pseudo-counts for word pairs that are spelt alike: names, numbers, punctuation, cognates."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit

FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FAST)
def pair_pseudo_counts(
    pair_starts, pair_targets, source_letters, source_starts, target_letters, target_starts, base, likeness
):
    """Return the pseudo-count of each word pair, float32[P].

    ``base``, plus ``likeness`` times the square of the shared prefix's part of the longer word. Other
    than identical words count as alike from three shared letters on. Letters are int32 code points, word
    v's being ``letters[starts[v]:starts[v + 1]]``. O(P) times the length of a shared prefix.
    """
    result = np.empty(pair_targets.size, np.float32)
    for e in range(pair_starts.size - 1):
        first, m = source_starts[e], source_starts[e + 1] - source_starts[e]
        for pair in range(pair_starts[e], pair_starts[e + 1]):
            f = pair_targets[pair]
            begin, n = target_starts[f], target_starts[f + 1] - target_starts[f]
            shared = 0
            while shared < min(m, n) and source_letters[first + shared] == target_letters[begin + shared]:
                shared += 1
            part = shared / max(m, n, 1)
            result[pair] = base + (likeness * part * part if part == 1.0 or shared >= 3 else 0.0)
    return result
