"""``python -m qsproj`` and the ``qsproj`` command: all else is imported where an interrupt is caught."""

from __future__ import annotations

import gc
import os
import sys

from qsproj import interrupts


def run() -> None:
    """Run the command that the arguments name and leave with its exit code."""
    try:
        interrupts.raise_stopped()
        # One thread per process: parallelism here is over sentences, and BLAS threads would compete with it.
        for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(variable, "1")
        try:
            from qsproj.cli.standard_error import make_unfailing

            make_unfailing()
            from qsproj.cli.main import main

            code = main()
        finally:
            interrupts.ignore()
    except BaseException as error:
        # C code that is interrupted may make another error of it, such as SystemError.
        if not (isinstance(error, KeyboardInterrupt) or interrupts.heard()):
            raise
        word, code = interrupts.outcome()
        print(f"qsproj: {word}", file=sys.stderr)
    # Those of a command that is done have no work; they clear away what they hold of the system.
    _stop_processes(at_once=code != 0)
    # Python would look for garbage once more, among all that numba has made: a tenth of a second.
    gc.freeze()
    sys.exit(code)


def _stop_processes(*, at_once: bool) -> None:
    """Stop the processes that were started, if any."""
    parallel = sys.modules.get("qsproj.parallel")
    if parallel is not None:
        parallel.stop_processes(at_once=at_once)


if __name__ == "__main__":
    run()
