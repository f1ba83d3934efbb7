"""Pages of ``docs/``: a template, and the figures of the command that made it, read back or measured anew.

``pages/NAME.md`` is the text, with ``{{name}}`` where a table or a phrase with a number goes. ``pages/NAME.json``
holds the tables of the last run as they are shown, and what made them. ``pages/readings.py`` computes phrases from
tables. Together they give ``docs/NAME.md``, to the byte, without a run; a test holds the page to that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from qsproj.errors import UsageError
from scripts.experiments.harness.build import CHECKOUT
from scripts.experiments.harness.cache import write_json
from scripts.experiments.harness.tables import Table, table

PAGES = CHECKOUT / "scripts" / "experiments" / "pages"
DOCS = CHECKOUT / "docs"
_PLACE = re.compile(r"\{\{([^{}]+)\}\}")

Tables = Mapping[str, Table]
# Computes phrases from the tables of a page.
Reading = Callable[[Tables], Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a run found, as its page shows it.

    Attributes
    ----------
    tables : dict of str to Table
    values : dict of str to str
        Single figures and what the run said.
    drawings : dict of str to str
        SVG by the name of its file in ``docs/``; not kept with the rest.
    """

    tables: Tables
    values: Mapping[str, str] = field(default_factory=dict)
    drawings: Mapping[str, str] = field(default_factory=dict)

    @property
    def filled(self) -> int:
        """The number of cells with something in them."""
        return sum(one.filled for one in self.tables.values())


@dataclass(frozen=True, kw_only=True)
class Record:
    """The figures of a page with the command and the build that made them; the text says it as the page does."""

    command: str
    made_by: str
    figures: Figures


def read_record(name: str) -> Record:
    """Read what ``pages/NAME.json`` keeps."""
    kept = json.loads((PAGES / f"{name}.json").read_text(encoding="utf-8"))
    tables = {key: table(one["header"], one["rows"]) for key, one in kept["tables"].items()}
    figures = Figures(tables=tables, values=kept["values"])
    return Record(command=kept["command"], made_by=kept["made by"], figures=figures)


def write_record(name: str, record: Record) -> None:
    """Keep the figures of a page."""
    tables = {key: {"header": one.header, "rows": one.rows} for key, one in record.figures.tables.items()}
    kept: dict[str, Any] = {"command": record.command, "made by": record.made_by}
    write_json(PAGES / f"{name}.json", {**kept, "values": dict(record.figures.values), "tables": tables})


def render(name: str, record: Record, reading: Reading | None = None) -> str:
    """Return the text of a page.

    Raises
    ------
    UsageError
        Where the template asks for what the run did not give, or leaves out a table that it gave.
    """
    template = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    known: dict[str, str] = {key: one.markdown() for key, one in record.figures.tables.items()}
    known |= record.figures.values
    known |= reading(record.figures.tables) if reading else {}
    known["made"] = f"Made by `{record.command}` ({record.made_by})."
    asked = set(_PLACE.findall(template))
    if missing := sorted(asked - set(known)):
        raise UsageError(
            f"pages/{name}.md: found {', '.join(missing)}, expected some of {', '.join(sorted(known))}"
        )
    if unread := sorted(set(known) - asked):
        raise UsageError(f"pages/{name}.md: found no place for {', '.join(unread)}; give it one")
    return _PLACE.sub(lambda place: known[place[1]], template)
