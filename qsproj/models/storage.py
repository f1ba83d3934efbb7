"""Model files: one zip archive of a JSON header and arrays. Versioned, without pickle, written atomically.

The same model gives the same bytes: entries have a fixed order and no time stamp. Files may come from
anywhere: entries, sizes, shapes and types are checked before memory is allocated; arrays are read lazily.
"""

import gc
import io
import json
import math
import stat
import struct
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus import messages
from qsproj.corpus.files import open_binary_output
from qsproj.errors import DataError, UsageError, WrongTypeError, unknown_name
from qsproj.models.annotation import Annotator
from qsproj.models.schema import Archive, Arrays, UnreadArrays

FORMAT = "qsproj-model"
VERSION = 2
# Numbers of an array that are packed as a sample, to see whether packing makes it smaller.
SAMPLE_NUMBERS = 1 << 14
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
# Types of the numbers in models; those of two bytes are weights, and read as four.
_NUMBERS = ("u1", "u4", "u8", "i4", "i8", "f2", "f4", "f8")
_FAULTS = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError),
    *(ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError),
)

# How a model was made, as JSON: command, version, options, counts; no dates and no folders.
Provenance = Mapping[str, Any]
Wanted = TypeVar("Wanted")


class Kind(NamedTuple):
    """A kind of model: module and name of its class, its description, and its use."""

    module: str
    name: str
    what: str
    use: str


# By name in headers: the module of its class, a subclass of Stored of the same name, as ``ArcParser``; what
# it is, and its use if that is not only to parse.
_CLASSES: dict[str, tuple[str, ...]] = {
    "arc-parser": ("arc.arc_parser", "first-order dependency parser"),
    "labelled-parser": ("labelled.labelled_parser", "first-order parser of labelled dependencies"),
    "cluster-parser": (
        "clusters.cluster_parser",
        "first-order dependency parser with hidden clusters of arcs",
    ),
    "graph-parser": ("graph.graph_parser", "second-order dependency parser"),
    "tagger": ("tagging.tagger", "part-of-speech tagger", "qsproj tag"),
    "tagging-parser": ("tagging.tagging_parser", "parser that infers tags and trees together from words"),
    "dmv": ("dmv.dmv", "dependency model with valence"),
    "qg-dmv": ("qg_dmv.qg_dmv", "quasi-synchronous dependency model with valence"),
    "converter": ("converter.converter", "converter between annotation styles", "qsproj convert -m"),
    "adapted-parser": ("converter.converter", "parser with a converter to another annotation style"),
    "joint-parser": ("joint.joint_parser", "parser of both sides of a bitext together", "qsproj biparse"),
    "enhanced-parser": ("enhanced.enhancer", "parser of trees with enhanced dependencies"),
    "text-parser": (
        "text.text_parser",
        "tagger and parser in one, from text to trees",
        "qsproj parse, qsproj tag",
    ),
    "link-chooser": ("joint.joint_alignment", "model that selects word links", "qsproj align -m"),
}
KINDS = {
    name: Kind(f"qsproj.models.{module}", name.title().replace("-", ""), what, *(use or ["qsproj parse"]))
    for name, (module, what, *use) in _CLASSES.items()
}


class Stored(Annotator, ABC):
    """A row of :data:`KINDS`; ``from_archive(header, arrays)`` inverts :meth:`to_archive`. Abstract."""

    __slots__ = ()

    @abstractmethod
    def to_archive(self) -> Archive:
        """Return JSON header and arrays."""

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        """Return the facts that ``qsproj info`` shows of a model with this header, besides its kind."""
        return {}

    def save(self, path: str | Path, *, made: Provenance | None = None) -> None:
        save_model(path, kind_of(self), *self.to_archive(), made=made)

    def loader(self, path: Path) -> Callable[[], Annotator]:
        self.save(path)
        return partial(_loaded_once, str(path))


def save_model(
    path: str | Path, kind: str, header: Mapping[str, Any], arrays: Arrays, *, made: Provenance | None = None
) -> None:
    """Write a model file, replacing an older one when complete; ``made`` is for :func:`load_made`."""
    document: dict[str, Any] = {"format": FORMAT, "version": VERSION, "kind": kind, "model": header}
    if made:
        document["made"] = dict(made)
    text = json.dumps(document, indent=1)
    with open_binary_output(path) as handle, zipfile.ZipFile(handle, "w") as archive:
        archive.writestr(_entry(HEADER_NAME, text.encode()), text)
        for name in sorted(arrays):
            array = np.ascontiguousarray(arrays[name])
            begins = array.reshape(-1)[:SAMPLE_NUMBERS].tobytes()
            with archive.open(_entry(f"{name}.npy", begins), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _entry(name: str, begins: bytes) -> zipfile.ZipInfo:
    """Return an entry, packed where that saves a third of ``begins``, its first bytes."""
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    if 3 * len(zlib.compress(begins)) < 2 * len(begins):
        entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


class ModelFile(NamedTuple):
    """An open model file: kind, header, provenance, and arrays, which are read lazily."""

    kind: str
    header: dict[str, Any]
    made: dict[str, Any]
    arrays: UnreadArrays


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
def opened_model(path: str | Path) -> Iterator[ModelFile]:
    """Open a model file; DataError for another file, and in the block for a damaged one, NaN or inf."""
    if not isinstance(path, str | Path):
        raise WrongTypeError(f"found {messages.described(path)}, expected the path of a model file")
    with reporting_damage(path):
        # A device has no end, so it is not opened.
        if not (stat.S_ISREG(mode := Path(path).stat().st_mode) or stat.S_ISDIR(mode)):
            raise DataError(str(path), None, found="a device, a pipe or a socket", expected="a model file")
        with Path(path).open("rb") as handle:
            _check_directory(handle)
            with zipfile.ZipFile(handle) as archive:
                _check_entries(archive.infolist())
                yield _model_file(str(path), archive)


def _model_file(path: str, archive: zipfile.ZipFile) -> ModelFile:
    header = _read_header(archive)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise DataError(path, None, found="another kind of archive", expected="a model written by qsproj")
    if (found := header.get("version")) != VERSION:
        remedy = "train the model again with this version of qsproj, or install the version that wrote it"
        raise DataError(path, None, f"model version {found!r}", f"version {VERSION}", remedy)
    kind, own, made = header["kind"], header["model"], header.get("made", {})
    if not isinstance(kind, str) or not isinstance(own, dict):
        raise ValueError("another header than that of a model")
    return ModelFile(kind, own, made if isinstance(made, dict) else {}, ArchivedArrays(path, archive))


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
        raise ValueError(f"{len(entries):,} entries, or two of one name")
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES >> 20:,} MB when it is unpacked")
    for entry in entries:
        if entry.flag_bits & 1:
            raise ValueError(f"{entry.filename} is encrypted")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{entry.filename} has an unknown compression")


