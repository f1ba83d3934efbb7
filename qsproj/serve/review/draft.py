"""A treebank file under review: read once, and rewritten as a whole at each confirmation.

Unconfirmed sentences stay byte for byte. A change based on an older version of a sentence is refused, and so
is a write over a file that another program has changed. A history beside the file records changes for undo.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from qsproj.corpus.cells import COLUMN_COUNT, DEPREL, HEAD, UPOS
from qsproj.corpus.editing import with_comment
from qsproj.corpus.files import check_can_be_written, open_binary_output, reporting_failure
from qsproj.corpus.formats import check_has_misc, read_sentences, write_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.errors import QsprojError, UsageError
from qsproj.serve.review.correction import Decided, Tree, is_text, with_cells, with_checked, with_tree

REVIEWED_BY = "reviewed_by"


class StaleError(QsprojError):
    """A change based on an outdated version of a sentence."""


class FileChangedError(QsprojError):
    """A change of a file that another program has written."""


class Draft:
    """The sentences of a file, and the history of their changes. Mutable; final.

    ``who``: the annotator, written to the history and to ``# reviewed_by`` of confirmed sentences. Raises
    UsageError or DataError when the file cannot be read or written, is compressed, or is not CoNLL-U.
    """

    def __init__(self, path: str, *, who: str | None = None) -> None:
        self.path, self._who = Path(path), who
        if who is not None and not is_text(who):
            raise UsageError(f"found {who!r} as reviewer, expected a name without line breaks")
        check_can_be_written(path)
        check_has_misc(path, "--review")
        self.history = History(self.path)
        self.load()

    def load(self) -> None:
        """Read the file again, replacing all sentences; on an error nothing changes."""
        with reporting_failure(self.path, "read"):
            self._check_file()
            seen, content = _identity(self.path.stat()), self.path.read_bytes()
        sentences = list(read_sentences(NamedBytes(content, str(self.path))))
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
        checked: Iterable[str] = (),
        judged: Judgement | None = None,
    ) -> None:
        """Replace the tree, and other cells, of a sentence, mark it as reviewed, and save.

        ``decided``: the certain cells of a sentence that stays a draft. ``checked``: columns to be noted as
        checked. ``judged``: counts for the history.
        Raises StaleError for another ``version``, FileChangedError for a file that another program has
        written, UsageError for an invalid tree; then neither draft nor file change.
        """
        changed = with_tree(with_cells(self.sentences[index], columns or {}), tree, decided=decided)
        changed = with_checked(changed, checked)
        if self._who is not None and decided is None:
            changed = with_comment(changed, REVIEWED_BY, self._who)
        self.replace([(index, 1, [changed])], version=version, judged=judged)

    def replace(
        self,
        places: Iterable[tuple[int, int, Sequence[Sentence]]],
        *,
        version: str | None = None,
        judged: Judgement | None = None,
    ) -> None:
        """Replace sentences, and save: index and number of old ones, and the new ones, of each place.

        ``version``: of the first old sentence of a single place. Raises as :meth:`confirm`.
        """
        when, changes = now(), []
        for at, count, sentences in places:
            if version is not None:
                self._check_version(at, version)
            before, after = self._blocks[at : at + count], list(map(self._text_of, sentences))
            changes.append((Change(at, before, after, when, self._who, judged=judged), sentences))
        self._save(changes, note=lambda: self.history.add([change for change, _ in changes]))

    def undo(self, index: int, *, version: str) -> list[Change]:
        """Undo a sentence's last change, byte for byte, with all of the same save; return the changes made.

        Raises as :meth:`confirm`; UsageError where later changes depend on it.
        """
        self._check_version(index, version)
        undoing = self.history.undoing(index, self._blocks)
        # A block is restored as read, also at the end of the file or after a byte order mark.
        texts = ((change, NamedBytes(b"".join(change.after), str(self.path))) for change in undoing.values())
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

    def _save(self, made: Sequence[tuple[Change, Sequence[Sentence]]], *, note: Callable[[], None]) -> None:
        """Write the file with some changes; only a single change may alter the number of sentences."""
        self._check_file()
        blocks = self._blocks.copy()
        for change, _ in made:
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
        for change, sentences in made:
            self.sentences[change.place] = sentences

    def _text_of(self, sentence: Sentence) -> bytes:
        handle = NamedBytes(b"", str(self.path))
        write_sentences([sentence], handle)
        return handle.getvalue()

    def _check_unchanged(self) -> None:
        """Raise FileChangedError when another program has changed the file; a deleted file is accepted."""
        with suppress(FileNotFoundError):
            if _identity(self.path.stat()) != self._seen and self.path.read_bytes() != self.content():
                raise FileChangedError(f"{self.path.name} was changed by someone else; reload it")


def version_of(block: bytes) -> str:
    return hashlib.blake2b(block, digest_size=12).hexdigest()


class NamedBytes(io.BytesIO):
    """An in-memory binary file with a name for error messages."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


