"""A command that SIGTERM tells to end, at a time drawn from a seed: it stops, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import tempfile
from pathlib import Path
from random import Random
from threading import Timer

from qsproj import interrupts
from qsproj.cli import main as command_line
from tests.fuzzing.commands import Job
from tests.fuzzing.judge import BEFORE, not_whole

TERMINATED = 128 + signal.SIGTERM
# From the first moment to longer than the shortest commands take.
LONGEST = 4.0


def faults_when_stopped(job: Job, seed: str, inputs: dict[str, Path]) -> list[str]:
    """Run a job on undamaged inputs, have SIGTERM come, and return what was wrong."""
    seconds = LONGEST * Random(seed).random() ** 2
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        outputs = [folder / name for name in job.outputs()]
        for output in outputs:
            output.write_bytes(BEFORE)
        others = _workers()
        words = job.words(inputs, folder)
        code, said = _stopped(words, seconds)
        if code in (0, 2):  # done before
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
        remaining = [command for number, command in _workers().items() if number not in others]
        return faults + [f"a process was left: {command[:200]}" for command in remaining]


def _workers() -> dict[str, str]:
    """Return the commands of processes that compute for this one by number; a stopped run adds none."""
    commands = {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((path / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
            command = (path / "cmdline").read_text(encoding="utf-8").replace("\0", " ")
            if parent == os.getpid() and "popen_loky" in command:
                commands[path.name] = command
    return commands


def _stopped(words: list[str], seconds: float) -> tuple[int, str]:
    """Return the exit code of a command that is told to end after some time, and what it said."""
    handlers = {number: signal.getsignal(number) for number in (*interrupts.ENDING, signal.SIGALRM)}
    timer = Timer(seconds, os.kill, (os.getpid(), signal.SIGTERM))
    said = io.StringIO()
    interrupts.raise_stopped()
    try:
        timer.start()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = command_line.main(words)
        timer.cancel()
        timer.join()
    except KeyboardInterrupt:
        # It came after the command was done.
        code = 0
    finally:
        timer.cancel()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        interrupts._HEARD.clear()
    return code, said.getvalue()
