"""Weights of hashed features, and how a model keeps them in its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from qsproj.features.arc_templates import TEMPLATE_SETS
from qsproj.models.packing import packed_weights, unpack_weights
from qsproj.models.schema import buckets, checked, one_of

HASH_BITS = 22
CACHE_LINE = 64


def zero_weights(buckets: int) -> NDArray[np.float32]:
    """Return zeros float32[buckets] that start on a line of the cache, as blocks of 16 buckets should."""
    room = np.zeros(buckets + CACHE_LINE // 4, dtype=np.float32)
    first = -room.ctypes.data % CACHE_LINE // 4
    return room[first : first + buckets]


def aligned_weights(values: NDArray[Any]) -> NDArray[np.float32]:
    """Return a copy float32[buckets] of weights that starts on a line of the cache."""
    weights = zero_weights(len(values))
    weights[:] = values
    return weights


@dataclass(frozen=True)
class HashedWeights:
    """A linear model over the features of a set of templates. Abstract.

    ``template_set``: its name in ``features.arc_templates.TEMPLATE_SETS``, where all sets have the same
    names. ``weights`` float32[buckets]: one for each hash bucket, a power of two of them, zero where no
    feature exists. Single precision halves the memory that scoring reads at random, where it spends its time;
    sums are double. ``prefix``: how the names of its arrays begin in a model file.
    """

    template_set: str
    weights: NDArray[np.float32]
    prefix: ClassVar[str]

    @classmethod
    def untrained(cls, template_set: str, *, hash_bits: int = HASH_BITS) -> Self:
        """Return a model whose weights are all zero."""
        return cls(template_set, zero_weights(1 << hash_bits))

    def to_archive(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return header and arrays; only weights that are not zero are kept."""
        header = {"template_set": self.template_set, "buckets": len(self.weights)}
        return header, packed_weights(self.prefix, self.weights)

    @classmethod
    def from_archive(cls, header: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild what :meth:`to_archive` gave."""
        checked(header, {"template_set": one_of(TEMPLATE_SETS), "buckets": buckets})
        weights = unpack_weights(cls.prefix, arrays, zero_weights(header["buckets"]))
        return cls(header["template_set"], weights)
