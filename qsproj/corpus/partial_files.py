"""Files that are being written: named after the process that writes them, and removed when it is dead.

An output is written beside its place and moved there when it is whole. A process that is killed leaves what
it had written. The next one that writes to that place takes it away, where both run on the same machine. So
it is with temporary folders: the next process that makes one removes those of dead processes.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from qsproj.errors import UsageError

SUFFIX = ".partial"
# Names of files may not be of any length.
_KEPT_OF_NAME = 40


def partial_of(final: Path) -> Path:
    """Return where this process writes what will be ``final``: a hidden file in the same folder."""
    return final.with_name(f"{_stem(final.name)}{_machine()}.{os.getpid()}{SUFFIX}")


def remove_stale(folder: Path, *, of: str = "") -> None:
    """Remove what dead processes of this machine left half-written in a folder; what cannot be removed stays.

    ``of``: Only what was to be a file of that name; all there is when empty.
    """
    with suppress(OSError):
        for path in folder.glob(f".*.{_machine()}.*{SUFFIX}"):
            writer = path.name.removesuffix(SUFFIX).rpartition(".")[2]
            wanted = not of or path.name == f"{_stem(of)}{_machine()}.{writer}{SUFFIX}"
            if wanted and writer.isdecimal() and not _is_alive(int(writer)):
                with suppress(OSError):
                    path.unlink()


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder in ``TMPDIR`` that lasts as long as the block; what dead processes left there is removed.

    Raises UsageError when there is no place for it.
    """
    prefix = f"qsproj-{_machine()}."
    try:
        place = Path(tempfile.gettempdir())
        for path in place.glob(f"{prefix}*"):
            _remove_dead(path, maker=path.name.removeprefix(prefix).partition(".")[0])
        made = tempfile.TemporaryDirectory(prefix=f"{prefix}{os.getpid()}.")
    except OSError as error:
        raise UsageError(
            f"no temporary folder can be made: {error.strerror}; have TMPDIR name a folder to write to"
        ) from error
    with made as folder:
        yield Path(folder)


def _remove_dead(folder: Path, *, maker: str) -> None:
    """Remove a folder of ours whose maker is dead; others may leave what looks alike where all may write."""
    with suppress(OSError):
        ours = not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()
        if ours and not folder.is_symlink() and maker.isdecimal() and not _is_alive(int(maker)):
            shutil.rmtree(folder, ignore_errors=True)


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
