"""What is said of compiling: one line on stderr, once, by the process that a person started.

On a terminal, a line that moves tells how many kernels are compiled so far, for how long.

``QSPROJ_NOTICES=0`` in the environment says nothing; the test suite sets it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from multiprocessing import current_process
from pathlib import Path
from typing import Any

# Seconds of compiling before it is worth a line: a new type of some small kernel is not.
PATIENCE = 0.5


class Notices:
    """Says the first thing that there is to be said of compiling, and nothing after it."""

    def __init__(self) -> None:
        self._said = False
        self._seconds = 0.0
        self._under_way = 0
        self._bar: Any = None

    def about_to_compile(self, folder: Path | None) -> None:
        """Take note that a kernel will be compiled, and kept in ``folder`` (None: nowhere)."""
        if folder is None:
            self._say(
                "compiling, in this and every run: no folder for compiled code can be written; "
                "name one in NUMBA_CACHE_DIR"
            )
        elif self._seconds > PATIENCE:
            self._say(f"compiling, once: up to half a minute, then kept for later runs in {folder}")
        self._under_way += 1
        if self._said:
            self._show()

    def compiled(self, seconds: float) -> None:
        """Take note that a kernel was compiled; kernels compiled on its behalf count in its time, too."""
        self._seconds += seconds
        self._under_way -= 1
        if self._bar is not None:
            self._bar.update(1)
            if self._under_way <= 0:
                # Whatever is said next is not to stand beside it.
                self._bar.clear()

    def _show(self) -> None:
        """Begin to show how many kernels are compiled, or go on; how many will be, nobody knows."""
        with suppress(OSError, ValueError, AttributeError):
            if self._bar is None and self._may_say() and sys.stderr.isatty():
                from tqdm import tqdm

                form = "{desc}: {n_fmt} kernels, {elapsed}"
                self._bar = tqdm(desc="compiling", leave=False, bar_format=form, mininterval=0)
            elif self._bar is not None:
                self._bar.refresh()

    def damaged(self, path: Path, error: Exception) -> None:
        """Say that compiled code is made again, since it cannot be read."""
        reason = getattr(error, "strerror", None) or error
        self._say(f"compiling again what is kept in {path.parent}: cannot use {path.name}: {reason}")

    def not_kept(self, folder: Path, error: OSError) -> None:
        """Say that compiled code cannot be kept, after all."""
        self._say(
            f"compiling, in this and the next run: cannot write to {folder}: {error.strerror}; "
            "name another folder in NUMBA_CACHE_DIR"
        )

    def _say(self, text: str) -> None:
        if self._said or not self._may_say():
            return
        self._said = True
        with suppress(OSError, ValueError, AttributeError):  # stderr may be full, closed, or None
            print(f"qsproj: {text}", file=sys.stderr, flush=True)

    @staticmethod
    def _may_say() -> bool:
        return os.environ.get("QSPROJ_NOTICES") != "0" and current_process().name == "MainProcess"


NOTICES = Notices()
