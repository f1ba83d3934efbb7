"""Read bytes of files that may be compressed: limits against bombs, encodings, lines counted for messages."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO, Any, BinaryIO, cast

from qsproj.errors import DataError, pluralise

_READERS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": lambda packed: gzip.GzipFile(fileobj=packed),
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x5d\x00\x00": lzma.LZMAFile,
    b"BZh": bz2.BZ2File,
    b"PK\x03\x04": lambda packed: _only_member(packed),
}
_DAMAGED_ARCHIVE: tuple[type[Exception], ...] = (EOFError, zlib.error, lzma.LZMAError, OSError)
if sys.version_info >= (3, 14):
    from compression import zstd

    _READERS[b"\x28\xb5\x2f\xfd"] = zstd.ZstdFile
    _DAMAGED_ARCHIVE += (zstd.ZstdError,)
# Archives that the standard library does not read: first bytes, name, command to unpack them.
_UNREAD = (
    (0, b"\x28\xb5\x2f\xfd", "a file compressed by Zstandard", "zstd -d FILE"),
    (0, b"\x04\x22\x4d\x18", "a file compressed by LZ4", "lz4 -d FILE"),
    (0, b"LZIP", "a file compressed by lzip", "lzip -d FILE"),
    (0, b"\x1f\x9d", "a file compressed by compress", "uncompress FILE"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "7z x FILE"),
    (0, b"Rar!\x1a\x07", "a RAR archive", "unrar x FILE"),
    (257, b"ustar", "a tar archive", "tar -xf FILE"),
)
_CHUNK_BYTES = 1 << 16
_UTF_16_MARKS, _UTF_32_MARKS = (b"\xff\xfe", b"\xfe\xff"), (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_LOOKED_AT = 64  # bytes needed to detect an encoding
_LOOKED_AT_FOR_ARCHIVES = 512
LONGEST_LINE = 1 << 24  # in bytes: a few longer ones in an archive would exhaust memory
# Text is some 3 to 20 times as long as its archive: more bytes at a higher ratio are a decompression bomb.
LARGEST_BOMB, LARGEST_RATIO = 1 << 24, 200


class PackedReader(io.BufferedIOBase):
    """A reader that decompresses a binary stream and counts the lines read."""

    def __init__(self, stream: Any, name: str) -> None:
        self.name, self.lines = name, 0
        self.last = b""  # the bytes read last
        self._since_line = self._unpacked = 0
        self._borrowed = None if hasattr(stream, "peek") else io.BufferedReader(stream)
        self._packed = self._stream = _Counted(self._borrowed or stream)
        with self._damage_named():
            magic = self._packed.peek(max(map(len, _READERS)))
            for opening, reader in _READERS.items():
                if magic.startswith(opening):
                    self._stream = reader(cast(BinaryIO, self._packed))

    def readable(self) -> bool:
        """Return True, which a text wrapper asks for."""
        return True

    def check_is_utf8(self) -> None:
        """Raise DataError for unknown archives, carriage returns as line ends, and UTF-16 or UTF-32."""
        with self._damage_named():
            head = self._stream.peek(_LOOKED_AT_FOR_ARCHIVES)
        for place, opening, kind, command in _UNREAD:
            if head[place:].startswith(opening):
                raise self.fault(kind, "text, or text in gzip, xz, bzip2 or zip", f"unpack it: {command}")
        if b"\r" in head[:-1] and b"\n" not in head and self._stream is self._packed:
            remedy = "convert the file: tr '\\r' '\\n' < FILE"
            raise self.fault("line ends that are carriage returns alone", "line feeds", remedy)
        head, encoding = head[:_LOOKED_AT], "UTF-8"
        # Half of the bytes of Latin text in UTF-16 are zeros, all on one side of the byte pairs.
        zeros = [head[at::2].count(0) / max(len(head) // 2, 1) for at in (0, 1)]
        if head.startswith((*_UTF_32_MARKS, *_UTF_16_MARKS)):
            encoding = "UTF-32" if head.startswith(_UTF_32_MARKS) else "UTF-16"
        elif max(zeros) > 0.5 > 2 * min(zeros):
            encoding = "UTF-16BE" if zeros[0] > zeros[1] else "UTF-16LE"
        if encoding != "UTF-8":
            remedy = f"convert the file: iconv -f {encoding} -t UTF-8"
            raise self.fault(f"text in {encoding}", "UTF-8 text", remedy)

    def read1(self, size: int = -1, /) -> bytes:
        """Return the next bytes, possibly more than ``size``, which the wrapper accepts, to save calls."""
        with self._damage_named():
            chunk: bytes = self._stream.read1(max(size, _CHUNK_BYTES))
        self.last = chunk or self.last
        ends = chunk.count(b"\n")
        self._since_line = len(chunk) - chunk.rfind(b"\n") - 1 if ends else self._since_line + len(chunk)
        if self._since_line > LONGEST_LINE:
            found = f"a line of more than {LONGEST_LINE >> 20} MB"
            raise self.fault(found, "lines of text", "check that it is the right file")
        self._unpacked += len(chunk)
        if self._unpacked > max(LARGEST_BOMB, LARGEST_RATIO * self._packed.read_so_far):
            found = f"an archive that expands to more than {LARGEST_RATIO} times its size"
            remedy = "look at it (zcat or xzcat FILE | head), and unpack it first if it is the right file"
            raise self.fault(found, "text, which does not", remedy)
        self.lines += ends
        return chunk

    def read(self, size: int | None = -1, /) -> bytes:
        """Return all remaining bytes, which a text wrapper requests when it is read as a whole."""
        return b"".join(iter(self.read1, b""))

    @contextmanager
    def _damage_named(self) -> Iterator[None]:
        try:
            yield
        except zipfile.BadZipFile as error:
            found = f"a zip archive that cannot be read ({error})"
            remedy = "unpack it (unzip FILE); models are read by -m"
            raise self.fault(found, "an archive with one file", remedy) from error
        except _DAMAGED_ARCHIVE as error:
            # bzip2 and gzip raise an OSError without errno, disks one with errno.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            found = f"a damaged or cut-off archive ({error})"
            raise self.fault(found, "a whole archive", "fetch or compress it again") from error

    def fault(self, found: str, expected: str, remedy: str) -> DataError:
        """Return an error at the line being read."""
        return DataError(self.name, self.lines + 1, found, expected, remedy)

    def release(self) -> None:
        """Detach the caller's stream, so that it is not closed with this reader."""
        if self._borrowed is not None:
            self._borrowed.detach()


