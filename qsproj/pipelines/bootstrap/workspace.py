"""Cache of the stages of a long job, each stored under a key of its inputs and options."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from qsproj.corpus.files import digest_of, remove_stale, reporting_failure, write_json
from qsproj.errors import DataError, UsageError
from qsproj.parallel import THIS_PROCESS, Workers, map_in_order

KEY_LENGTH = 16
RECORD_SUFFIX = ".json"
ANNOTATION = "annotate-"  # before the language in the name of a run of qsproj annotate
_STAGE_FILE = re.compile(rf"[a-z]+-[0-9a-f]{{{KEY_LENGTH}}}(\.\w+)+")


class InputPath(str):
    """A path of a user's file; keys depend on its content, not on its name."""

    __slots__ = ()


class StageOutput(str):
    """A path written by a stage; keys of later stages depend on the key of that stage."""

    key: str

    def __new__(cls, path: str, key: str = "") -> "StageOutput":
        made = super().__new__(cls, path)
        made.key = key
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReport:
    """Report of a stage: one line for the user, and its figures."""

    line: str
    figures: Mapping[str, Any]


# A function that writes files, each atomically: it takes their paths, and its other arguments by name.
Make = Callable[..., StageReport]


class Kind(NamedTuple):
    """A kind of stage, as :func:`stage` declares it."""

    name: str
    version: int | str
    files: tuple[str, ...]


KINDS: dict[Make, Kind] = {}
M = TypeVar("M", bound=Make)


