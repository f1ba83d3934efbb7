"""``python -m qsproj`` and the ``qsproj`` command: all else is imported where an interrupt is caught."""

import gc
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

from qsproj import interrupts


def run() -> None:
    """Run the command that the arguments name and leave with its exit code."""
    try:
        interrupts.raise_stopped()
        # One thread per process: parallelism here is over sentences, and BLAS threads would compete with it.
        for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(variable, "1")
        try:
            make_unfailing()
            from qsproj.cli.main import main

            code = main()
        finally:
            interrupts.ignore()
    except BaseException as error:
        # C code that is interrupted may make another error of it, such as SystemError.
        if not (isinstance(error, KeyboardInterrupt) or interrupts.was_interrupted()):
            raise
        word, code = interrupts.exit_status()
        print(f"qsproj: {word}", file=sys.stderr)
    # Those of a command that is done have no work; they clear away what they hold of the system.
    if (parallel := sys.modules.get("qsproj.parallel")) is not None:
        parallel.stop_processes(at_once=code != 0)
    # Python would look for garbage once more, among all that numba has made: a tenth of a second.
    gc.freeze()
    sys.exit(code)


class UnfailingStream:
    """Passes text on to a stream, and drops what that does not take, as on a full disk. Final.

    What is said of the work must not end it, nor get into its results.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or not; return the length of the text."""
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush what can be."""
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def make_unfailing() -> None:
    """Put an unfailing stream in the place of the standard error.

    Python has None for one that is closed, which `print` takes for the standard output; the next file that is
    opened would have its number, too.
    """
    stream: TextIO = sys.stderr if sys.stderr is not None else open(os.devnull, "w")  # noqa: SIM115, PTH123
    sys.stderr = UnfailingStream(stream)


if __name__ == "__main__":
    run()