class _Counted:
    """A stream that counts the bytes read from it. Mutable; final."""

    def __init__(self, stream: Any) -> None:
        self.read_so_far, self._stream = 0, stream
        self.peek, self.seek = stream.peek, stream.seek
        self.tell, self.seekable = stream.tell, stream.seekable

    def read(self, size: int = -1, /) -> bytes:
        return self._noted(self._stream.read(size))

    def read1(self, size: int = -1, /) -> bytes:
        return self._noted(self._stream.read1(size))

    def _noted(self, chunk: bytes) -> bytes:
        self.read_so_far += len(chunk)
        return chunk


def _only_member(packed: BinaryIO) -> Any:
    if not packed.seekable():
        packed = io.BytesIO(packed.read())
    archive = zipfile.ZipFile(packed)
    members = [member for member in archive.infolist() if is_content(member)]
    if len(members) != 1:
        raise zipfile.BadZipFile(f"{pluralise(len(members), 'file')} in it, expected one")
    return opened_member(archive, members[0])


def is_content(member: zipfile.ZipInfo) -> bool:
    """Return whether a member of an archive is a file, and not macOS metadata."""
    path = PurePath(member.filename)
    return not member.is_dir() and "__MACOSX" not in path.parts and not path.name.startswith(".")


def opened_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    """Open a file of a zip archive; raise BadZipFile if encrypted, of an unknown method, or a bomb."""
    if member.file_size > max(LARGEST_BOMB, LARGEST_RATIO * member.compress_size):
        raise zipfile.BadZipFile(f"{member.filename} expands to more than {LARGEST_RATIO} times its size")
    try:
        return archive.open(member)
    except (RuntimeError, NotImplementedError, OSError, OverflowError) as error:
        raise zipfile.BadZipFile(f"{member.filename}: {error}") from error
