"""Stored figures and models, each with its build, options and data.

The key of an entry is a hash of the build, the options and the content of the input files. If any of these changes, the
figure is measured again and the old one is kept, so a table never mixes builds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from qsproj.errors import UsageError
from scripts.experiments.harness.build import DIGITS, Build, hash_of, this_build

CHUNK = 1 << 20


class Source(TypedDict, total=False):
    """Inputs that figures depend on besides the code: arguments of :meth:`Cache.figures` and :meth:`Cache.file`."""

    options: Mapping[str, Any]
    data: Iterable[Path]
    experiment: Path


@dataclass(frozen=True)
class Cache:
    """A folder of entries, and the commits of the entries used.

    Attributes
    ----------
    folder : Path
        ``KEY/NAME.json`` holds figures, ``KEY/NAME`` a file that was made; either says where it comes from.
    experiment : Path
        The file that measures, unless a caller names another.
    commits : set of str
        Of the entries that were used or made through this object.
    """

    folder: Path
    experiment: Path
    commits: set[str] = field(default_factory=set)

    def figures(
        self,
        name: str,
        measure: Callable[[], Any],
        *,
        options: Mapping[str, Any] | None = None,
        data: Iterable[Path] = (),
        experiment: Path | None = None,
    ) -> Any:
        """Return the result of ``measure`` as JSON, measured now or stored.

        ``options`` are what it depends on beside the code, ``data`` the files that it reads.
        """
        source = self._source(name, options, data, experiment)
        path = self._folder(source) / f"{file_name(name)}.json"
        if not path.exists():
            found = measure()
            check_source(source, experiment or self.experiment)
            write_json(path, {**source, "figures": found})
        kept = json.loads(path.read_text(encoding="utf-8"))
        self.commits.add(kept["build"]["commit"])
        return kept["figures"]

    def kept(
        self,
        name: str,
        *,
        options: Mapping[str, Any] | None = None,
        data: Iterable[Path] = (),
        experiment: Path | None = None,
    ) -> Any | None:
        """Return the stored figures, or None."""
        source = self._source(name, options, data, experiment)
        path = self._folder(source) / f"{file_name(name)}.json"
        return (
            None
            if not path.exists()
            else self.figures(name, dict, options=options, data=data, experiment=experiment)
        )

    def unfinished(
        self,
        name: str,
        *,
        options: Mapping[str, Any] | None = None,
        data: Iterable[Path] = (),
        experiment: Path | None = None,
    ) -> Path:
        """Return the path of a folder for unfinished work with the same code, options and data."""
        return self._folder(self._source(name, options, data, experiment)) / file_name(name)

    def file(
        self,
        name: str,
        make: Callable[[Path], Any],
        *,
        options: Mapping[str, Any] | None = None,
        data: Iterable[Path] = (),
        experiment: Path | None = None,
    ) -> Path:
        """Return the path of a file that ``make`` writes; its return value is stored as well (see :meth:`said`)."""
        source = self._source(name, options, data, experiment)
        path = self._folder(source) / file_name(name)
        if not beside(path).exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            start = time.process_time()
            unfinished = path.with_name(f"unfinished-{path.name}")
            said = make(unfinished)
            check_source(source, experiment or self.experiment)
            unfinished.replace(path)
            write_json(beside(path), {**source, "seconds": time.process_time() - start, "said": said})
        self.commits.add(json.loads(beside(path).read_text(encoding="utf-8"))["build"]["commit"])
        return path

    def _source(
        self, name: str, options: Mapping[str, Any] | None, data: Iterable[Path], experiment: Path | None
    ) -> dict[str, Any]:
        """Say where an entry comes from."""
        return {
            "name": name,
            "build": this_build(experiment or self.experiment).as_json(),
            "options": dict(options or {}),
            "data": {path.name: content_hash(path) for path in data},
        }

    def _folder(self, source: Mapping[str, Any]) -> Path:
        build = Build(**source["build"])
        key = json.dumps([build.identity, source["options"], source["data"]], sort_keys=True)
        return self.folder / hash_of([key.encode()])[:DIGITS]


def check_source(source: Mapping[str, Any], experiment: Path) -> None:
    """Raise an error if the code changed during a measurement, because its build is then unknown."""
    if this_build(experiment).code != source["build"]["code"]:
        raise UsageError(f"{source['name']}: found other code than when the run began; run it again")


def said(path: Path) -> Any:
    """Return the stored return value of the function that made a file."""
    return json.loads(beside(path).read_text(encoding="utf-8"))["said"]


def beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.source.json")


def file_name(name: str) -> str:
    return name.replace("/", "-").replace(" ", "-")


def write_json(path: Path, value: Any) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"unfinished-{path.name}")
    unfinished.write_text(json.dumps(value, indent=1), encoding="utf-8")
    unfinished.replace(path)


def content_hash(path: Path) -> str:
    """Return the beginning of the SHA-256 of a file's content."""
    state = path.stat()
    return _content_hash(path, state.st_mtime_ns, state.st_size)


@cache
def _content_hash(path: Path, changed: int, size: int) -> str:
    with path.open("rb") as content:
        return hash_of(iter(lambda: content.read(CHUNK), b""))[:DIGITS]
