"""Stable 64-bit hashes of strings: the same on every machine, in every process."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b

MOST_REMEMBERED = 1 << 19


@lru_cache(maxsize=MOST_REMEMBERED)
def stable_hash(text: str) -> int:
    """Hash ``text`` to 0..2**64 - 1 (BLAKE2b, first eight bytes). Unlike ``hash``, never salted."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class HashTable(dict[str, int]):
    """Remembers what ``compute`` gave for each string, and starts again when it remembers too many."""

    def __init__(self, compute: Callable[[str], int]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, text: str) -> int:
        """Compute and remember."""
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        self[text] = self._compute(text)
        return self[text]
