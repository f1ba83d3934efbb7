"""Lines of a file, plain or compressed, counted as they are read, and bounded."""

from __future__ import annotations

import gzip
import io
import lzma
from typing import Any, BinaryIO, cast

_GZIP_MAGIC, _XZ_MAGIC = b"\x1f\x8b", b"\xfd7zXZ\x00"
_CHUNK_BYTES = 1 << 16
_UTF_16_MARKS, _UTF_32_MARKS = (b"\xff\xfe", b"\xfe\xff"), (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
# So many bytes tell an encoding.
_LOOKED_AT = 64
# A line of more bytes is none: an archive of a few of them would fill the memory.
LONGEST_LINE = 1 << 24
# Text is some 3 to 20 times as long as its archive. An archive of more than so many bytes of text that is as
# many times longer repeats one line, to fill the memory.
LARGEST_BOMB, LARGEST_RATIO = 1 << 24, 200


class LongLineError(Exception):
    """A line does not end."""


class BombError(Exception):
    """An archive is a small part of what it expands to."""


class LineCounter(io.BufferedIOBase):
    """A reader that decompresses a binary stream and counts the lines it has passed on."""

    def __init__(self, stream: Any) -> None:
        self.lines = 0
        self._since_line = 0
        self._borrowed = None if hasattr(stream, "peek") else io.BufferedReader(stream)
        self._packed = _Counted(self._borrowed or stream)
        self._unpacked = 0
        self._stream = _decompressed(self._packed)

    def readable(self) -> bool:
        """Return True."""
        return True

    def encoding(self) -> str:
        """Return the encoding that the first bytes show: UTF-16 or UTF-32, else UTF-8."""
        head = self._stream.peek(_LOOKED_AT)[:_LOOKED_AT]
        if head.startswith(_UTF_32_MARKS):
            return "UTF-32"
        # Half of what is written in Latin letters are zeros, all on one side of the pairs.
        zeros = [head[at::2].count(0) / max(len(head) // 2, 1) for at in (0, 1)]
        return "UTF-16" if head.startswith(_UTF_16_MARKS) or max(zeros) > 0.5 > 2 * min(zeros) else "UTF-8"

    def read1(self, size: int = -1, /) -> bytes:
        """Return the next bytes, more than ``size`` if there are: fewer calls, and the wrapper takes them."""
        chunk: bytes = self._stream.read1(max(size, _CHUNK_BYTES))
        ends = chunk.count(b"\n")
        self._since_line = len(chunk) - chunk.rfind(b"\n") - 1 if ends else self._since_line + len(chunk)
        if self._since_line > LONGEST_LINE:
            raise LongLineError
        self._unpacked += len(chunk)
        if self._unpacked > max(LARGEST_BOMB, LARGEST_RATIO * self._packed.read_so_far):
            raise BombError
        self.lines += ends
        return chunk

    def read(self, size: int | None = -1, /) -> bytes:
        """Return all that is left: what a text wrapper asks for when it is read as a whole."""
        return b"".join(iter(self.read1, b""))

    def release(self) -> None:
        """Let go of a stream that the caller owns, so that it is not closed along with this reader."""
        if self._borrowed is not None:
            self._borrowed.detach()


class _Counted:
    """A stream that knows how many bytes were read of it. Mutable; final."""

    def __init__(self, stream: Any) -> None:
        self.read_so_far = 0
        self.peek = stream.peek
        self._stream = stream

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""
        return self._noted(self._stream.read(size))

    def read1(self, size: int = -1, /) -> bytes:
        """Return the next bytes that are there."""
        return self._noted(self._stream.read1(size))

    def _noted(self, chunk: bytes) -> bytes:
        self.read_so_far += len(chunk)
        return chunk


def _decompressed(stream: _Counted) -> Any:
    magic = stream.peek(len(_XZ_MAGIC))
    if magic.startswith(_GZIP_MAGIC):
        return gzip.GzipFile(fileobj=cast(BinaryIO, stream))
    if magic.startswith(_XZ_MAGIC):
        return lzma.LZMAFile(cast(BinaryIO, stream))
    return stream
