r"""Open plain and compressed files and standard streams (``-``), with atomic output.

Text is UTF-8 and lines end at ``\n`` only, so that files can be read and written again byte for byte.

An output is written to a hidden file in the same folder, named after the process, and moved into place when
complete. The next process that writes it on the same machine removes files and folders of killed processes.
"""

import atexit
import bz2
import errno
import functools
import gzip
import hashlib
import io
import json
import lzma
import mmap
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, Any, BinaryIO, TextIO, cast

from qsproj.corpus.messages import check_type
from qsproj.corpus.packed import PackedReader
from qsproj.errors import FILE_LOST, NAME_OF_INPUT, DataError, UsageError
from qsproj.interrupts import held
from qsproj.progress import notice

SUFFIX = ".partial"
PART = ".part"  # extension of a resumable partial output


def partial_of(final: Path) -> Path:
    """Return the hidden file in the same folder to which this process writes ``final``."""
    return final.with_name(_partial_name(final.name, os.getpid()))


def _partial_name(name: str, process: int | str) -> str:
    # Names are limited in length; long ones may begin alike.
    whole = hashlib.sha256(name.encode("utf-8", _ERRORS)).hexdigest()[:8]
    return f".{name[:40]}.{whole}.{_machine()}.{process}{SUFFIX}"


def remove_stale(folder: Path, *, of: str = "") -> None:
    """Remove partial files of dead processes of this machine in a folder, of one file or of all."""
    with suppress(OSError):
        for path in folder.glob(f".*.{_machine()}.*{SUFFIX}"):
            writer = path.name.removesuffix(SUFFIX).rpartition(".")[2]
            wanted = not of or path.name == _partial_name(of, writer)
            if wanted and not _is_alive(writer):
                with suppress(OSError):
                    path.unlink()


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Create a folder in ``TMPDIR`` for the block, and remove temporary folders of dead processes."""
    prefix = f"qsproj-{_machine()}."
    try:
        for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
            maker = path.name.removeprefix(prefix).partition(".")[0]
            with suppress(OSError):
                ours = not hasattr(os, "getuid") or path.lstat().st_uid == os.getuid()
                if ours and not path.is_symlink() and not _is_alive(maker):
                    shutil.rmtree(path, ignore_errors=True)
        made = tempfile.TemporaryDirectory(prefix=f"{prefix}{os.getpid()}.")
    except OSError as error:
        remedy = "set TMPDIR to a writable folder"
        raise UsageError(f"cannot create a temporary folder: {error.strerror}; {remedy}") from error
    with made as folder:
        yield Path(folder)


@functools.cache
def _machine() -> str:
    """Return an identifier of this machine, as other machines may share its disk."""
    return hashlib.sha256(platform.node().encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _is_alive(process: str) -> bool:
    """Return whether a process of this machine is alive; True where it cannot be known."""
    try:
        if os.name == "posix" and process.isdecimal():
            os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass
    return True


BYTE_ORDER_MARK = "\ufeff"
PathOrFile = str | os.PathLike[str] | IO[str] | IO[bytes]


@dataclass(frozen=True, slots=True)
class Replayed:
    """Lines as an open text for a reader, to pass on lines already read or changed."""

    lines: Iterator[str]
    name: str

    def __iter__(self) -> Iterator[str]:
        return self.lines


# Extensions of compressed output; extensions that are rejected, as the format is not written.
_COMPRESSORS: dict[str, Callable[[BinaryIO], Any]] = {
    # No name and no time in the header: the same text gives the same bytes.
    ".gz": lambda raw: gzip.GzipFile("", "wb", 6, raw, mtime=0),
    ".xz": functools.partial(lzma.LZMAFile, mode="wb"),
    ".bz2": functools.partial(bz2.BZ2File, mode="wb"),
}
PACKED = tuple(_COMPRESSORS)
_NOT_WRITTEN = (".zip", ".zst", ".zstd", ".7z", ".rar", ".lz4", ".lz", ".lzma", ".tgz", ".tar", ".z", ".Z")
_ERRORS = "surrogateescape"


def name_of(path_or_file: PathOrFile | None) -> str:
    """Return the name of a path or an open file for messages."""
    if path_or_file is None or path_or_file == "-":
        return NAME_OF_INPUT
    if isinstance(path_or_file, str | os.PathLike):
        return os.fspath(path_or_file)
    return str(getattr(path_or_file, "name", "<open file>"))


@contextmanager
def open_text(path_or_file: PathOrFile) -> Iterator[TextIO]:
    """Open a text or an archive of one; DataError with the line for bytes that are not UTF-8."""
    stream: Any = path_or_file
    if path_or_file == "-":
        stream = getattr(_opened(sys.stdin, "input"), "buffer", sys.stdin)
    elif isinstance(path_or_file, str | os.PathLike):
        stream = _open_for_reading(path_or_file)
    elif not hasattr(path_or_file, "read"):
        check_type(path_or_file, str | os.PathLike | Replayed, "a path or an open file")
    is_text = hasattr(stream, "encoding") or isinstance(stream, Replayed)
    counter = None if is_text else PackedReader(stream, name_of(path_or_file))
    try:
        if counter is not None:
            counter.check_is_utf8()
        yield stream if counter is None else io.TextIOWrapper(cast(Any, counter), "utf-8", newline="\n")
    except UnicodeDecodeError as error:
        chunk, at = error.object, error.start
        last = chunk if counter is None else counter.last
        if not last or not (chunk.endswith(last) or last.endswith(chunk)):
            raise  # of another file that is read in the block
        # The failed chunk is already counted; subtract its lines after the bad byte.
        line = None if counter is None else counter.lines - chunk[at:].count(b"\n") + 1
        found = f"byte 0x{chunk[at]:02x} that is not UTF-8"
        remedy = "convert the file, for instance with: iconv -f LATIN1 -t UTF-8"
        raise DataError(name_of(path_or_file), line, found, "UTF-8 text", remedy) from error
    finally:
        if counter is not None:
            counter.release()
        if isinstance(path_or_file, str | os.PathLike) and path_or_file != "-":
            stream.close()


@contextmanager
def open_output(path_or_file: PathOrFile | None) -> Iterator[TextIO]:
    """Open a text for writing, compressed by its extension; it replaces a file only when complete."""
    if path_or_file is None or path_or_file == "-":
        _opened(sys.stdout, "output")
        with _write_errors_reported("standard output"):
            if isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(encoding="utf-8", errors=_ERRORS, newline="\n")
            yield sys.stdout
            sys.stdout.flush()
    elif isinstance(path_or_file, str | os.PathLike):
        _check_ending(path_or_file, _NOT_WRITTEN)
        with (
            open_binary_output(path_or_file) as raw,
            _COMPRESSORS.get(Path(path_or_file).suffix, nullcontext)(raw) as binary,
            _text_writer(binary) as handle,
        ):
            yield handle
    elif hasattr(path_or_file, "encoding"):
        with _write_errors_reported("the output"):
            yield cast(TextIO, path_or_file)
    elif not hasattr(path_or_file, "write"):
        check_type(path_or_file, str | os.PathLike, "a path or an open file")
    else:
        with _write_errors_reported("the output"), _text_writer(cast(BinaryIO, path_or_file)) as handle:
            yield handle


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record as an indented JSON file."""
    with open_output(path) as handle:
        json.dump(record, handle, indent=1, ensure_ascii=False)


