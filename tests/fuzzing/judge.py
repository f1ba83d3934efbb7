"""Whether a run of a command was as it should be, told from outside: by exit code, words and files."""

from __future__ import annotations

import contextlib
import io
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

from qsproj.cli import main as command_line
from qsproj.corpus.conllu import read_conllu
from tests.fuzzing.serving import serve

# Of processor time, as others may be at work on the machine; a run that only waits gets longer.
SECONDS = 60
WAITING = 1200
BYTES = 4 << 30
# What stands where outputs go, before a run.
BEFORE = b"what was there before\n"
LONGEST_LINE = 1000


def main(words: list[str]) -> int:
    """Run ``qsproj WORDS``; ``serve`` as a command that ends."""
    return serve(words[1:]) if words[0] == "serve" else command_line.main(words)


class TooSlowError(Exception):
    """A run took longer than it may."""


def faults_of(words: list[str], inputs: Iterable[Path], outputs: Iterable[Path]) -> list[str]:
    """Run ``qsproj WORDS`` in this process, and return what was wrong with it, or nothing."""
    outputs = list(outputs)
    for output in outputs:
        output.write_bytes(BEFORE)
    folder = {path for output in outputs for path in output.parent.iterdir()}
    said, written = io.StringIO(), io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(written), _bounded():
            code = main(words)
    except SystemExit as exit_:
        code = exit_.code
    except Exception as error:
        return ["".join(traceback.format_exception(error))]
    faults = []
    if code == 0:
        faults += [f"{output.name}: {fault}" for output in outputs for fault in not_whole(output, words[0])]
    elif code == 2:
        faults += _not_one_line(said.getvalue(), words[0], inputs)
        faults += [f"{output.name} was touched" for output in outputs if output.read_bytes() != BEFORE]
    else:
        faults.append(f"exit code {code}")
    left = {path for output in outputs for path in output.parent.iterdir()} - folder
    return faults + [f"{path.name} was left" for path in left if path.name.endswith(".partial")]


@contextlib.contextmanager
def _bounded():
    """Let a run take so much time, and so much memory above what this process has."""

    def stop(number: int, frame: object) -> None:
        limit = WAITING if number == signal.SIGALRM else SECONDS
        raise TooSlowError(f"more than {limit} seconds")

    limits = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    timers = {signal.SIGALRM: signal.ITIMER_REAL, signal.SIGPROF: signal.ITIMER_PROF}
    before: dict[int, Callable[..., object] | int | None] = {
        number: signal.signal(number, stop) for number in timers
    }
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + BYTES, limits[1]))
    signal.setitimer(signal.ITIMER_REAL, WAITING)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        for number, timer in timers.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])
        resource.setrlimit(resource.RLIMIT_AS, limits)


def _not_one_line(said: str, command: str, inputs: Iterable[Path]) -> Iterable[str]:
    """Yield what is wrong with the message of a run that refused its input."""
    lines = said.splitlines()
    ours = [line for line in lines if line.startswith(f"qsproj {command}")]
    if len(ours) != 1 or lines[-1:] != ours:
        yield f"said: {lines[-3:]}"
    elif len(ours[0]) > LONGEST_LINE:
        yield f"said {len(ours[0])} characters: {ours[0][:200]}"
    elif not any(str(path) in ours[0] for path in inputs):
        yield f"names no file: {ours[0]}"


def not_whole(output: Path, command: str) -> Iterable[str]:
    """Yield what is wrong with an output of a run that was done.

    ``serve`` answers a text without a word by an empty result, as UDPipe does; no other output is empty.
    """
    content = output.read_bytes()
    if content == BEFORE:
        yield "was not written"
    elif output.suffix == ".conllu" and (content or command != "serve"):
        try:
            for _ in read_conllu(output):
                pass
        except Exception as error:
            yield f"cannot be read back: {error}"


if sys.platform != "linux":  # pragma: no cover
    raise ImportError("the judge bounds memory as Linux does")
