"""Rows of a table whose columns are treebanks, with their mean in the last: what stands above what, and by how much."""

from __future__ import annotations

from scripts.experiments.harness.tables import Table, span


def treebanks(one: Table, *names: str) -> list[str]:
    """Return the treebanks that have figures in all of some rows; the last column is the mean."""
    return [h for h in one.header[1:-1] if all(one.has(name, h) for name in names)]


def starred(one: Table, name: str) -> list[str]:
    """Return the treebanks whose figure in a row differs significantly."""
    return [h for h in one.header[1:-1] if "*" in one.cell(name, h)]


def above(one: Table, name: str, other: str) -> str:
    """Say how far one row is above another, on the mean of the treebanks that have both."""
    found = gains_of(one, name, other)
    if not found:
        return "not measured"
    spread = f", {span(found, digits=2, sign=True)}" if len(found) > 1 else ""
    return f"{sum(found) / len(found):+.2f} (mean of {len(found)}{spread})"


def gains_of(one: Table, name: str, other: str) -> list[float]:
    """Return how far one row is above another, in each column of treebanks that has both."""
    headings = [h for h in one.header[1:-1] if one.has(name, h) and one.has(other, h)]
    return [one.number(name, h) - one.number(other, h) for h in headings]
