"""``python -m qsproj`` and the ``qsproj`` command; imports happen inside the handler of interrupts."""

import gc
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

from qsproj import interrupts


def run() -> None:
    """Run the command named by the arguments and exit with its code."""
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
        # Interrupted C code may raise another error instead, such as SystemError.
        if not (isinstance(error, KeyboardInterrupt) or interrupts.was_interrupted()):
            raise
        word, code = interrupts.exit_status()
        print(f"qsproj: {word}", file=sys.stderr)
    # After a finished command the processes are idle; they release their system resources.
    if (parallel := sys.modules.get("qsproj.parallel")) is not None:
        parallel.stop_processes(at_once=code != 0)
    # Without this, a last garbage collection over numba's objects takes a tenth of a second.
    gc.freeze()
    sys.exit(code)


class UnfailingStream:
    """Discards unwritable text, as on a full disk: failures of logging must not stop the run. Final."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text if possible; return its length."""
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream if possible."""
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def make_unfailing() -> None:
    """Replace the standard error by an unfailing stream."""
    # A closed one is None: `print` would use the standard output, the next opened file its descriptor.
    stream: TextIO = sys.stderr if sys.stderr is not None else open(os.devnull, "w")  # noqa: SIM115, PTH123
    sys.stderr = UnfailingStream(stream)


if __name__ == "__main__":
    run()
