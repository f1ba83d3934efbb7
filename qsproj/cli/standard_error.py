"""Standard error that cannot fail: what is said of the work must not end it, nor get into its results."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, TextIO


class UnfailingStream:
    """Passes text on to a stream, and drops what that does not take, as on a full disk. Final."""

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
