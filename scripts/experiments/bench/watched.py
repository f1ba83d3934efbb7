"""Measure processor time and memory of all processes of a command, between the lines that it prints."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from qsproj.errors import UsageError
from scripts.experiments.bench.sides import ONE_THREAD

EVERY_SECONDS = 0.5
_TICKS = os.sysconf("SC_CLK_TCK")


class Taken(NamedTuple):
    """Resources used between two lines: processor seconds, and peak memory in megabytes."""

    line: str
    seconds: float
    peak: float


class _Peak:
    """The most memory that all processes of a session had at a time. Mutable; final."""

    def __init__(self, session: int) -> None:
        self._session = session
        self._most = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(EVERY_SECONDS):
            self._look()

    def _look(self) -> None:
        self._most = max(self._most, sum(map(_megabytes, _processes(self._session))))

    def taken(self) -> float:
        """Return the peak since the last call, including the current value."""
        self._look()
        most, self._most = self._most, 0.0
        return most

    def end(self) -> None:
        self._ended.set()
        self._thread.join()


def watch(command: Sequence[str], *, go_on: Callable[[], bool]) -> Iterator[Taken]:
    """Run a command, and yield each line of its standard error with the resources used.

    It ends when ``go_on`` returns False after a line.

    Raises
    ------
    UsageError
        When it fails.
    """
    with subprocess.Popen(
        command,
        env=os.environ | ONE_THREAD,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        peak, before, last = _Peak(process.pid), 0.0, ""
        try:
            for last in process.stderr:
                now = sum(map(_seconds, _processes(process.pid)))
                yield Taken(last.rstrip("\n"), now - before, peak.taken())
                before = now
                if not go_on():
                    return
        finally:
            peak.end()
            process.terminate()
    if process.returncode:
        raise UsageError(f"{' '.join(command)}: {last.strip()}")


def _processes(session: int) -> Iterator[int]:
    """Yield the processes of a session: its leader and all descendants."""
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(_stat(path)[3]) == session:
                yield int(path.name)


def _seconds(process: int) -> float:
    """Return the processor time of a process and its finished children."""
    with suppress(OSError):
        return sum(map(int, _stat(Path(f"/proc/{process}"))[11:15])) / _TICKS
    return 0.0


def _megabytes(process: int) -> float:
    """Return the memory of a process; shared memory is divided by the number of processes."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def _stat(process: Path) -> list[str]:
    """Return the fields of ``/proc/PID/stat`` that follow the name."""
    return (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
