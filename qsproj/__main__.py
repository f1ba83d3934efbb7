"""``python -m qsproj`` and the ``qsproj`` command: all else is imported where an interrupt is caught."""

from __future__ import annotations

import os
import signal
import sys

EXIT_INTERRUPTED = 130


def run() -> None:
    """Run the command that the arguments name and leave with its exit code."""
    # One thread per process: parallelism here is over sentences, and BLAS threads would compete with it.
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    try:
        from qsproj.cli.main import main

        code = main()
    except KeyboardInterrupt:
        print("qsproj: interrupted", file=sys.stderr)
        code = EXIT_INTERRUPTED
    if code == EXIT_INTERRUPTED:
        _stop_all()
    sys.exit(code)


def _stop_all() -> None:
    """Stop the processes that were started, and from here on let no interrupt break off the exit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parallel = sys.modules.get("qsproj.parallel")
    if parallel is not None:
        parallel.stop_processes()


if __name__ == "__main__":
    run()
