"""The change history of a file under review, kept beside it, for undo."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from qsproj.corpus.cells import COLUMN_COUNT, DEPREL, HEAD, UPOS
from qsproj.corpus.files import reporting_failure
from qsproj.errors import UsageError


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Judged(NamedTuple):
    """Words of a draft that a person has seen for the first time, those left as shown, and changed cells."""

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
    judged: Judged | None = None

    def record(self) -> dict[str, Any]:
        texts = {key: [block.decode() for block in getattr(self, key)] for key in ("before", "after")}
        return {name: value for name, value in (asdict(self) | texts).items() if value is not None}

    def reversed(self, at: int) -> Change:
        return replace(self, at=at, before=self.after, after=self.before)

    @property
    def place(self) -> slice:
        return slice(self.at, self.at + len(self.before))

    @property
    def shift(self) -> int:
        return len(self.after) - len(self.before)


@dataclass(slots=True)
class _Step:
    """Changes made or undone in one save; ``end``: end of its lines in the file. Mutable."""

    end: int
    made: dict[int, Change] = field(default_factory=dict)
    undone: list[int] = field(default_factory=list)


class History:
    """The changes of a file that are not undone, by number. Mutable; final.

    ``FILE.history`` has a line of JSON for each, written before the file itself. Each sentence records the
    last change that produced it. A change can be undone unless a later one replaced any of its sentences;
    moved sentences are tracked.
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
        """Read the changes that led to these sentences.

        A last step that is missing from the file, after a crash between the two writes, is dropped.
        """
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
        standing = (change for step in steps for number, change in step.made.items() if number not in undone)
        self._start(max(0, sentences - sum(change.shift for change in standing)))
        for step in steps:
            for number, change in step.made.items():
                self._put(number, change)
            for number in step.undone:
                self._take(number)

    def corrections(self) -> list[tuple[str, int, int]]:
        """Return (time, number of words, number of changed cells) of each confirmation, in order.

        Changes of UPOS, HEAD and DEPREL count, also earlier ones that were not confirmed, against the draft
        that was shown if it was a newer one than the file's, in sentences whose tokenization is unchanged.
        """
        found, unconfirmed = [], 0
        for change in self.changes.values():
            before, after = (_recorded_cells(blocks) for blocks in (change.before, change.after))
            if len(before) != len(after):
                continue
            if change.judged is not None:
                cells = change.judged.cells
            else:
                cells = sum(a != b for rows in zip(before, after) for a, b in zip(*rows, strict=True))
            if b"Reviewed=Yes" in change.after[0]:
                found.append((change.when, len(after), cells + unconfirmed))
                unconfirmed = 0
            elif change.judged is not None:
                unconfirmed += cells
        return found

    def judged(self) -> list[tuple[str, Judged]]:
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
        # Changes about to be made.
        numbered = {self._next + at: replace(one, batch=self._next) for at, one in enumerate(changes)}
        self._write([{"number": number, **change.record()} for number, change in numbered.items()])
        for number, change in numbered.items():
            self._put(number, change)

    def take_back(self, numbers: Iterable[int]) -> None:
        # Changes about to be undone.
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
            number = int(record["number"])
            before, made = ([text.encode() for text in record[key]] for key in ("before", "after"))
            batch = int(record["batch"])
            change = Change(int(record["at"]), before, made, record["when"], record.get("who"), batch)
            if "judged" in record:
                change = replace(change, judged=Judged(*map(int, record["judged"])))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        if change.at < 0 or not before or not made:
            continue
        if steps and batch in steps[-1].made:
            steps[-1].end = end
        else:
            steps.append(_Step(end))
        steps[-1].made[number] = change
    return steps


def _recorded_cells(blocks: Sequence[bytes]) -> list[list[bytes]]:
    rows = [line.split(b"\t") for block in blocks for line in block.splitlines()]
    words = (row for row in rows if len(row) == COLUMN_COUNT and row[0].isdigit())
    return [[row[UPOS], row[HEAD], row[DEPREL]] for row in words]
