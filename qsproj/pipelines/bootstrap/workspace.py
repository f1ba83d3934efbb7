"""Cache of the stages of a long job, each stored under a key of its inputs and options."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from qsproj.corpus.files import open_binary_output, open_output, remove_stale
from qsproj.errors import DataError, UsageError
from qsproj.parallel import Workers, map_in_order

KEY_LENGTH = 16
RECORD_SUFFIX = ".json"
_STAGE_FILE = re.compile(rf"[a-z]+-[0-9a-f]{{{KEY_LENGTH}}}(\.\w+)+")

Figures = Mapping[str, Any]


class InputPath(str):
    """A path of a user's file; keys depend on its content, not on its name."""

    __slots__ = ()


class StageOutput(str):
    """A path written by a stage; keys of later stages depend on the key of that stage."""

    key: str

    def __new__(cls, path: str, key: str = "") -> StageOutput:
        made = super().__new__(cls, path)
        made.key = key
        return made

    def __reduce__(self) -> tuple[type[StageOutput], tuple[str, str]]:
        """Pickle the path together with its key."""
        return StageOutput, (str(self), self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReport:
    """Report of a stage: one line for the user, and its figures."""

    line: str
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A kind of stage."""

    name: str  # in the workspace and the report
    # takes the paths to write, each atomically, and the stage's arguments by name
    make: Callable[..., StageReport]
    # to be raised whenever the same arguments make other files, so that kept ones are no longer used
    version: int
    files: tuple[str, ...] = (".model",)  # suffixes of its files, dot included


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A completed stage."""

    name: str  # name of its recipe, with a label if several stages share it
    files: tuple[StageOutput, ...]
    told: StageReport
    seconds: float  # wall time, in the run that made it
    kept: bool  # whether an earlier run made it

    @property
    def file(self) -> StageOutput:
        return self.files[0]

    @property
    def time(self) -> str:
        return "kept" if self.kept else f"{self.seconds:.0f} s"

    def in_full(self) -> str:
        """Return the log line with the full report of the stage."""
        return f"{self.name}: {self.told.line} ({self.time})"


_NOT_MADE = StageReport(line="", figures={})


class Workspace:
    """A folder of stages; ``run`` names the target language they belong to. Mutable; final.

    Stages of earlier runs are reused if inputs, options and version are the same. Other files are left alone,
    except incomplete files of killed runs, which are removed. Callbacks: ``say`` receives the line that
    ``line_of`` returns for each completed stage, unless None; ``begun`` the name of each stage before it is
    made; ``ended`` its name and seconds afterwards. ``stages``: those requested by this run, in order.
    """

    def __init__(self, folder: Path, *, run: str = "", say: Callable[[str], None] = lambda _: None) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise UsageError(f"{folder}: found a file, expected a folder, or a name that is free") from error
        except OSError as error:
            raise UsageError(f"{folder}: cannot be made: {error.strerror}") from error
        remove_stale(folder)
        self.folder = folder
        self.stages: list[Stage] = []
        self.run = run
        self._used: set[str] = set()
        self._made_at_once: set[str] = set()
        self._digests: dict[str, str] = {}
        self._say = say
        self.begun: Callable[[str], None] = lambda _: None
        self.ended: Callable[[str, float], None] = lambda *_: None
        self.line_of: Callable[[Stage], str | None] = Stage.in_full
        self._planning = False

    def stage(
        self,
        recipe: Recipe,
        *,
        label: str = "",
        files: Sequence[str] = (),
        aside: Mapping[str, object] | None = None,
        **arguments: object,
    ) -> Stage:
        """Return a stage, made now or by an earlier run.

        ``label``: appended to the name if several stages share it; not part of the key. ``files``: suffixes
        in place of those of the recipe. ``aside``: arguments that do not affect the content: parallelism,
        file names in messages. ``arguments``: all that affect the content, for ``recipe.make``: paths as
        :class:`InputPath` or :class:`StageOutput`, JSON values, and dataclasses, tuples and lists of these.

        Raises UsageError when an input cannot be read, DataError when a kept file was changed. Errors of
        ``make`` are passed on, and nothing is recorded.
        """
        key, record, paths = self._place(recipe, arguments, files)
        earlier = self._read_record(record, paths)
        name = recipe.name + label
        if earlier is not None:
            told, seconds = earlier
        elif self._planning:
            told, seconds = _NOT_MADE, 0.0
        else:
            self.begun(name)
            told, seconds = _make(recipe, (paths, {**arguments, **(aside or {})}))
            self._write_record(record, paths, told, seconds)
            self.ended(name, seconds)
        made = tuple(
            StageOutput(str(path), f"{key}{path.name.removeprefix(f'{recipe.name}-{key}')}") for path in paths
        )
        kept = earlier is not None and record.name not in self._made_at_once
        done = Stage(name=name, files=made, told=told, seconds=seconds, kept=kept)
        self.stages.append(done)
        self._used.update(path.name for path in (record, *paths))
        if not self._planning and (line := self.line_of(done)) is not None:
            self._say(line)
        return done

    def stages_at_once(
        self,
        recipe: Recipe,
        each: Sequence[Mapping[str, Any]],
        *,
        labels: Sequence[str],
        workers: Workers,
        files: Sequence[str] = (),
    ) -> list[Stage]:
        """Return a stage for each set of arguments; missing ones are made in parallel."""
        missing = {}
        for arguments in each:
            _, record, paths = self._place(recipe, arguments, files)
            if self._read_record(record, paths) is None:
                missing[record] = paths, arguments
        if len(missing) > 1 and workers.several_processes and not self._planning:
            made = map_in_order(partial(_make, recipe), missing.values(), workers=workers)
            for (record, (paths, _)), (told, seconds) in zip(missing.items(), made, strict=True):
                self._write_record(record, paths, told, seconds)
                self._made_at_once.add(record.name)
        return [
            self.stage(recipe, label=label, files=files, **arguments)
            for arguments, label in zip(each, labels, strict=True)
        ]

    def _place(
        self, recipe: Recipe, arguments: Mapping[str, object], files: Sequence[str] = ()
    ) -> tuple[str, Path, tuple[Path, ...]]:
        """Return the key of a stage, its record and its files."""
        settled = json.dumps([recipe.name, recipe.version, self._settled(arguments)], sort_keys=True)
        key = hashlib.sha256(settled.encode("utf-8")).hexdigest()[:KEY_LENGTH]
        start = self.folder / f"{recipe.name}-{key}"
        paths = tuple(Path(f"{start}{suffix}") for suffix in files or recipe.files)
        return key, Path(f"{start}{RECORD_SUFFIX}"), paths

    def plan(self, job: Callable[[], object]) -> list[Stage]:
        """Return the stages that a job requests, with whether each is kept, without making any."""
        before = self.stages, self._used
        self.stages, self._used, self._planning = [], set(), True
        try:
            job()
            return self.stages
        finally:
            self.stages, self._used = before
            self._planning = False

    def unused(self) -> list[Path]:
        """Return the files of this language's stages that this run did not request, sorted."""
        return [path for path in self._left() if not self._runs_of(path) - {self.run}]

    def of_other_runs(self) -> dict[str, list[Path]]:
        """Return the files requested only by runs of other languages, sorted, by these languages."""
        found: dict[str, list[Path]] = {}
        for path in self._left():
            others = self._runs_of(path) - {self.run}
            if others:
                found.setdefault(" ".join(sorted(others)), []).append(path)
        return found

    def remove_unused(self) -> None:
        """Remove :meth:`unused` files, records last, because they hold the language of the other files."""
        for path in sorted(self.unused(), key=lambda path: path.suffix == RECORD_SUFFIX):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise UsageError(f"{path}: cannot be removed: {error.strerror}") from error

    def _left(self) -> list[Path]:
        return sorted(
            path
            for path in self.folder.iterdir()
            if _STAGE_FILE.fullmatch(path.name) and path.name not in self._used and path.is_file()
        )

    def _runs_of(self, path: Path) -> set[str]:
        """Return the languages whose runs requested the stage of a file."""
        record = self.folder / f"{path.name.partition('.')[0]}{RECORD_SUFFIX}"
        return set(_runs(_read_json(record)))

    def _settled(self, value: Any) -> object:
        """Return the part of an argument that the content depends on, as a JSON value."""
        if isinstance(value, StageOutput):
            return value.key
        if isinstance(value, InputPath):
            return self._digest(value)
        if is_dataclass(value) and not isinstance(value, type):
            return {field.name: self._settled(getattr(value, field.name)) for field in fields(value)}
        if isinstance(value, Mapping):
            return {name: self._settled(part) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [self._settled(part) for part in value]
        return value

    def _digest(self, path: str) -> str:
        """Return the digest of a file, cached: files must not change while the workspace is in use."""
        if path not in self._digests:
            self._digests[path] = digest_of(path)
        return self._digests[path]

    def _write_record(self, record: Path, paths: Sequence[Path], told: StageReport, seconds: float) -> None:
        known = {
            "line": told.line,
            "figures": dict(told.figures),
            "seconds": seconds,
            "files": {path.name: digest_of(str(path)) for path in paths},
            "runs": [self.run],
        }
        _write_json(record, known)

    def _read_record(self, record: Path, paths: Sequence[Path]) -> tuple[StageReport, float] | None:
        """Return report and seconds of a kept stage, None if missing; DataError if a file was changed."""
        known = _read_json(record)
        if not all(path.exists() for path in paths):
            return None
        try:
            told = StageReport(line=known["line"], figures=known["figures"])
            seconds, files = float(known["seconds"]), [known["files"][path.name] for path in paths]
        except (ValueError, KeyError, TypeError):
            return None
        for path, digest in zip(paths, files, strict=True):
            if self._digest(str(path)) != digest:
                raise DataError(
                    str(path),
                    None,
                    found="another content than was written there",
                    expected="the file of a stage as it was made",
                    remedy="delete it, and it is made again",
                )
        if self.run not in _runs(known) and not self._planning:
            _write_json(record, known | {"runs": sorted([*_runs(known), self.run])})
        return told, seconds


def _make(recipe: Recipe, given: tuple[Sequence[Path], Mapping[str, object]]) -> tuple[StageReport, float]:
    """Make a stage; return its report and seconds."""
    paths, arguments = given
    start = perf_counter()
    return recipe.make(paths, **arguments), perf_counter() - start


def _write_json(path: Path, record: Mapping[str, Any]) -> None:
    with open_output(path) as handle:
        json.dump(record, handle, indent=1, ensure_ascii=False)


def _read_json(path: Path) -> dict[str, Any]:
    """Return the content of a record; empty when it is missing or damaged."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _runs(record: Mapping[str, Any]) -> list[str]:
    runs = record.get("runs")
    return [str(run) for run in runs] if isinstance(runs, list) else []


def digest_of(path: str) -> str:
    try:
        with Path(path).open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error


def copy_to(source: str, target: str) -> None:
    """Copy a file, replacing the target atomically."""
    with Path(source).open("rb") as handle, open_binary_output(target) as out:
        shutil.copyfileobj(handle, out)
