"""Pages of ``docs/results``: templates, and cells of the tables that experiments recorded.

``pages/NAME.md`` is the text of ``docs/results/NAME.md``. ``records/ROOM.MODULE.json`` holds the tables of the last
run of one experiment. Several experiments may feed a page. In a template stand, between double braces:

- ``RECORD: TABLE > ROW > COLUMN``: one cell; a row is named by its first cell, or its first cells (``A > B``);
- ``RECORD: TABLE``: the whole table;
- the same with ``rows:`` and ``columns:`` on lines of their own: the rows and columns that are named, separated by
  ``;``; ``COLUMN = HEADING`` renames a column;
- ``RECORD: TABLE`` with ``chart: LINES; X; Y`` on a line of its own: a picture beside the page, with a panel for each
  first cell; the columns that name the lines, their points' places, and heights;
- ``RECORD: NAME``: a single value;
- ``CELL minus CELL``: a difference, with its sign;
- ``made``: the commands that made the figures of the page, with their builds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from qsproj.errors import UsageError
from scripts.experiments.harness.build import CHECKOUT
from scripts.experiments.harness.cache import write_json
from scripts.experiments.harness.chart import line_chart
from scripts.experiments.harness.tables import Table, numbers, table

EXPERIMENTS = CHECKOUT / "scripts" / "experiments"
PAGES = EXPERIMENTS / "pages"
RECORDS = EXPERIMENTS / "records"
DOCS = CHECKOUT / "docs" / "results"
MADE, MINUS = "made", " minus "
_PLACE = re.compile(r"\{\{([^{}]+)\}\}")
_OPTION = re.compile(r"^(rows|columns|chart): *", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The figures of a run.

    Attributes
    ----------
    tables : dict of str to Table
    values : dict of str to str
        Single figures.
    """

    tables: Mapping[str, Table]
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def filled(self) -> int:
        """The number of cells with something in them."""
        return sum(one.filled for one in self.tables.values())


@dataclass(frozen=True, kw_only=True)
class Record:
    """The figures of an experiment with the command and the build that made them."""

    command: str
    made_by: str
    figures: Figures


def read_record(name: str) -> Record:
    """Read ``records/NAME.json``."""
    path = RECORDS / f"{name}.json"
    if not path.exists():
        raise UsageError(f"found no record {name}, expected one of {', '.join(record_names())}")
    kept = json.loads(path.read_text(encoding="utf-8"))
    tables = {key: table(one["header"], one["rows"]) for key, one in kept["tables"].items()}
    figures = Figures(tables=tables, values=kept["values"])
    return Record(command=kept["command"], made_by=kept["made by"], figures=figures)


def write_record(name: str, record: Record) -> None:
    """Write ``records/NAME.json``."""
    tables = {key: {"header": one.header, "rows": one.rows} for key, one in record.figures.tables.items()}
    kept: dict[str, Any] = {"command": record.command, "made by": record.made_by}
    write_json(RECORDS / f"{name}.json", {**kept, "values": dict(record.figures.values), "tables": tables})


def record_names() -> list[str]:
    return sorted(path.stem for path in RECORDS.glob("*.json"))


def page_names() -> list[str]:
    return sorted(path.stem for path in PAGES.glob("*.md"))


def write_pages() -> None:
    """Write all pages from the records."""
    DOCS.mkdir(exist_ok=True)
    for name in page_names():
        (DOCS / f"{name}.md").write_text(render(name), encoding="utf-8")
        for picture, svg in charts(name).items():
            (DOCS / picture).write_text(svg, encoding="utf-8")


def records_of(template: str) -> list[str]:
    """Return the names of the records that a template reads, in the order of their first use."""
    cells = (cell for place in _PLACE.findall(template) if place != MADE for cell in place.split(MINUS))
    return list(dict.fromkeys(cell.partition(": ")[0].strip() for cell in cells))


def charts(name: str) -> dict[str, str]:
    """Return the pictures of a page, SVG by the name of the file."""
    found = {}
    for place in _PLACE.findall((PAGES / f"{name}.md").read_text(encoding="utf-8")):
        path, *options = _OPTION.split(place.strip())
        if options[:1] == ["chart"]:
            record, _, key = path.strip().partition(": ")
            lines, x, y = names(options[1])
            figures = read_record(record).figures
            found[f"{name}-{y.lower()}.svg"] = line_chart(figures.tables[key], lines=lines, x=x, y=y)
    return found


def render(name: str) -> str:
    """Return the text of a page.

    Raises
    ------
    UsageError
        Where the template asks for a figure that no record has.
    """
    template = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    records = {record: read_record(record) for record in records_of(template)}

    def shown(place: re.Match[str]) -> str:
        asked = place[1].strip()
        try:
            if "\nchart: " in asked:
                _, x, y = names(asked.rpartition("chart: ")[2])
                return f"![{y} by {x}]({name}-{y.lower()}.svg)"
            return made(records) if asked == MADE else figure(asked, records)
        except (KeyError, ValueError) as error:
            raise UsageError(f"pages/{name}.md: {{{{{asked}}}}}: {error.args[0]}") from error

    return _PLACE.sub(shown, template)


def made(records: Mapping[str, Record]) -> str:
    """List the commands that made the figures of a page, one a line, with their builds."""
    return "\n".join(f"- `{record.command}` ({record.made_by})" for record in records.values())


def figure(asked: str, records: Mapping[str, Record]) -> str:
    """Return the figure for one placeholder of a template.

    Raises
    ------
    KeyError
        Where there is no such table, row, column or value.
    """
    if MINUS in asked:
        return difference(*(figure(one, records) for one in asked.split(MINUS)))
    name, *options = _OPTION.split(asked)
    record, _, path = name.strip().partition(": ")
    key, *cell = path.split(" > ")
    figures = records[record].figures
    if key in figures.values:
        return figures.values[key]
    if key not in figures.tables:
        known = ", ".join((*figures.tables, *figures.values))
        raise KeyError(f"found {key!r}, expected one of {known}")
    if cell:
        return figures.tables[key].cell(*cell)
    chosen = dict(zip(options[::2], (names(value) for value in options[1::2]), strict=True))
    return figures.tables[key].part(**chosen).markdown()


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(";")]


def difference(one: str, other: str) -> str:
    """Return the difference of two cells, with its sign and their digits."""
    digits = max(len(cell.partition(".")[2]) for cell in (one, other))
    return f"{round(numbers(one)[0] - numbers(other)[0], digits) + 0.0:+.{digits}f}"