@contextmanager
def open_binary_output(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing bytes; it is created or replaced only when it is complete."""
    check_type(path, str | os.PathLike, "a path")
    with _write_errors_reported(os.fspath(path)):
        if (number := stream_of(path)) is not None:
            with os.fdopen(os.dup(number), "wb") as stream:
                yield stream
            return
        final = _checked_final(path)
        if final.exists() and not final.is_file():
            with final.open("wb") as device:
                yield device
            return
        _check_writable(final)
        remove_stale(final.parent, of=final.name)
        partial = partial_of(final)
        try:
            with partial.open("wb") as handle:
                yield handle
                handle.flush()
                os.fsync(handle.fileno())
            if final.exists():
                shutil.copymode(final, partial)
            partial.replace(final)
        except BrokenPipeError as error:
            error.add_note(FILE_LOST)
            with suppress(BrokenPipeError):
                notice(f"{os.fspath(path)}: not written, as the reader of standard output ended first")
            raise
        finally:
            partial.unlink(missing_ok=True)


def locked(handle: IO[bytes]) -> bool:
    """Lock an open file for this process until it is closed; return False if it is already locked."""
    if sys.platform == "win32":
        import msvcrt

        at = handle.tell()
        try:
            handle.seek(1 << 62)  # beyond any file, locked in its place
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            handle.seek(at)
        return True
    try:
        import fcntl
    except ImportError:  # No locks on this platform: the last writer wins.
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def open_kept_output(path: Path, *, unit_end: bytes) -> Iterator[tuple[TextIO, Path | None]]:
    """Open a resumable output; yield it, and its path if an interrupted process has begun it."""
    part = path.with_name(path.name + PART)
    with _write_errors_reported(os.fspath(path)), part.open("a+b") as binary:
        if not locked(binary):
            with open_output(path) as handle:
                yield handle, None
            return
        kept = 0
        if binary.seek(0, io.SEEK_END):
            with mmap.mmap(binary.fileno(), 0, access=mmap.ACCESS_READ) as text:
                found = text.rfind(unit_end)
            kept = found + len(unit_end) if found >= 0 else 0
        binary.truncate(kept)
        with _text_writer(binary) as handle:
            yield handle, part if kept else None
        binary.flush()
        os.fsync(binary.fileno())
        part.replace(path)


def check_can_be_written(path: str | os.PathLike[str] | None, *, text: bool = True) -> None:
    """Raise the UsageError of :func:`open_output` before any work; ``text``: False for a model."""
    if path is None or path == "-":
        return
    _check_ending(path, _NOT_WRITTEN if text else (*PACKED, *_NOT_WRITTEN[1:]))
    with _write_errors_reported(os.fspath(path)):
        if (number := stream_of(path)) is not None:
            os.fstat(number)  # an error for one that is closed
            return
        final = _checked_final(path)
        if not final.exists() or final.is_file():
            _check_writable(final)
            partial = partial_of(final)
            with held():
                partial.touch()
                partial.unlink()


def _check_ending(path: str | os.PathLike[str], refused: tuple[str, ...]) -> None:
    name = PurePath(path)
    if name.suffix in refused:
        raise UsageError(
            f"{name}: found the ending {name.suffix}, expected a supported one; text may end in "
            f"{', '.join(PACKED[:-1])} or {PACKED[-1]}, a model in any other ending"
        )


def stream_of(path: str | os.PathLike[str]) -> int | None:
    """Return the file descriptor that a path names, as /dev/stdout does, None for other paths."""
    text = os.fspath(path)
    number = {"/dev/stdout": "1", "/dev/stderr": "2"}.get(text, text.removeprefix("/dev/fd/"))
    return int(number) if number != text and number.isascii() and number.isdecimal() else None


def resolved(path: str | os.PathLike[str]) -> Path:
    """Return a path with symbolic links resolved; raise UsageError for circular links."""
    try:
        return Path(path).resolve()
    except (RuntimeError, OSError) as error:  # RuntimeError until Python 3.12
        raise UsageError(f"{os.fspath(path)}: cannot be followed: its symbolic links form a cycle") from error


def _check_writable(final: Path) -> None:
    # Replacing a file only needs permission for its folder, which would ignore its own protection.
    if final.exists() and not os.access(final, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(final))


def _checked_final(path: str | os.PathLike[str]) -> Path:
    # The target of a link to a pipe, such as /dev/stdout, is no path.
    final = Path(path) if Path(path).is_fifo() else resolved(path)
    if final.is_dir():
        raise UsageError(f"{path}: found a directory, expected a file to write; name a file in it")
    return final


def _opened(stream: TextIO | None, name: str) -> TextIO:
    """Return a standard stream; it is None in Python if it was closed at startup."""
    if stream is None:
        raise UsageError(f"standard {name} is closed; name a file")
    return stream


@contextmanager
def reporting_failure(path: str | os.PathLike[str], done: str) -> Iterator[None]:
    """Raise UsageError for an OSError in the block: the file cannot be ``done``: ``read``, ``written``."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{os.fspath(path)}: cannot be {done}: {error.strerror}") from error


