"""Arrays in model files: names of parts by prefix, weights without their zeros."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Weights
from qsproj.models.schema import Archive, Arrays, UnreadArrays, declared, shaped


def nested(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Return the arrays of a part of a model, with ``prefix`` before each name."""
    return {prefix + name: array for name, array in arrays.items()}


def unnested(prefix: str, arrays: Arrays) -> Arrays:
    """Undo :func:`nested`: return the arrays under ``prefix`` by their own names, unread."""
    return _Part(prefix, arrays)


def joined(parts: Mapping[str, tuple[str, Any]]) -> Archive:
    """Return headers and arrays of parts: by name, a prefix and an object with ``to_archive``, or None."""
    header: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for name, (prefix, part) in parts.items():
        header[name], own = (None, {}) if part is None else part.to_archive()
        arrays |= nested(prefix, own)
    return header, arrays


class _Part(UnreadArrays):
    def __init__(self, prefix: str, arrays: Arrays) -> None:
        self._arrays = arrays
        self.entries = {name.removeprefix(prefix): name for name in arrays if name.startswith(prefix)}

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[self.entries[name]]

    def declared(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        return declared(self._arrays, self.entries[name])


def in_half_the_bytes(weights: Weights) -> Weights:
    """Return weights rounded to eleven bits, which a file stores exactly in two bytes each."""
    return weights.astype(np.float16).astype(np.float32)


def packed_weights(name: str, weights: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return the nonzero weights, and a bit for each weight, set if it is nonzero, for a model file."""
    used = weights != 0.0
    return {f"{name}used": np.packbits(used), f"{name}weights": weights[used]}


def unpack_weights(name: str, arrays: Arrays, weights: NDArray[Any]) -> NDArray[Any]:
    """Fill zeros with the weights that :func:`packed_weights` stored; KeyError, ValueError if unfit."""
    bits = shaped(arrays, f"{name}used", (-(-weights.size // 8),), kind="u")
    if bits.dtype != np.uint8:
        raise ValueError(f"{name}used is {bits.dtype}, expected uint8")
    used = np.unpackbits(bits, count=weights.size).view(np.bool_).reshape(weights.shape)
    weights[used] = shaped(arrays, f"{name}weights", (int(np.count_nonzero(used)),))
    return weights
