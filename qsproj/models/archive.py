"""Safe reading of model files: only the arrays that a model needs, within limits of size.

A file may come from anywhere. Its declared entries, sizes, shapes and types are checked before memory is
allocated; :mod:`qsproj.models.schema` checks their meaning. Arrays are read lazily.
"""

import io
import json
import math
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.messages import described
from qsproj.errors import DataError, UsageError, WrongTypeError, pluralise
from qsproj.models.schema import UnreadArrays

HEADER_NAME = "header.json"
MOST_ENTRIES = 1000
# The header of a tagger lists its contractions; the arrays of a large one are some 200 MB.
MOST_HEADER_BYTES = 1 << 25
# Lists, objects and their elements: Python takes up to a hundred bytes for each.
MOST_HEADER_VALUES = 1 << 20
MOST_BYTES = 1 << 31
# The end of an archive without a comment: number of entries, and bytes of the directory.
_END = struct.Struct("<4s6xHL4xH")
_MOST_DIRECTORY_BYTES = MOST_ENTRIES << 9
_SUFFIX = ".npy"
_ENCRYPTED = 1
_NPY_VERSION = (1, 0)
# Types of the numbers in models; those of two bytes are weights, and read as four.
_NUMBERS = ("u1", "u4", "u8", "i4", "i8", "f2", "f4", "f8")
_FAULTS = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError),
    *(ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError),
)


@contextmanager
def reporting_damage(path: str | Path) -> Iterator[None]:
    """Raise the errors of a block that reads a model file as DataError with the file's name."""
    try:
        yield
    except DataError:
        raise
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (*_FAULTS, UsageError) as error:
        reason = str(error) or type(error).__name__
        if isinstance(error, KeyError) and " " not in reason:
            reason = f"no {reason}"
        in_line = " ".join(reason.split())
        found = f"a damaged or foreign file ({in_line[:200]}{'...' if len(in_line) > 200 else ''})"
        remedy = "train it again, or copy it again"
        raise DataError(str(path), None, found, "a model written by qsproj", remedy) from error


@contextmanager
def opened_archive(path: str | Path) -> Iterator[zipfile.ZipFile]:
    """Open a model file; DataError when it is none, or when the block finds a fault."""
    if not isinstance(path, str | Path):
        raise WrongTypeError(f"found {described(path)}, expected the path of a model file")
    with reporting_damage(path):
        # A device has no end, so it is not opened.
        if not (stat.S_ISREG(mode := Path(path).stat().st_mode) or stat.S_ISDIR(mode)):
            raise DataError(str(path), None, found="a device, a pipe or a socket", expected="a model file")
        with Path(path).open("rb") as handle:
            _check_directory(handle)
            with zipfile.ZipFile(handle) as archive:
                _check_entries(archive.infolist())
                yield archive


def _check_directory(handle: BinaryIO) -> None:
    handle.seek(max(handle.seek(0, io.SEEK_END) - _END.size, 0))
    end = handle.read(_END.size)
    if len(end) < _END.size or end[:4] != b"PK\5\6":
        raise zipfile.BadZipFile("File is not a zip file")
    _, entries, length, _ = _END.unpack(end)
    if entries > MOST_ENTRIES or length > _MOST_DIRECTORY_BYTES:
        raise ValueError(f"{entries:,} entries, expected at most {MOST_ENTRIES:,}")


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MOST_ENTRIES or len({entry.filename for entry in entries}) < len(entries):
        count = pluralise(len(entries), "entry").replace("entrys", "entries")
        raise ValueError(f"{count}, or two of one name")
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES >> 20:,} MB when it is unpacked")
    for entry in entries:
        if entry.flag_bits & _ENCRYPTED:
            raise ValueError(f"{entry.filename} is encrypted")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{entry.filename} has an unknown compression")


def read_header(archive: zipfile.ZipFile) -> Any:
    entry = archive.getinfo(HEADER_NAME)
    if entry.file_size > MOST_HEADER_BYTES:
        raise ValueError(f"a header of more than {MOST_HEADER_BYTES >> 20} MB")
    content = archive.read(entry)
    if sum(map(content.count, (b",", b"[", b"{"))) > MOST_HEADER_VALUES:
        raise ValueError(f"a header of more than {MOST_HEADER_VALUES:,} values")
    return json.loads(content, parse_constant=_no_number)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} in the header")


class ArchivedArrays(UnreadArrays):
    """The arrays of an open model file by name, read lazily. Final."""

    def __init__(self, path: str, archive: zipfile.ZipFile) -> None:
        self._path, self._archive = path, archive
        arrays = (entry for entry in archive.infolist() if entry.filename.endswith(_SUFFIX))
        self._entries = {entry.filename.removesuffix(_SUFFIX): entry for entry in arrays}

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def declared(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return the shape and type that an array has once read; raise as reading it does."""
        with self._archive.open(self._entries[name]) as content:
            shape, dtype, _ = _declared(content, self._entries[name])
        return shape, np.dtype(np.float32) if dtype == np.float16 else dtype

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return an array of finite, plain numbers; raise DataError or ValueError for anything else."""
        with self._archive.open(self._entries[name]) as content:
            shape, dtype, n_bytes = _declared(content, self._entries[name])
            array: NDArray[Any] = np.ndarray(shape, dtype, buffer=bytearray(content.read(n_bytes)))
        if dtype.kind == "f" and array.size and not np.isfinite((array.min(), array.max())).all():
            found = f"NaN or infinite numbers among {name}"
            raise DataError(self._path, None, found, "finite weights", "train the model again")
        return array.astype(np.float32) if dtype == np.float16 else array


def _declared(content: IO[bytes], entry: zipfile.ZipInfo) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    if np.lib.format.read_magic(content) != _NPY_VERSION:
        raise ValueError(f"{entry.filename} is an array of another version")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(content)
    if not dtype.isnative or f"{dtype.kind}{dtype.itemsize}" not in _NUMBERS:
        raise ValueError(f"{entry.filename} holds {dtype}, not plain numbers")
    bytes_left = entry.file_size - content.tell()
    if by_columns or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != bytes_left:
        raise ValueError(f"{entry.filename} does not have its declared shape {shape}")
    return shape, dtype, bytes_left