def _open_for_reading(path: str | os.PathLike[str]) -> io.BufferedReader:
    with reporting_failure(path, "read"):
        # <(...) of a shell. Named pipes are streams, whose readers answer before they end.
        if Path(path).is_fifo() and os.path.abspath(path).startswith(("/dev/", "/proc/")):  # noqa: PTH100
            path = _saved_pipe(os.fspath(path), Path(path).stat().st_ino)
        return Path(path).open("rb")


@functools.cache
def _saved_pipe(path: str, inode: int) -> Path:
    """Return a copy of a pipe, for later reads, until exit; ``inode``: another pipe may get the same path."""
    until_exit = ExitStack()
    atexit.register(until_exit.close)
    copy = until_exit.enter_context(temporary_folder()) / f"pipe-{inode}"
    with Path(path).open("rb") as pipe, copy.open("wb") as out:
        shutil.copyfileobj(pipe, out)
    return copy


def packaged_rows(module: str, name: str) -> list[list[str]]:
    """Return the cells of a tab-separated file beside a module, which is given by its ``__file__``."""
    text = (Path(module).parent / name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def stamp_of(path: str) -> tuple[int, int] | None:
    """Return time and size of a file, by which to cache its content; None if it is missing."""
    with suppress(OSError):  # reported when the file is opened
        found = Path(path).stat()
        return found.st_mtime_ns, found.st_size
    return None


def digest_of(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file."""
    with _open_for_reading(path) as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def copy_to(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Copy a file, replacing the target atomically."""
    with Path(source).open("rb") as handle, open_binary_output(target) as out:
        shutil.copyfileobj(handle, out)


@contextmanager
def _write_errors_reported(name: str) -> Iterator[None]:
    """Raise UsageError for a failed write; pass on broken pipes and errors of other files."""
    try:
        yield
    except BrokenPipeError:
        raise
    except UnicodeEncodeError as error:
        found = repr(error.object[error.start : error.end])
        if error.encoding == "utf-8":
            found, expected = f"{found}, half of a character", "text of whole characters"
        else:
            expected = f"characters of {error.encoding}; open the file with encoding='utf-8'"
        raise UsageError(f"{name}: cannot be written: found {found}, expected {expected}") from error
    except OSError as error:
        if error.errno is None or isinstance(error, ConnectionError | TimeoutError):
            raise  # not of a write
        if error.filename is not None and Path(error.filename).parent != resolved(name).parent:
            raise
        raise UsageError(f"{name}: cannot be written: {error.strerror}") from error


@contextmanager
def _text_writer(binary: BinaryIO) -> Iterator[TextIO]:
    # File names that are not UTF-8 are written as their bytes.
    handle = io.TextIOWrapper(binary, encoding="utf-8", errors=_ERRORS, newline="\n")
    try:
        yield handle
    finally:
        handle.detach()
