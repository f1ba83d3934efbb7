"""Checks of the header and the arrays of a model file: types, ranges and shapes, told where they do not fit.

Each ``from_archive`` of a model says what its part of the header is, by :func:`checked`; a check takes a
value and raises ValueError. Kernels trust what was checked here.
"""

import math
import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]
# JSON header and arrays.
Archive = tuple[dict[str, Any], dict[str, NDArray[Any]]]
Check = Callable[[Any], None]

# Weights are added by dozens, and their exponentials by thousands.
MOST_WEIGHT = 1e9
_MOST_BUCKETS = 1 << 26
# Numbers in a table of buckets and columns: 1 GB of them.
_MOST_CELLS = 1 << 28
_LEAST_BUCKETS = 1 << 6
# Keys of features, and bytes of a list of words: some ten times those of the largest models.
_MOST_KEYS = 1 << 26
_MOST_TEXT = 1 << 26
_LABEL = re.compile(r"[^\t\n\r]+")


class UnreadArrays(Mapping[str, NDArray[Any]]):
    """Arrays of which each is read when it is asked for, and whose shapes are known before. Abstract."""

    @abstractmethod
    def declared(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return shape and type of an array without reading it."""


def declared(arrays: Arrays, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    if isinstance(arrays, UnreadArrays):
        return arrays.declared(name)
    return arrays[name].shape, arrays[name].dtype


def checked(header: Any, checks: Mapping[str, Check]) -> dict[str, Any]:
    """Return a part of a header after checking its fields; others are not looked at. Raises ValueError."""
    if not isinstance(header, dict):
        raise ValueError(f"found {_kind(header)} in the header, expected an object")
    for name, check in checks.items():
        try:
            check(header.get(name))
        except ValueError as error:
            raise ValueError(f"{name} in the header: {error}") from error
    return header


def text(value: Any) -> None:
    _check(isinstance(value, str), value, "a string")


def flag(value: Any) -> None:
    _check(isinstance(value, bool), value, "true or false")


def number(least: float = -MOST_WEIGHT, most: float = MOST_WEIGHT) -> Check:

    def check(value: Any) -> None:
        real = isinstance(value, int | float) and not isinstance(value, bool)
        _check(real and least <= value <= most, value, f"a number of {least:g} to {most:g}")

    return check


def whole(least: int, most: int) -> Check:

    def check(value: Any) -> None:
        real = isinstance(value, int) and not isinstance(value, bool)
        _check(real and least <= value <= most, value, f"an integer of {least:,} to {most:,}")

    return check


def one_of(names: Collection[str]) -> Check:

    def check(value: Any) -> None:
        _check(isinstance(value, str) and value in names, value, f"one of {', '.join(names)}")

    return check


def some_of(known: Collection[str]) -> Check:

    def check(value: Any) -> None:
        names(value)
        _check(set(value) <= set(known), value, f"some of {', '.join(known)}")

    return check


def optional(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def names(value: Any) -> None:
    _check(_texts(value) and len(set(value)) == len(value), value, "a list of distinct strings")


def labels(least: int) -> Check:
    """Return a check for a list of so many or more distinct strings, which a column of CoNLL-U may hold."""

    def check(value: Any) -> None:
        names(value)
        fits = len(value) >= least and all(_LABEL.fullmatch(name) for name in value)
        _check(fits, value, f"at least {least} names that CoNLL-U may hold")

    return check


def word_lists(value: Any) -> None:
    fits = isinstance(value, dict) and all(_texts(words) and words for words in value.values())
    _check(fits, value, "an object of lists of strings")


def text_rows(least: int) -> Check:

    def check(value: Any) -> None:
        fits = isinstance(value, list) and all(_texts(row) and len(row) >= least for row in value)
        _check(fits, value, f"lists of at least {least} strings")

    return check


def anything(value: Any) -> None:
    """Check nothing but that it is there: a part that is checked elsewhere."""
    _check(value is not None, value, "an object")


def buckets(value: Any) -> None:
    """Check that it is a number of hash buckets: a power of two."""
    whole(_LEAST_BUCKETS, _MOST_BUCKETS)(value)
    _check(value & (value - 1) == 0, value, "a power of two")


def shaped(
    arrays: Arrays,
    name: str,
    shape: tuple[int, ...],
    *,
    kind: str = "f",
    least: float = -MOST_WEIGHT,
    most: float = MOST_WEIGHT,
) -> NDArray[Any]:
    """Return an array of a model file, which kernels will trust to have this shape and these values.

    ``kind``: of numbers, as numpy's ``dtype.kind``: ``f``, ``u`` or ``i``. ``least``, ``most``: range of
    those of kind ``f``. Raises KeyError or ValueError when it is not there, or is another.
    """
    found, dtype = declared(arrays, name)
    if found != shape or dtype.kind != kind:
        raise ValueError(f"{name} has shape {found} of {dtype}, expected {shape} of kind {kind}")
    array = arrays[name]
    if kind == "f" and array.size and not (least <= float(array.min()) and float(array.max()) <= most):
        raise ValueError(f"{name} has numbers that are not {least:g} to {most:g}")
    return array


def ascending(arrays: Arrays, name: str, dtype: type, *, least: int = 0, most: int | None = None) -> Any:
    """Return a vector of integers of a model file, each greater than the one before; raise as `shaped`."""
    array = _vector(arrays, name, np.dtype(dtype), "n", most=_MOST_KEYS)
    if not (array[1:] > array[:-1]).all():
        raise ValueError(f"{name} does not ascend")
    if len(array) and (int(array[0]) < least or (most is not None and int(array[-1]) > most)):
        raise ValueError(f"{name} is out of range")
    return array


def lines_of(arrays: Arrays, name: str) -> list[str]:
    """Return the lines of a text that is stored as uint8[bytes]; raise as :func:`shaped`."""
    array = _vector(arrays, name, np.dtype(np.uint8), "bytes", most=_MOST_TEXT)
    return array.tobytes().decode("utf-8").split("\n")


def _vector(arrays: Arrays, name: str, dtype: np.dtype[Any], axis: str, *, most: int) -> NDArray[Any]:
    """Return an array of one axis and this type; it is not read where it is another, or longer."""
    shape, found = declared(arrays, name)
    if len(shape) != 1 or found != dtype:
        raise ValueError(f"{name} is {found}{list(shape)}, expected {dtype}[{axis}]")
    if shape[0] > most:
        raise ValueError(f"{name} has {shape[0]:,} {axis}, expected at most {most:,}")
    return arrays[name]


def check_cells(rows: int, columns: int) -> None:
    if math.prod((rows, columns)) > _MOST_CELLS:
        raise ValueError(f"a table of {rows:,} by {columns:,} weights")


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _check(fits: bool, value: Any, expected: str) -> None:
    if not fits:
        raise ValueError(f"found {_kind(value)}, expected {expected}")


def _kind(value: Any) -> str:
    """Say what a value of JSON is, in few words."""
    if value is None:
        return "nothing"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    return repr(value)[:40]
