"""Checks of the header and the arrays of a model file: types, ranges and shapes, with messages.

Each ``from_archive`` checks its part by :func:`checked`. Checks raise ValueError; kernels rely on them.
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from types import UnionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]
Archive = tuple[dict[str, Any], dict[str, NDArray[Any]]]  # JSON header and arrays
Check = Callable[[Any], None]

MOST_WEIGHT = 1e9  # weights are added by dozens, and their exponentials by thousands
_MOST_CELLS = 1 << 28  # numbers in a table of buckets and columns: 1 GB of them
# Keys of features, or bytes of a word list: some ten times those of the largest models.
_LONGEST = 1 << 26
_LABEL = re.compile(r"[^\t\n\r]+")


class UnreadArrays(Mapping[str, NDArray[Any]]):
    """Arrays that are read lazily, and whose shapes are known before; ``entries``: by name. Abstract."""

    entries: Mapping[str, Any]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @abstractmethod
    def declared(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return shape and type of an array without reading it."""


def declared(arrays: Arrays, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    if isinstance(arrays, UnreadArrays):
        return arrays.declared(name)
    return arrays[name].shape, arrays[name].dtype


def checked(header: Any, checks: Mapping[str, Check]) -> dict[str, Any]:
    """Return a part of a header after checking its fields; others are ignored. Raises ValueError."""
    if not isinstance(header, dict):
        raise ValueError(f"found {_kind(header)} in the header, expected an object")
    for name, check in checks.items():
        try:
            check(header.get(name))
        except ValueError as error:
            raise ValueError(f"{name} in the header: {error}") from error
    return header


def _rule(fits: Callable[[Any], bool], expected: str, *, after: Check | None = None) -> Check:
    def check(value: Any) -> None:
        if after:
            after(value)
        if not fits(value):
            raise ValueError(f"found {_kind(value)}, expected {expected}")

    return check


def number(least: float = -MOST_WEIGHT, most: float = MOST_WEIGHT) -> Check:
    expected = f"a number of {least:g} to {most:g}"
    return _rule(lambda value: _is_a(int | float, value) and least <= value <= most, expected)


def whole(least: int, most: int) -> Check:
    expected = f"an integer of {least:,} to {most:,}"
    return _rule(lambda value: _is_a(int, value) and least <= value <= most, expected)


def one_of(names: Collection[str]) -> Check:
    return _rule(lambda value: isinstance(value, str) and value in names, f"one of {', '.join(names)}")


def some_of(known: Collection[str]) -> Check:
    return _rule(lambda value: set(value) <= set(known), f"some of {', '.join(known)}", after=names)


def optional(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def labels(least: int) -> Check:
    """Return a check for a list of ``least`` or more distinct strings that a CoNLL-U column may hold."""
    what = f"at least {least} names that CoNLL-U may hold"
    return _rule(lambda value: len(value) >= least and all(map(_LABEL.fullmatch, value)), what, after=names)


def text_rows(least: int) -> Check:
    return _rule(
        lambda value: isinstance(value, list) and all(_texts(row) and len(row) >= least for row in value),
        f"lists of at least {least} strings",
    )


def _is_a(kind: type | UnionType, value: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


text = _rule(lambda value: isinstance(value, str), "a string")
flag = _rule(lambda value: isinstance(value, bool), "true or false")
names = _rule(lambda value: _texts(value) and len(set(value)) == len(value), "a list of distinct strings")
word_lists = _rule(
    lambda value: isinstance(value, dict) and all(_texts(words) and words for words in value.values()),
    "an object of lists of strings",
)
# For a part that is checked elsewhere: it only has to be there.
anything = _rule(lambda value: value is not None, "an object")
# A number of hash buckets.
buckets = _rule(lambda value: value & (value - 1) == 0, "a power of two", after=whole(1 << 6, 1 << 26))


def shaped(
    arrays: Arrays,
    name: str,
    shape: tuple[int, ...],
    *,
    kind: str = "f",
    least: float = -MOST_WEIGHT,
    most: float = MOST_WEIGHT,
) -> NDArray[Any]:
    """Return an array, checked for kernels; KeyError or ValueError when it is missing or does not fit."""
    found, dtype = declared(arrays, name)
    if found != shape or dtype.kind != kind:
        raise ValueError(f"{name} has shape {found} of {dtype}, expected {shape} of kind {kind}")
    array = arrays[name]
    if kind == "f" and array.size and not (least <= float(array.min()) and float(array.max()) <= most):
        raise ValueError(f"{name} has numbers that are not {least:g} to {most:g}")
    return array


def ascending(arrays: Arrays, name: str, dtype: type, *, least: int = 0, most: int | None = None) -> Any:
    """Return a vector of integers of a model file, each greater than the one before; raise as `shaped`."""
    array = _vector(arrays, name, np.dtype(dtype), "n")
    if not (array[1:] > array[:-1]).all():
        raise ValueError(f"{name} does not ascend")
    if len(array) and (int(array[0]) < least or (most is not None and int(array[-1]) > most)):
        raise ValueError(f"{name} is out of range")
    return array


def lines_of(arrays: Arrays, name: str) -> list[str]:
    """Return the lines of a text stored as uint8[bytes]; raise as :func:`shaped`."""
    return _vector(arrays, name, np.dtype(np.uint8), "bytes").tobytes().decode("utf-8").split("\n")


def _vector(arrays: Arrays, name: str, dtype: np.dtype[Any], axis: str) -> NDArray[Any]:
    shape, found = declared(arrays, name)
    if len(shape) != 1 or found != dtype:
        raise ValueError(f"{name} is {found}{list(shape)}, expected {dtype}[{axis}]")
    if shape[0] > _LONGEST:
        raise ValueError(f"{name} has {shape[0]:,} {axis}, expected at most {_LONGEST:,}")
    return arrays[name]


def check_cells(rows: int, columns: int) -> None:
    if rows * columns > _MOST_CELLS:
        raise ValueError(f"a table of {rows:,} by {columns:,} weights")


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    return repr(value)[:40]
