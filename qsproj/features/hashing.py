"""Features as numbers: hashes of strings, the same on every machine, and places without collisions."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.tagging.tag_features import fill_table, find_rows

MOST_REMEMBERED = 1 << 19


@lru_cache(maxsize=MOST_REMEMBERED)
def stable_hash(text: str) -> int:
    """Hash ``text`` to 0..2**64 - 1 (BLAKE2b, first eight bytes). Unlike ``hash``, never salted."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class FeatureIndex:
    """The features that training saw, as rows 0..R-1: an open-addressing table of 64-bit keys."""

    def __init__(self, keys: NDArray[np.uint64]) -> None:
        self.keys = keys
        # Twice to four times as many slots as keys: a look-up then takes one or two steps.
        n_slots = 1 << (2 * max(len(keys), 1)).bit_length()
        self._slots = np.zeros(n_slots, dtype=np.uint64)
        self._rows = np.zeros(n_slots, dtype=np.int32)
        fill_table(keys, self._slots, self._rows)

    def rows(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the row of each key, int32[n, K]; -1 for one that training did not see."""
        found = np.empty(keys.shape, dtype=np.int32)
        find_rows(keys, self._slots, self._rows, found)
        return found
