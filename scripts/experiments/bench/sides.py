"""Run the same command with two commits, in turn, in separate processes.

Processor time of a process and its children is measured, because the machine may be shared.
"""

from __future__ import annotations

import io
import os
import statistics
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from qsproj.errors import UsageError
from scripts.experiments.harness.build import CHECKOUT
from scripts.experiments.harness.experiment import Lab

BASE = "78ddb32"
ROUNDS = 3
ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


class Spent(NamedTuple):
    """Processor time of a process in seconds, and its peak resident memory in megabytes."""

    seconds: float
    peak: float


# Commands that were modes of others.
FORMER = {
    "train-tagger": ("tag", "--train"),
    "train-biparser": ("biparse", "train"),
    "biparse": ("biparse", "parse"),
    "convert": ("styles", "convert"),
}


@dataclass(frozen=True)
class Side:
    """A commit: a folder that holds its ``qsproj/``."""

    name: str
    source: Path

    def run(self, *arguments: str | Path, environment: dict[str, str] | None = None) -> Spent:
        """Run Python with this commit's package; return the resources used.

        ``arguments`` are those of Python. Bytecode is kept, as it is where qsproj is installed.
        """
        command = [sys.executable, "-P", *map(str, arguments)]
        own = os.environ | ONE_THREAD | {"PYTHONPATH": str(self.source)} | (environment or {})
        own.pop("PYTHONDONTWRITEBYTECODE", None)
        with subprocess.Popen(
            command, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            said = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise UsageError(f"{self.name}: {' '.join(command)}: {said.strip()}")
        return Spent(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3)

    def qsproj(self, *arguments: str | Path) -> Spent:
        """Run the command line."""
        command, *rest = arguments
        return self.run("-m", "qsproj", *self._spelling(str(command)), *rest)

    def _spelling(self, command: str) -> tuple[str, ...]:
        """Return the name of a command on this side: in earlier commits, some were modes of other commands."""
        file = self.source / "qsproj" / "cli" / "train_tagger.py"
        return (command,) if file.exists() else FORMER.get(command, (command,))


def base_side(lab: Lab) -> Side:
    """Return the old side: the base commit, checked out once."""
    folder = lab.cache.folder / f"commit-{BASE}"
    if not folder.exists():
        packed = subprocess.run(
            ["git", "archive", BASE, "qsproj", "corpora"], cwd=CHECKOUT, capture_output=True, check=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder)
    return Side(BASE, folder)


@dataclass(frozen=True)
class Bench:
    """The environment in which rows are measured.

    Attributes
    ----------
    lab : Lab
    old, new : Side
    folder : Path
        For outputs; both sides read the models of the old one.
    """

    lab: Lab
    old: Side
    new: Side
    folder: Path

    def made_by_old(self, name: str, make: Callable[[Side, Path], object]) -> Path:
        """Return a file that the old side makes once."""
        path = self.old.source / name
        if not path.exists():
            unfinished = path.with_name(f"unfinished-{name}")
            make(self.old, unfinished)
            unfinished.replace(path)
        return path


@dataclass(frozen=True, kw_only=True)
class Row:
    """A figure of both sides.

    Attributes
    ----------
    what : str
    measure : callable
        From a bench and a side to the figure: seconds by default, less is better.
    shown : callable
        From the figure to a cell.
    rounds : int
        How often either side is measured, in turn.
    warm : bool
        Whether either side is measured once more before, so that its kernels are compiled.
    """

    what: str
    measure: Callable[[Bench, Side], float]
    shown: Callable[[float], str] = "{:.2f} s".format
    rounds: int = ROUNDS
    warm: bool = True

    def measured(self, bench: Bench, commit: str) -> list[str]:
        """Return the cells: both medians, the median ratio of the rounds, and the commit measured."""
        if self.warm:
            self.measure(bench, bench.old)
            self.measure(bench, bench.new)
        pairs = [(self.measure(bench, bench.old), self.measure(bench, bench.new)) for _ in range(self.rounds)]
        old, new = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = statistics.median(now / before for before, now in pairs)
        return [self.what, self.shown(old), self.shown(new), f"{ratio:.2f}", commit]


HEADER = ["what", BASE, "now", "ratio", "commit"]


def chosen(rows: Sequence[Row], names: Sequence[str] | None) -> list[Row]:
    """Return the rows whose names contain one of the given words, or all rows."""
    return [row for row in rows if names is None or any(name in row.what for name in names)]