def stage(name: str, *, version: int, files: Sequence[str] = (".model",)) -> Callable[[M], M]:
    """Declare a function as a kind of stage, with the suffixes of its ``files``.

    ``version``: increase it whenever the same arguments result in other files; a test detects this.
    """

    def declare(make: M) -> M:
        KINDS[make] = Kind(name, version, tuple(files))
        return make

    return declare


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A declared stage: a function, its arguments, and the files that it writes."""

    name: str  # name of its kind, with a label if several stages share it
    make: Make
    arguments: Mapping[str, object]  # those that affect the content, and others
    files: tuple[StageOutput, ...]
    record: Path

    @property
    def file(self) -> StageOutput:
        return self.files[0]

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(map(Path, self.files))


@dataclass(frozen=True, slots=True, kw_only=True)
class StageResult:
    """The result of a stage; before the stage is made, with an empty report."""

    name: str
    files: tuple[StageOutput, ...]
    report: StageReport = StageReport(line="", figures={})
    seconds: float = 0.0  # wall time, in the run that made it
    kept: bool = False  # whether an earlier run made it

    @property
    def time(self) -> str:
        return "kept" if self.kept else f"{self.seconds:.0f} s"

    def in_full(self) -> str:
        return f"{self.name}: {self.report.line} ({self.time})"


class Workspace:
    """A folder of stages; ``run`` names the run they belong to, by the target language. Mutable; final.

    Stages of earlier runs are reused if inputs, options and version are the same. Incomplete files of killed
    runs are removed, others left alone. Callbacks: ``say`` gets ``line_of`` each completed stage, ``begun``
    its name before it is made, ``ended`` its name and seconds afterwards. ``stages``: those of this run.
    """

    def __init__(self, folder: Path, *, run: str = "", say: Callable[[str], None] = lambda _: None) -> None:
        self._made = [one for one in (folder, *folder.parents) if not one.exists()]
        with reporting_failure(folder, "made"):
            if folder.exists() and not folder.is_dir():
                raise UsageError(f"{folder}: found a file, expected a folder, or an unused name")
            folder.mkdir(parents=True, exist_ok=True)
        remove_stale(folder)
        self.folder, self.run, self._say = folder, run, say
        self.stages = list[StageResult]()
        self._used, self._digests = set[str](), dict[str, str]()
        self.begun: Callable[[str], None] = lambda _: None
        self.ended: Callable[[str, float], None] = lambda *_: None
        self.line_of: Callable[[StageResult], str] = StageResult.in_full

    def declare(
        self,
        make: Make,
        *,
        label: str = "",
        files: Sequence[str] = (),
        aside: Mapping[str, object] | None = None,
        **arguments: object,
    ) -> Stage:
        """Return a stage of a function that is decorated by :func:`stage`.

        ``label``: appended to the name if several stages share it; not part of the key. ``files``: suffixes
        in place of those of the kind. ``aside``: arguments that do not affect the content: parallelism,
        file names in messages. ``arguments``: all that affect the content, for ``make``: paths as
        :class:`InputPath` or :class:`StageOutput`, JSON values, and dataclasses, tuples and lists of these.
        Raises UsageError when an input cannot be read.
        """
        name, version, suffixes = KINDS[make]
        settled = json.dumps([name, version, self._settled(arguments)], sort_keys=True)
        key = hashlib.sha256(settled.encode("utf-8")).hexdigest()[:KEY_LENGTH]
        start = self.folder / f"{name}-{key}"
        return Stage(
            name=name + label,
            make=make,
            arguments={**arguments, **(aside or {})},
            files=tuple(StageOutput(f"{start}{end}", f"{key}{end}") for end in files or suffixes),
            record=Path(f"{start}{RECORD_SUFFIX}"),
        )

    def state(self, stage: Stage) -> StageResult:
        """Return a stage as an earlier run made it, or an empty one; DataError for a changed file."""
        known, missing = _read_json(stage.record), StageResult(name=stage.name, files=stage.files)
        if not all(path.exists() for path in stage.paths):
            return missing
        try:
            report = StageReport(line=known["line"], figures=known["figures"])
            seconds, digests = float(known["seconds"]), [known["files"][path.name] for path in stage.paths]
        except (ValueError, KeyError, TypeError):
            return missing
        for path, digest in zip(stage.files, digests, strict=True):
            if self._digest(path) != digest:
                expected, remedy = "the unchanged output of a stage", "delete it; the stage will run again"
                raise DataError(path, None, "changed content", expected, remedy)
        return replace(missing, report=report, seconds=seconds, kept=True)

    def complete(self, *stages: Stage, workers: Workers = THIS_PROCESS) -> list[StageResult]:
        """Make the stages that no earlier run made, in parallel: none is an input of another.

        Errors of their functions are passed on, and nothing is recorded.
        """
        missing = {stage.record: stage for stage in stages if not self.state(stage).kept}
        made = dict[Path, StageResult]()
        if len(missing) > 1 and workers.several_processes:
            results = map_in_order(_make, missing.values(), workers=workers)
            for stage, result in zip(missing.values(), results, strict=True):
                self._write_record(stage, result)
                made[stage.record] = result
        return [self._complete(stage, made.get(stage.record)) for stage in stages]

    def _complete(self, stage: Stage, made: StageResult | None) -> StageResult:
        """Return a stage that was just ``made`` or is kept; else make it."""
        result = self.state(stage) if made is None else replace(made, name=stage.name)
        if result.kept:
            known = _read_json(stage.record)
            if self.run not in _runs(known):
                write_json(stage.record, known | {"runs": sorted([*_runs(known), self.run])})
        elif made is None:
            self.begun(stage.name)
            result = _make(stage)
            self._write_record(stage, result)
            self.ended(stage.name, result.seconds)
        self.stages.append(result)
        self._used.update(path.name for path in (stage.record, *stage.paths))
        self._say(self.line_of(result))
        return result

    def unused(self) -> list[Path]:
        """Return the files of this run's stages that it did not request, sorted."""
        return [path for path, others in self._left().items() if not others]

    def of_other_runs(self) -> tuple[list[Path], str]:
        """Return the files requested only by other runs, sorted, and the names of these runs for messages."""
        left = {path: others for path, others in self._left().items() if others}
        runs = sorted(set().union(*left.values()))
        names = (run if run.startswith(ANNOTATION) else f"bootstrap-{run}" for run in runs)
        return list(left), ", ".join(name.replace("-", " of ", 1) for name in names)

    def remove_if_empty(self) -> None:
        """Remove the folder, and those above it that were made with it, as long as they are empty."""
        with suppress(OSError):
            for folder in self._made:
                folder.rmdir()

    def remove_unused(self) -> None:
        """Remove :meth:`unused` files, records last, because they hold the language of the other files."""
        for path in sorted(self.unused(), key=lambda path: path.suffix == RECORD_SUFFIX):
            with reporting_failure(path, "removed"):
                path.unlink(missing_ok=True)

    def _left(self) -> dict[Path, set[str]]:
        """Return the files that this run did not request, sorted, each with the other runs that did."""
        found = dict[Path, set[str]]()
        for path in sorted(self.folder.iterdir()):
            if _STAGE_FILE.fullmatch(path.name) and path.name not in self._used and path.is_file():
                record = self.folder / f"{path.name.partition('.')[0]}{RECORD_SUFFIX}"
                found[path] = {*_runs(_read_json(record))} - {self.run}
        return found

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
        return [self._settled(part) for part in value] if isinstance(value, list | tuple) else value

    def _digest(self, path: str) -> str:
        """Return the digest of a file, cached: files must not change while the workspace is in use."""
        if path not in self._digests:
            self._digests[path] = digest_of(path)
        return self._digests[path]

    def _write_record(self, stage: Stage, result: StageResult) -> None:
        report, files = result.report, {path.name: digest_of(str(path)) for path in stage.paths}
        known = {"line": report.line, "figures": dict(report.figures), "seconds": result.seconds}
        write_json(stage.record, known | {"files": files, "runs": [self.run]})


def _make(stage: Stage) -> StageResult:
    start = perf_counter()
    report = stage.make(stage.paths, **stage.arguments)
    return StageResult(name=stage.name, files=stage.files, report=report, seconds=perf_counter() - start)


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
