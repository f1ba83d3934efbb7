"""A treebank file under review: read once, and rewritten as a whole at each confirmation.

Unconfirmed sentences stay byte for byte. A change based on an older version of a sentence is refused, and so
is a write over a file that another program has changed. A history beside the file records changes, times and
annotators, for undo after a restart.
"""

import hashlib
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import stat_result
from pathlib import Path

from qsproj.corpus.editing import with_comment
from qsproj.corpus.files import check_can_be_written, open_binary_output, reporting_failure
from qsproj.corpus.formats import check_has_misc, read_sentences, write_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.errors import QsprojError, UsageError
from qsproj.serve.review.correction import Decided, Tree, is_text, with_cells, with_tree
from qsproj.serve.review.history import Change, History, Judged, now

REVIEWED_BY = "reviewed_by"


class StaleError(QsprojError):
    """A change based on an outdated version of a sentence."""


class FileChangedError(QsprojError):
    """A change of a file that another program has written."""


class Draft:
    """The sentences of a file, and the history of their changes. Mutable; final.

    ``who``: the annotator, written to the history and to ``# reviewed_by`` of confirmed sentences.

    Raises UsageError or DataError when the file cannot be read or written, is compressed, or is not CoNLL-U.
    """

    def __init__(self, path: str, *, who: str | None = None) -> None:
        self.path, self._who = Path(path), who
        if who is not None and not is_text(who):
            raise UsageError(f"found {who!r} as reviewer, expected a name without line breaks")
        check_can_be_written(path)
        check_has_misc(path, "--review")
        self.sentences: list[Sentence] = []
        self._blocks: list[bytes] = []
        self.history = History(self.path)
        self._seen: tuple[int, int, int] | None = None
        self.load()

    def load(self) -> None:
        """Read the file again, replacing all sentences; on an error nothing changes."""
        with reporting_failure(self.path, "read"):
            self._check_file()
            seen, content = _identity(self.path.stat()), self.path.read_bytes()
        sentences = list(read_sentences(Named(content, str(self.path))))
        blocks = [self._text_of(sentence) for sentence in sentences]
        if b"".join(blocks) != content:
            raise UsageError(f"{self.path}: found a compressed file, expected plain CoNLL-U; unpack it first")
        self.sentences, self._blocks, self._seen = sentences, blocks, seen
        self.history.load(blocks)

    def content(self) -> bytes:
        return b"".join(self._blocks)

    def version(self, index: int) -> str:
        return version_of(self._blocks[index])

    def can_undo(self, index: int) -> bool:
        try:
            return bool(self.history.undoing(index, self._blocks))
        except UsageError:
            return False

    def confirm(
        self,
        index: int,
        tree: Tree,
        *,
        version: str,
        columns: Mapping[str, Sequence[str]] | None = None,
        decided: Decided | None = None,
        judged: Judged | None = None,
    ) -> None:
        """Replace the tree, and other cells, of a sentence, mark it as reviewed, and save.

        ``decided``: the sentence stays a draft in which these cells are certain. ``judged``: what the person
        thought of the words of the draft seen for the first time. Raises StaleError when the sentence no
        longer has this ``version``, FileChangedError when another program has written the file, UsageError
        when the tree is invalid; then neither draft nor file change.
        """
        changed = with_tree(with_cells(self.sentences[index], columns or {}), tree, decided=decided)
        if self._who is not None and decided is None:
            changed = with_comment(changed, REVIEWED_BY, self._who)
        self.replace([(index, 1, [changed])], version=version, judged=judged)

    def replace(
        self,
        places: Iterable[tuple[int, int, Sequence[Sentence]]],
        *,
        version: str | None = None,
        judged: Judged | None = None,
    ) -> None:
        """Replace sentences, and save: index and number of old ones, and the new ones, of each place.

        ``version``: of the first old sentence of a single place. Raises as :meth:`confirm`.
        """
        when = now()
        changes = []
        for at, count, sentences in places:
            if version is not None:
                self._check_version(at, version)
            before, after = self._blocks[at : at + count], list(map(self._text_of, sentences))
            changes.append((Change(at, before, after, when, self._who, judged=judged), sentences))
        self._save(changes, note=lambda: self.history.add([change for change, _ in changes]))

    def undo(self, index: int, *, version: str) -> list[Change]:
        """Undo the last change of a sentence, byte for byte, with all changes of the same save.

        Returns the changes made by the undo. Raises as :meth:`confirm`; UsageError where later changes depend
        on it.
        """
        self._check_version(index, version)
        undoing = self.history.undoing(index, self._blocks)
        # A block is restored as read, also at the end of the file or after a byte order mark.
        texts = ((change, Named(b"".join(change.after), str(self.path))) for change in undoing.values())
        changes = [(change, list(read_sentences(text))) for change, text in texts]
        self._save(changes, note=lambda: self.history.take_back(undoing))
        return list(undoing.values())

    def _check_version(self, index: int, version: str) -> None:
        if version != self.version(index):
            raise StaleError("this sentence was changed in another window")

    def _check_file(self) -> None:
        """Raise UsageError for a pipe or device, which would block on opening."""
        if self.path.exists() and not self.path.is_file():
            raise UsageError(f"{self.path}: is not a regular file; copy it into one")

    def _save(
        self, changes: Sequence[tuple[Change, Sequence[Sentence]]], *, note: Callable[[], None]
    ) -> None:
        """Write the file with some changes; only a single change may alter the number of sentences."""
        self._check_file()
        blocks = self._blocks.copy()
        for change, _ in changes:
            blocks[change.place] = change.after
        try:
            with open_binary_output(self.path) as handle:
                handle.writelines(blocks)
                handle.flush()
                # As late as possible: right before the new file replaces the old one.
                self._check_unchanged()
                note()
        except BaseException:
            self.history.load(self._blocks)
            raise
        self._seen, self._blocks = _identity(self.path.stat()), blocks
        for change, sentences in changes:
            self.sentences[change.place] = sentences

    def _text_of(self, sentence: Sentence) -> bytes:
        handle = Named(b"", str(self.path))
        write_sentences([sentence], handle)
        return handle.getvalue()

    def _check_unchanged(self) -> None:
        """Raise FileChangedError when another program has changed the file; a deleted file is accepted."""
        try:
            found = _identity(self.path.stat())
        except FileNotFoundError:
            return
        if found != self._seen and self.path.read_bytes() != self.content():
            raise FileChangedError(f"{self.path.name} was changed by someone else; reload it")


def version_of(block: bytes) -> str:
    return hashlib.blake2b(block, digest_size=12).hexdigest()


class Named(io.BytesIO):
    """An in-memory binary file with a name for error messages."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


def _identity(found: stat_result) -> tuple[int, int, int]:
    return found.st_mtime_ns, found.st_size, found.st_ino
