"""Model files: one zip archive of a JSON header and arrays. Versioned, without pickle, written atomically.

The same model gives the same bytes: entries have a fixed order and no time stamp.
"""

import gc
import json
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.files import open_binary_output
from qsproj.errors import DataError, UsageError, unknown_name
from qsproj.models.annotation import Annotator
from qsproj.models.archive import HEADER_NAME, ArchivedArrays, opened_archive, read_header
from qsproj.models.schema import Archive, Arrays, UnreadArrays

FORMAT = "qsproj-model"
VERSION = 2
EPOCH = (1980, 1, 1, 0, 0, 0)
# Numbers of an array that are packed as a sample, to see whether packing makes it smaller.
SAMPLE_NUMBERS = 1 << 14

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
    entry = zipfile.ZipInfo(name, EPOCH)
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
def opened_model(path: str | Path) -> Iterator[ModelFile]:
    """Open a model file; DataError for another file, and in the block for a damaged one, NaN or inf."""
    with opened_archive(path) as archive:
        header = read_header(archive)
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise DataError(str(path), None, "another kind of archive", expected="a model written by qsproj")
        if (found := header.get("version")) != VERSION:
            remedy = "train the model again with this version of qsproj, or install the version that wrote it"
            raise DataError(str(path), None, f"model version {found!r}", f"version {VERSION}", remedy)
        kind, own, made = header["kind"], header["model"], header.get("made", {})
        if not isinstance(kind, str) or not isinstance(own, dict):
            raise ValueError("another header than that of a model")
        yield ModelFile(kind, own, made if isinstance(made, dict) else {}, ArchivedArrays(str(path), archive))


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
    home = (type(model).__module__, type(model).__name__)
    for name, kind in KINDS.items():
        if (kind.module, kind.name) == home:
            return name
    raise UsageError(f"a model of class {home[1]} cannot be stored; known: {', '.join(KINDS)}")


def is_of_kind(model: object, kind: str) -> bool:
    return (type(model).__module__, type(model).__name__) == (KINDS[kind].module, KINDS[kind].name)


def load_model_of(path: str | Path, kind: type[Wanted], *, expected: str, remedy: str) -> Wanted:
    """Load a model of one class; DataError, which says how to make one, for another."""
    model = load_model(path)
    if not isinstance(model, kind):
        found = f"a model of kind {kind_of(model)}"
        raise DataError(str(path), None, found=found, expected=expected, remedy=remedy)
    return model
