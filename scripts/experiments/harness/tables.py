"""Tables of text cells, as pages show them, so figures derived from a table agree with its printed digits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Table:
    """A header and rows; a row is named by its first cells, a column by its heading."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"{len(row)} cells, {len(self.header)} columns: {row}")

    def markdown(self) -> str:
        """Return the table in Markdown: text to the left, numbers to the right."""
        right = [all(_is_number(row[place]) for row in self.rows) for place in range(len(self.header))]
        rule = "|".join("---:" if place and is_right else "---" for place, is_right in enumerate(right))
        return "\n".join([_line(self.header), f"|{rule}|", *map(_line, self.rows)])

    @property
    def names(self) -> list[str]:
        """The first cell of each row."""
        return [row[0] for row in self.rows]

    @property
    def filled(self) -> int:
        """The number of cells that are not empty."""
        return sum(bool(cell) for row in self.rows for cell in row)

    def column(self, heading: str) -> int:
        if heading not in self.header:
            raise KeyError(f"no column {heading!r} among {self.header}")
        return self.header.index(heading)

    def part(self, *, rows: Sequence[str] = (), columns: Sequence[str] = ()) -> Table:
        """Return the rows (``A > B``: by several cells) and columns (``NAME = HEADING``: renamed) that are named."""
        chosen = [self.row(*name.split(" > ")) for name in rows] or list(self.rows)
        pairs = [re.split(" ?= ", name) for name in columns] or [[name] for name in self.header]
        places = [self.column(names[0]) for names in pairs]
        return table([names[-1] for names in pairs], [[row[place] for place in places] for row in chosen])

    def row(self, *names: str) -> tuple[str, ...]:
        """Return the row that begins with these cells."""
        for row in self.rows:
            if row[: len(names)] == names:
                return row
        raise KeyError(f"no row {names} among {self.names}")

    def cell(self, *names: str) -> str:
        """Return a cell by the first cells of its row, then the heading of its column."""
        *row_names, heading = names
        return self.row(*row_names)[self.column(heading)]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    return Table(tuple(header), tuple(tuple(row) for row in rows))


def numbers(cell: str) -> list[float]:
    """Return the numbers in a cell."""
    return [float(number.replace(",", "")) for number in _NUMBER.findall(cell)]


def listed(names: Sequence[str]) -> str:
    """Say names in a sentence: a, b and c."""
    if not names:
        return "none"
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _is_number(cell: str) -> bool:
    return not cell or bool(_NUMBER.match(cell.lstrip("*< ")))
