"""A command that SIGTERM tells to end, at a time drawn from a seed: it stops, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import TextIO

from qsproj import interrupts, parallel
from qsproj.cli import main as command_line
from tests.fuzzing.commands import Job
from tests.fuzzing.judge import BEFORE, not_whole

TERMINATED = 128 + signal.SIGTERM
# From the first moment to longer than the shortest commands take, in seconds of processor time: so a busy
# machine stops them where an idle one does. Where other processes compute, so many times as long at most.
LONGEST = 4.0
PATIENCE = 5.0
# So long may processes that compute for a command outlive it.
AFTERWARDS = 5.0


def faults_when_stopped(
    job: Job, seed: str, inputs: dict[str, Path], *, longest: float | None = None
) -> list[str]:
    """Run a job on undamaged inputs, have SIGTERM come, and return what was wrong."""
    seconds = (LONGEST if longest is None else longest) * Random(seed).random() ** 2
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        outputs = [folder / name for name in job.outputs()]
        for output in outputs:
            output.write_bytes(BEFORE)
        words = job.words(inputs, folder)
        process, code, said = _stopped(words, seconds)
        if code in (0, 2) and not job.endless:  # done before
            return []
        faults = [] if code == TERMINATED else [f"exit code {code} after {seconds:.2f} s: {said[-500:]}"]
        if not said.endswith(": terminated\n"):
            faults.append(f"said: {said[-500:]}")
        for output in outputs:
            # Of several outputs the first may have been in its place.
            if output.read_bytes() != BEFORE:
                faults += [f"{output.name}: {fault}" for fault in not_whole(output, words[0])]
        left = {path for path in folder.iterdir()} - set(outputs)
        faults += [f"{path.name} was left" for path in left if path.name.endswith(".partial")]
        return faults + [f"a process was left: {command[:200]}" for command in _left(process)]


def _stopped(words: list[str], seconds: float) -> tuple[int, int, str]:
    """Run a command in a process that SIGTERM comes to; return the process, its exit code, and what it said.

    The process is a copy of this one, which has imported much, so that it begins soon. What numba was at when
    the signal came is left half done in the copy alone.
    """
    with tempfile.TemporaryFile() as said:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads, of which the copy has none
            process = os.fork()
        if process == 0:
            code = 1
            try:
                os.setsid()
                with os.fdopen(said.fileno(), "w", encoding="utf-8", closefd=False) as stderr:
                    code = _told_to_end(words, seconds, stderr)
            finally:
                os._exit(code)
        _, status = os.waitpid(process, 0)
        said.seek(0)
        return process, os.waitstatus_to_exitcode(status), said.read().decode("utf-8")


def _told_to_end(words: list[str], seconds: float, stderr: TextIO) -> int:
    """Do what ``python -m qsproj`` does, in this process, and have it told to end."""
    parallel._STARTED.clear()  # those of the process that this one is a copy of
    done = Event()
    sys.stdout, sys.stderr = io.StringIO(), stderr
    interrupts.raise_stopped()
    Thread(target=_tell, args=(seconds, done), daemon=True).start()
    try:
        code = command_line.main(words)
    except KeyboardInterrupt:
        code = 0  # it came after the command was done
    except BaseException:
        if interrupts.was_interrupted():  # C code made another error of the signal
            word, code = interrupts.exit_status()
            print(f"qsproj: {word}", file=stderr)
        else:
            traceback.print_exc(file=stderr)
            code = 1
    interrupts.ignore()
    done.set()
    parallel.stop_processes()
    return code


def _tell(seconds: float, done: Event) -> None:
    """Tell this process to end, once it has computed for some time."""
    computed, begun = time.process_time(), time.monotonic()
    while time.process_time() - computed < seconds and time.monotonic() - begun < PATIENCE * seconds:
        if done.wait(0.01):
            return
    os.kill(os.getpid(), signal.SIGTERM)


def _left(session: int) -> list[str]:
    """Return the commands of processes that a stopped one has left behind."""
    end = time.monotonic() + AFTERWARDS
    while (commands := list(_commands(session))) and time.monotonic() < end:
        time.sleep(0.05)
    return commands


def _commands(session: int) -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, _, its = (path / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[:4]
            if int(its) == session and state != "Z":
                yield (path / "cmdline").read_text(encoding="utf-8").replace("\0", " ")
