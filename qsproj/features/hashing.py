"""Stable 64-bit hashes of strings: the same on every machine, in every process."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

MOST_REMEMBERED = 1 << 19


@lru_cache(maxsize=MOST_REMEMBERED)
def stable_hash(text: str) -> int:
    """Hash ``text`` to 0..2**64 - 1 (BLAKE2b, first eight bytes). Unlike ``hash``, never salted."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
