"""Tables as pages show them: cells are text, so that what is computed from a table is what its reader would compute."""

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
        return self.header.index(heading)

    def cell(self, *names: str) -> str:
        """Return a cell by the first cells of its row, then the heading of its column."""
        *row_names, heading = names
        for row in self.rows:
            if list(row[: len(row_names)]) == row_names:
                return row[self.column(heading)]
        raise KeyError(f"no row {row_names} among {self.names}")

    def number(self, *names: str) -> float:
        """Return the first number in a cell: 81.2 of ``81.2 ± 0.3`` or of ``81.2* (80.0)``."""
        return numbers(self.cell(*names))[0]

    def has(self, *names: str) -> bool:
        """Tell whether there is such a cell with a number in it."""
        try:
            return bool(numbers(self.cell(*names)))
        except (KeyError, ValueError):
            return False

    def numbers_in(self, heading: str, *, rows: Iterable[str] | None = None) -> list[float]:
        """Return the numbers of a column, of all rows or of those named; empty cells are left out."""
        wanted = None if rows is None else set(rows)
        chosen = (row for row in self.rows if wanted is None or row[0] in wanted)
        return [number for row in chosen for number in numbers(row[self.column(heading)])[:1]]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    return Table(tuple(header), tuple(tuple(row) for row in rows))


def read_table(markdown: str) -> Table:
    """Return the table that Markdown shows."""
    header, _, *rows = ([cell.strip() for cell in _cells(line)] for line in markdown.strip().splitlines())
    return table(header, rows)


def numbers(cell: str) -> list[float]:
    """Return the numbers in a cell."""
    return [float(number.replace(",", "")) for number in _NUMBER.findall(cell)]


def span(values: Iterable[float], *, digits: int = 1, sign: bool = False) -> str:
    """Say between what and what values lie, for a sentence."""
    # Adding zero makes zero of minus zero.
    found = sorted(round(value, digits) + 0.0 for value in values)
    low, high = (f"{value:{'+' if sign else ''}.{digits}f}" for value in (found[0], found[-1]))
    return low if low == high else f"{low} to {high}"


def verdict(found: float, aim: float) -> str:
    """Say whether a figure reaches an aim, to a tenth, as both are shown."""
    missing = round(aim - found, 1)
    return f"missed by {missing:.1f}" if missing > 0 else "reached"


def listed(names: Sequence[str]) -> str:
    """Say names in a sentence: a, b and c."""
    if not names:
        return "none"
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _cells(line: str) -> list[str]:
    return line.strip().removeprefix("|").removesuffix("|").split("|")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _is_number(cell: str) -> bool:
    return not cell or bool(_NUMBER.match(cell.lstrip("*< ")))
