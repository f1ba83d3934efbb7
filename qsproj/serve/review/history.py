"""What was changed in a file under review, when and by whom: kept beside it, for undo after a restart."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from qsproj.corpus.cells import COLUMN_COUNT, DEPREL, HEAD, UPOS
from qsproj.errors import UsageError


@dataclass(frozen=True, slots=True)
class Change:
    """Sentences from ``at`` on, as they stand in the file, and what stood there before."""

    at: int
    before: list[bytes]
    after: list[bytes]
    when: str = ""
    who: str | None = None

    @staticmethod
    def now(at: int, before: Iterable[bytes], after: Iterable[bytes], *, who: str | None) -> Change:
        """Return a change of this moment."""
        return Change(at, list(before), list(after), datetime.now(UTC).isoformat(timespec="seconds"), who)

    def reversed(self) -> Change:
        """Return the change that takes this one back."""
        return Change(self.at, self.after, self.before)

    @property
    def place(self) -> slice:
        """Where what stood before stands."""
        return slice(self.at, self.at + len(self.before))

    @property
    def shift(self) -> int:
        """By how many sentences what follows moves."""
        return len(self.after) - len(self.before)


class History:
    """The changes of a file that can be taken back, the last one last. Mutable; final.

    ``FILE.history`` has a line of JSON for each, written before the file is; what the file does not show is
    passed over when it is read: the last change before a crash, and changes by other programs.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(path.name + ".history")
        self.changes: list[Change] = []
        self._numbers: list[int] = []
        self._next = 0

    def load(self, blocks: Sequence[bytes]) -> None:
        """Read the changes that led to these sentences."""
        self.changes, self._numbers, self._next = [], [], 0
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be read: {error.strerror}") from error
        kept = dict[int, Change]()
        for line in lines:
            try:
                told = json.loads(line)
                if "undone" in told:
                    kept.pop(int(told["undone"]), None)
                    continue
                before, after = ([text.encode() for text in told[key]] for key in ("before", "after"))
                kept[self._next] = Change(int(told["at"]), before, after, told["when"], told["who"])
            except (ValueError, KeyError, TypeError, AttributeError):
                continue  # half a line, by a crash
            self._next += 1
        state = list(blocks)
        for number, change in reversed(kept.items()):
            place = change.reversed().place
            if state[place] == change.after:
                state[place] = change.before
                self.changes.insert(0, change)
                self._numbers.insert(0, number)
            elif change.shift:
                break  # where others stood then is not known

    def corrections(self) -> list[tuple[str, int, int]]:
        """Return of each confirmation, in order, its time, the words, and how many cells it changed.

        Counted are UPOS, HEAD and DEPREL of sentences that were cut no otherwise.
        """
        found = []
        for change in self.changes:
            before, after = (_cells(blocks) for blocks in (change.before, change.after))
            if len(before) == len(after) and b"Reviewed=Yes" in change.after[0]:
                changed = sum(
                    one != two
                    for old, new in zip(before, after, strict=True)
                    for one, two in zip(old, new, strict=True)
                )
                found.append((change.when, len(after), changed))
        return found

    def last(self, index: int) -> int | None:
        """Return the place of the last change of a sentence; None where there is none that can be undone."""
        for place in reversed(range(len(self.changes))):
            change = self.changes[place]
            if change.at <= index < change.at + len(change.after):
                return place
            if change.shift:
                return None
        return None

    def add(self, changes: Sequence[Change]) -> None:
        """Note changes that are about to be made."""
        self._write(
            [
                {
                    "when": change.when,
                    "who": change.who,
                    "at": change.at,
                    "before": [block.decode() for block in change.before],
                    "after": [block.decode() for block in change.after],
                }
                for change in changes
            ]
        )
        self.changes += changes
        self._numbers += range(self._next, self._next + len(changes))
        self._next += len(changes)

    def take_back(self, place: int) -> None:
        """Note that a change is about to be undone."""
        when = datetime.now(UTC).isoformat(timespec="seconds")
        self._write([{"undone": self._numbers[place], "when": when}])
        del self.changes[place], self._numbers[place]

    def _write(self, told: Sequence[dict[str, Any]]) -> None:
        lines = "".join(f"\n{json.dumps(one, ensure_ascii=False)}" for one in told).encode()
        try:
            with self.path.open("ab") as handle:
                handle.write(lines)
                handle.flush()
                os.fsync(handle.fileno())
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be written: {error.strerror}") from error


def _cells(blocks: Sequence[bytes]) -> list[list[bytes]]:
    """Return UPOS, HEAD and DEPREL of each word."""
    rows = [line.split(b"\t") for block in blocks for line in block.splitlines()]
    return [
        [row[UPOS], row[HEAD], row[DEPREL]] for row in rows if len(row) == COLUMN_COUNT and row[0].isdigit()
    ]
