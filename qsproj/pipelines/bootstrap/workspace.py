"""Stages of a long job, each kept under a digest of what it was made from: none is made twice."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import qsproj
from qsproj.corpus.files import open_binary_output, open_output
from qsproj.corpus.partial_files import remove_stale
from qsproj.errors import UsageError

KEY_LENGTH = 16
RECORD_SUFFIX = ".json"
_STAGE_FILE = re.compile(rf"[a-z]+-[0-9a-f]{{{KEY_LENGTH}}}(\.\w+)+")
_CHUNK_BYTES = 1 << 20

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a stage says of itself.

    Attributes
    ----------
    line : str
        One line for the user.
    figures : mapping of str to float
        The numbers in it, for the report.
    """

    line: str
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stage that is done.

    Attributes
    ----------
    name : str
        What it is called in the workspace and the report.
    key : str
        Digest of all it was made from: stages of one key have the same content.
    paths : tuple of Path
        What it made.
    told : Told
    seconds : float
        Wall time of making it, in the run that made it.
    kept : bool
        Whether an earlier run made it.
    """

    name: str
    key: str
    paths: tuple[Path, ...]
    told: Told
    seconds: float
    kept: bool

    @property
    def path(self) -> str:
        """The first of its files, or the only one."""
        return str(self.paths[0])


# What a stage is made from: an earlier stage, or a file of the user's.
Input = Stage | str


class Workspace:
    """A folder of stages. Mutable; final.

    Parameters
    ----------
    folder : path
        Made where it is missing. What another run left there is used again if it was made by the same code,
        of the same inputs with the same options; all else is left alone, but for what a killed run left
        half-written.
    say : callable
        Is given a line for each stage, once it is done.

    Attributes
    ----------
    stages : list of Stage
        Those that this run asked for, in order.

    Raises
    ------
    UsageError
        When the folder cannot be made.
    """

    def __init__(self, folder: Path, *, say: Callable[[str], None] = lambda _: None) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise UsageError(f"{folder}: found a file, expected a folder, or a name that is free") from error
        except OSError as error:
            raise UsageError(f"{folder}: cannot be made: {error.strerror}") from error
        remove_stale(folder)
        self.folder = folder
        self.stages: list[Stage] = []
        self._used: set[str] = set()
        self._say = say

    def stage(
        self,
        name: str,
        make: Callable[[tuple[Path, ...]], Told],
        *,
        made_of: Sequence[Input],
        options: object = None,
        suffixes: Sequence[str] = (".model",),
        label: str = "",
    ) -> Stage:
        """Return a stage, made now or by an earlier run.

        Parameters
        ----------
        name : str
            Stages of one name are told apart by what they are made of.
        make : callable
            Writes the files it is given, each complete or not at all, and tells what it did.
        made_of : sequence of Stage or path
            All that is read.
        options
            All else that the content depends on: what JSON can hold, or a dataclass of that.
        suffixes : sequence of str
            Of the files to be made, dot included.
        label : str
            Is said after the name, where several stages have it. The content does not depend on it: a stage
            that is numbered otherwise is not made again.

        Raises
        ------
        UsageError
            When an input cannot be read. What ``make`` raises is passed on; nothing counts as done then.
        """
        key = self._key(name, made_of, options)
        paths = tuple(self.folder / f"{name}-{key}{suffix}" for suffix in suffixes)
        record = self.folder / f"{name}-{key}{RECORD_SUFFIX}"
        earlier = _read_record(record) if all(path.exists() for path in paths) else None
        if earlier is None:
            start = perf_counter()
            told = make(paths)
            seconds = perf_counter() - start
            _write_record(record, told, seconds)
        else:
            told, seconds = earlier
        done = Stage(
            name=name + label, key=key, paths=paths, told=told, seconds=seconds, kept=earlier is not None
        )
        self.stages.append(done)
        self._used.update(path.name for path in (record, *paths))
        self._say(f"{done.name}: {done.told.line} ({'kept' if done.kept else f'{done.seconds:.0f} s'})")
        return done

    def unused(self) -> list[Path]:
        """Return the files of stages that this run did not ask for, sorted; other files are none of ours."""
        return sorted(
            path
            for path in self.folder.iterdir()
            if _STAGE_FILE.fullmatch(path.name) and path.name not in self._used and path.is_file()
        )

    def remove_unused(self) -> None:
        """Remove :meth:`unused` files, the record of a stage first: without it the stage does not count.

        Raises
        ------
        UsageError
            When one cannot be removed.
        """
        for path in sorted(self.unused(), key=lambda path: path.suffix != RECORD_SUFFIX):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise UsageError(f"{path}: cannot be removed: {error.strerror}") from error

    def _key(self, name: str, made_of: Sequence[Input], options: object) -> str:
        parts = [made.key if isinstance(made, Stage) else digest_of(made) for made in made_of]
        settled = asdict(options) if is_dataclass(options) and not isinstance(options, type) else options
        text = json.dumps([name, code_digest(), parts, settled], sort_keys=True)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:KEY_LENGTH]


def digest_of(path: str) -> str:
    """Return the digest of a file's bytes.

    Raises
    ------
    UsageError
        When it cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb") as handle:
            while chunk := handle.read(_CHUNK_BYTES):
                digest.update(chunk)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    return digest.hexdigest()


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return the digest of all of qsproj's own code: what other code made is not taken for this one's."""
    package = Path(qsproj.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode("utf-8"))
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _write_record(path: Path, told: Told, seconds: float) -> None:
    record = {"line": told.line, "figures": dict(told.figures), "seconds": seconds}
    with open_output(path) as handle:
        json.dump(record, handle, indent=1, ensure_ascii=False)


def _read_record(path: Path) -> tuple[Told, float] | None:
    """Return what a stage told and how long it took; None when the record is missing or damaged."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Told(line=record["line"], figures=record["figures"]), float(record["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def copy_to(source: str, target: str) -> None:
    """Copy a file; what was there is replaced once the copy is whole.

    Raises
    ------
    UsageError
        When the copy cannot be written.
    """
    with Path(source).open("rb") as handle, open_binary_output(target) as out:
        while chunk := handle.read(_CHUNK_BYTES):
            out.write(chunk)