def _read_header(archive: zipfile.ZipFile) -> Any:
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
        self.entries = {entry.filename.removesuffix(_SUFFIX): entry for entry in arrays}

    def declared(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return the shape and type that an array has once read; raise as reading it does."""
        with self._archive.open(self.entries[name]) as content:
            shape, dtype, _ = _declared(content, self.entries[name])
        return shape, np.dtype(np.float32) if dtype == np.float16 else dtype

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return an array of finite, plain numbers; raise DataError or ValueError for anything else."""
        with self._archive.open(self.entries[name]) as content:
            shape, dtype, n_bytes = _declared(content, self.entries[name])
            array: NDArray[Any] = np.ndarray(shape, dtype, buffer=bytearray(content.read(n_bytes)))
        if dtype.kind == "f" and array.size and not np.isfinite((array.min(), array.max())).all():
            found = f"NaN or infinite numbers among {name}"
            raise DataError(self._path, None, found, "finite weights", "train the model again")
        return array.astype(np.float32) if dtype == np.float16 else array


def _declared(content: IO[bytes], entry: zipfile.ZipInfo) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    if np.lib.format.read_magic(content) != (1, 0):
        raise ValueError(f"{entry.filename} is an array of another version")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(content)
    if not dtype.isnative or f"{dtype.kind}{dtype.itemsize}" not in _NUMBERS:
        raise ValueError(f"{entry.filename} holds {dtype}, not plain numbers")
    bytes_left = entry.file_size - content.tell()
    if by_columns or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != bytes_left:
        raise ValueError(f"{entry.filename} does not have its declared shape {shape}")
    return shape, dtype, bytes_left


def load_archive(path: str | Path) -> tuple[str, dict[str, Any], dict[str, NDArray[Any]]]:
    with opened_model(path) as file:
        return file.kind, file.header, dict(file.arrays)


def load_model(path: str | Path) -> Stored:
    """Load a model of any kind, named by its header; DataError for a bad file, UsageError for a new kind."""
    with opened_model(path) as file:
        if file.kind in KINDS:
            # A model of many small parts, such as a lexicon, loads three times as fast so.
            searched = gc.isenabled()
            gc.disable()
            try:
                return model_from(file.kind, file.header, file.arrays)
            finally:
                if searched:
                    gc.enable()
    raise UsageError(f"{path}: {unknown_name('kind of model', file.kind, sorted(KINDS))}")


@lru_cache(maxsize=1)
def _loaded_once(path: str) -> Any:
    return load_model(path)


def load_made(path: str | Path) -> dict[str, Any]:
    with opened_model(path) as file:
        return file.made


def model_from(kind: str, header: dict[str, Any], arrays: Arrays) -> Stored:
    """Make the model of a kind in KINDS from its header and arrays; faults are not yet DataErrors."""
    return _class_of(kind).from_archive(header, arrays)


def described(kind: str, header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a model, or of a part of one, of a kind in KINDS, as JSON."""
    facts: dict[str, Any] = _class_of(kind).described(header)
    return {"kind": kind, **facts}


def _class_of(kind: str) -> Any:
    return getattr(import_module(KINDS[kind].module), KINDS[kind].name)


def kind_of(model: object) -> str:
    if found := next((name for name in KINDS if is_of_kind(model, name)), None):
        return found
    raise UsageError(f"a model of class {type(model).__name__} cannot be stored; known: {', '.join(KINDS)}")


def is_of_kind(model: object, kind: str) -> bool:
    return (type(model).__module__, type(model).__name__) == (KINDS[kind].module, KINDS[kind].name)


def load_model_of(path: str | Path, kind: type[Wanted], *, expected: str, remedy: str) -> Wanted:
    """Load a model of one class; DataError, which says how to make one, for another."""
    model = load_model(path)
    if not isinstance(model, kind):
        raise DataError(str(path), None, f"a model of kind {kind_of(model)}", expected, remedy)
    return model
