"""Files that are being written: named after the process that writes them, and removed when it is dead.

An output is written beside its place and moved there when it is whole. A process that is killed leaves what
it had written. The next one that writes to that place takes it away, where both run on the same machine.
"""

from __future__ import annotations

import hashlib
import os
import platform
from contextlib import suppress
from functools import cache
from pathlib import Path

SUFFIX = ".partial"
# Names of files may not be of any length.
_KEPT_OF_NAME = 40


def partial_of(final: Path) -> Path:
    """Return where this process writes what will be ``final``: a hidden file in the same folder."""
    return final.with_name(f"{_stem(final.name)}{_machine()}.{os.getpid()}{SUFFIX}")


def remove_stale(folder: Path, *, of: str = "") -> None:
    """Remove what dead processes of this machine left half-written in a folder; what cannot be removed stays.

    Parameters
    ----------
    of : str
        Only what was to be a file of that name; all there is when empty.
    """
    with suppress(OSError):
        for path in folder.glob(f".*.{_machine()}.*{SUFFIX}"):
            writer = path.name.removesuffix(SUFFIX).rpartition(".")[2]
            wanted = not of or path.name == f"{_stem(of)}{_machine()}.{writer}{SUFFIX}"
            if wanted and writer.isdecimal() and not _is_alive(int(writer)):
                with suppress(OSError):
                    path.unlink()


def _stem(name: str) -> str:
    return f".{name[:_KEPT_OF_NAME]}."


@cache
def _machine() -> str:
    """Tell this machine from others that share its disk, whose processes it cannot see."""
    return hashlib.sha256(platform.node().encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _is_alive(process: int) -> bool:
    """Return whether a process of that number runs; True where it cannot be told."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