def _identity(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_mtime_ns, found.st_size, found.st_ino


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Judgement(NamedTuple):
    """Numbers of words of a draft judged for the first time, of those left unchanged, of changed cells."""

    words: int
    kept: int
    cells: int


@dataclass(frozen=True, slots=True)
class Change:
    """Sentences from index ``at`` on, as bytes in the file, and their replacements."""

    at: int
    before: list[bytes]
    after: list[bytes]
    when: str = ""
    who: str | None = None
    batch: int = -1  # the number of the first change in the same save
    judged: Judgement | None = None

    def record(self) -> dict[str, Any]:
        texts = {key: [block.decode() for block in getattr(self, key)] for key in ("before", "after")}
        return {name: value for name, value in (asdict(self) | texts).items() if value is not None}

    def reversed(self, at: int) -> Change:
        return replace(self, at=at, before=self.after, after=self.before)

    @property
    def place(self) -> slice:
        return slice(self.at, self.at + len(self.before))


@dataclass(slots=True)
class _Step:
    """Changes made or undone in one save; ``end``: end of its lines in the file. Mutable."""

    end: int
    made: dict[int, Change] = field(default_factory=dict)
    undone: list[int] = field(default_factory=list)


class History:
    """The changes of a file that are not undone, by number. Mutable; final.

    ``FILE.history`` has a line of JSON for each, written before the file itself. Each sentence records the
    last change that produced it. A change can be undone unless a later one replaced any of its sentences.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(path.name + ".history")
        self._size = 0  # of the valid part of the file
        self._start(0)

    def _start(self, sentences: int) -> None:
        self.changes = dict[int, Change]()
        self._last: list[int | None] = [None] * sentences  # by sentence: number of its last change
        self._below = dict[int, list[int | None]]()  # by change: the replaced part of ``_last``
        self._next = 0

    def load(self, blocks: Sequence[bytes]) -> None:
        """Read the changes that led to these sentences, without a last one that was lost in a crash."""
        with reporting_failure(self.path, "read"):
            content = self.path.read_bytes() if self.path.exists() else b""
        self._size, steps = len(content), _steps(content)
        if steps and self._lacks_last(steps, blocks):
            steps.pop()
            self._size = steps[-1].end if steps else 0
        self._replay(steps, len(blocks))

    def _lacks_last(self, steps: Sequence[_Step], blocks: Sequence[bytes]) -> bool:
        self._replay(steps[:-1], len(blocks))
        known = (one for one in steps[-1].undone if one in self.changes)
        undone = (self.changes[one].reversed(self._place_of(one) or 0) for one in known)
        changes = [*steps[-1].made.values(), *undone]
        return bool(changes) and all(blocks[one.place] == one.before for one in changes)

    def _replay(self, steps: Sequence[_Step], sentences: int) -> None:
        undone = {number for step in steps for number in step.undone}
        standing = [change for step in steps for number, change in step.made.items() if number not in undone]
        self._start(max(0, sentences - sum(len(one.after) - len(one.before) for one in standing)))
        for step in steps:
            for number, change in step.made.items():
                self._put(number, change)
            for number in step.undone:
                self._take(number)

    def corrections(self) -> list[tuple[str, int, int]]:
        """Return (time, number of words, number of changed cells) of each confirmation, in order.

        Counted are changes of UPOS, HEAD and DEPREL to the draft that the page showed, with earlier ones that
        were not confirmed, in sentences whose tokenization is unchanged.
        """
        found, unconfirmed = [], 0
        for change in self.changes.values():
            before, after = (_recorded_cells(blocks) for blocks in (change.before, change.after))
            if len(before) != len(after):
                continue
            cells = sum(a != b for rows in zip(before, after) for a, b in zip(*rows, strict=True))
            if change.judged is not None:
                cells = change.judged.cells
            if b"Reviewed=Yes" in change.after[0]:
                found.append((change.when, len(after), cells + unconfirmed))
                unconfirmed = 0
            elif change.judged is not None:
                unconfirmed += cells
        return found

    def judged(self) -> list[tuple[str, Judgement]]:
        return [(one.when, one.judged) for one in self.changes.values() if one.judged is not None]

    def undoing(self, index: int, blocks: Sequence[bytes]) -> dict[int, Change]:
        """Return, by number, the changes that undo a sentence's last change and others of the same save.

        Others that later changes depend on are left out. Raises UsageError where the sentence has no change,
        where later changes depend on it, or where another program has changed its sentences since.
        """
        number = self._last[index]
        if number is None or number not in self.changes:
            raise UsageError("found nothing to undo in this sentence")
        batch = self.changes[number].batch
        found = {}
        for one in (one for one, change in self.changes.items() if change.batch == batch):
            at = self._place_of(one)
            if at is not None and blocks[(back := self.changes[one].reversed(at)).place] == back.before:
                found[one] = back
        if number not in found:
            if self._place_of(number) is not None:
                raise UsageError("another program has changed this sentence since; nothing is undone")
            others = ((at, one) for at, one in enumerate(self._last, start=1) if one != number)
            later = next(at for at, one in others if self._lies_on(one, number))
            why = "belongs to the same change and was changed later"
            raise UsageError(f"sentence {later} {why}; undo that first")
        return found

    def _place_of(self, number: int) -> int | None:
        """Return the index of a change's sentences; None where a later change replaced some of them."""
        if number not in self._last:
            return None
        at, count = self._last.index(number), len(self.changes[number].after)
        return at if self._last[at : at + count] == [number] * count else None

    def _lies_on(self, upper: int | None, number: int) -> bool:
        below = [] if upper is None else self._below.get(upper, [])
        return number in below or any(self._lies_on(one, number) for one in {*below})

    def add(self, changes: Sequence[Change]) -> None:
        """Note changes about to be made."""
        numbered = {self._next + at: replace(one, batch=self._next) for at, one in enumerate(changes)}
        self._write([{"number": number, **change.record()} for number, change in numbered.items()])
        for number, change in numbered.items():
            self._put(number, change)

    def take_back(self, numbers: Iterable[int]) -> None:
        """Note changes about to be undone."""
        undone = list(numbers)
        self._write([{"undone": undone, "when": now()}])
        for number in undone:
            self._take(number)

    def _put(self, number: int, change: Change) -> None:
        self._next = number + 1
        below = self._last[change.place]
        if len(below) == len(change.before):
            self.changes[number], self._below[number] = change, below
            self._last[change.place] = [number] * len(change.after)

    def _take(self, number: int) -> None:
        if number not in self.changes:
            return
        at, change, below = self._place_of(number), self.changes.pop(number), self._below.pop(number)
        if at is not None:
            self._last[change.reversed(at).place] = below

    def _write(self, records: Sequence[dict[str, Any]]) -> None:
        lines = "".join(f"\n{json.dumps(one, ensure_ascii=False)}" for one in records).encode()
        with reporting_failure(self.path, "written"), self.path.open("ab") as handle:
            if handle.tell() > self._size:
                handle.truncate(self._size)
            handle.write(lines)
            handle.flush()
            os.fsync(handle.fileno())
            self._size = handle.tell()


def _steps(content: bytes) -> list[_Step]:
    """Parse the lines of a history; lines truncated by a crash are skipped."""
    steps, end = list[_Step](), 0
    for line in content.splitlines(keepends=True):
        end += len(line)
        try:
            record = json.loads(line)
            if "undone" in record:
                steps.append(_Step(end, undone=list(map(int, record["undone"]))))
                continue
            number, batch = int(record["number"]), int(record["batch"])
            before, made = ([text.encode() for text in record[key]] for key in ("before", "after"))
            judged = Judgement(*map(int, record["judged"])) if "judged" in record else None
            at, when, who = int(record["at"]), record["when"], record.get("who")
            change = Change(at, before, made, when, who, batch, judged)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        if at < 0 or not before or not made:
            continue
        if not (steps and batch in steps[-1].made):
            steps.append(_Step(end))
        steps[-1].end = end
        steps[-1].made[number] = change
    return steps


def _recorded_cells(blocks: Sequence[bytes]) -> list[list[bytes]]:
    rows = [line.split(b"\t") for block in blocks for line in block.splitlines()]
    words = (row for row in rows if len(row) == COLUMN_COUNT and row[0].isdigit())
    return [[row[UPOS], row[HEAD], row[DEPREL]] for row in words]
