"""A file of trees that is reviewed: read once, and written as a whole whenever a sentence is confirmed.

What was not confirmed stays byte for byte. A writer who saw an older state of a sentence, or a file that
someone else has written meanwhile, is refused rather than overwritten.
"""

from __future__ import annotations

import hashlib
import io
from collections import defaultdict
from os import stat_result
from pathlib import Path

from qsproj.corpus.files import check_can_be_written, open_binary_output
from qsproj.corpus.formats import check_has_misc, read_sentences, write_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.errors import QsprojError, UsageError
from qsproj.serve.review.correction import Tree, reviewed


class StaleError(QsprojError):
    """A change of a sentence that has changed meanwhile."""


class FileChangedError(QsprojError):
    """A change of a file that someone else has written."""


class Draft:
    """The sentences of a file, and what they were before they were confirmed. Mutable; final.

    Raises UsageError, DataError when the file cannot be read or written, is compressed, or is no CoNLL-U.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        check_can_be_written(path)
        check_has_misc(path, "--review")
        self.sentences: list[Sentence] = []
        self._blocks: list[bytes] = []
        self._before: dict[int, list[tuple[Sentence, bytes]]] = defaultdict(list)
        self._seen: tuple[int, int, int] | None = None
        self.load()

    def load(self) -> None:
        """Read the file, and forget what was there; when it cannot be read, all stays as it is."""
        try:
            self._check_file()
            seen, content = _identity(self.path.stat()), self.path.read_bytes()
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be read: {error.strerror}") from error
        sentences = list(read_sentences(Named(content, str(self.path))))
        blocks = [self._text_of(sentence) for sentence in sentences]
        if b"".join(blocks) != content:
            raise UsageError(f"{self.path}: found a compressed file, expected plain CoNLL-U; unpack it first")
        self.sentences, self._blocks, self._seen = sentences, blocks, seen
        self._before.clear()

    def content(self) -> bytes:
        """Return the file as it stands."""
        return b"".join(self._blocks)

    def version(self, index: int) -> str:
        """Return what tells a sentence from any other state of it."""
        return hashlib.blake2b(self._blocks[index], digest_size=12).hexdigest()

    def can_undo(self, index: int) -> bool:
        """Return whether a sentence was confirmed since the file was read."""
        return bool(self._before[index])

    def confirm(self, index: int, tree: Tree, *, version: str) -> None:
        """Put a tree into a sentence, mark it as reviewed, and save.

        Raises StaleError when the sentence is no longer that of ``version``, FileChangedError when someone
        else has written the file, UsageError when it is no tree; then nothing has changed, here or there.
        """
        self._check_version(index, version)
        changed = reviewed(self.sentences[index], tree)
        before = self.sentences[index], self._blocks[index]
        self._save(index, changed, self._text_of(changed))
        self._before[index].append(before)

    def undo(self, index: int, *, version: str) -> None:
        """Take the last confirmation of a sentence back, byte for byte; raises as :meth:`confirm`."""
        self._check_version(index, version)
        if not self.can_undo(index):
            raise UsageError("found nothing to undo in this sentence")
        self._save(index, *self._before[index][-1])
        self._before[index].pop()

    def _check_version(self, index: int, version: str) -> None:
        if version != self.version(index):
            raise StaleError("this sentence was changed in another window")

    def _check_file(self) -> None:
        """Raise UsageError where a pipe or a device would keep whoever opens it waiting."""
        if self.path.exists() and not self.path.is_file():
            raise UsageError(f"{self.path}: found no file of its own, expected one; copy it into a file")

    def _save(self, index: int, sentence: Sentence, block: bytes) -> None:
        self._check_file()
        with open_binary_output(self.path) as handle:
            handle.writelines(self._blocks[:index])
            handle.write(block)
            handle.writelines(self._blocks[index + 1 :])
            handle.flush()
            # As late as can be: right before the new file takes the place of the old one.
            self._check_unchanged()
        self._seen = _identity(self.path.stat())
        self.sentences[index], self._blocks[index] = sentence, block

    def _text_of(self, sentence: Sentence) -> bytes:
        handle = Named(b"", str(self.path))
        write_sentences([sentence], handle)
        return handle.getvalue()

    def _check_unchanged(self) -> None:
        """Raise FileChangedError when the file is not what was read or written here; one that is gone is."""
        try:
            found = _identity(self.path.stat())
        except FileNotFoundError:
            return
        if found != self._seen and self.path.read_bytes() != self.content():
            raise FileChangedError(f"{self.path.name} was changed by someone else; load it again")


class Named(io.BytesIO):
    """Bytes as an open file with a name for errors."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


def _identity(found: stat_result) -> tuple[int, int, int]:
    return found.st_mtime_ns, found.st_size, found.st_ino
