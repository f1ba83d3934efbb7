"""The tables of soft.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scripts.experiments.harness.tables import Table, table

# What one system scored, by test set: pud, tagged, dev.
Row = Mapping[str, Any]
KEYS = ("uas", "las", "las_no_subtypes")
NAMES = ("UAS", "LAS", "LAS, no subtypes")


def scores(row: Row, test: str) -> list[str]:
    """Return UAS, LAS and LAS without subtypes on a test set."""
    return [f"{row[test][key]:.1f}" for key in KEYS]


def main_table(rows: Mapping[str, Row], names: Sequence[str]) -> Table:
    """Show the systems of one language."""
    lines = []
    for name in (name for name in names if name in rows):
        row = rows[name]
        more = ["", "", ""]
        if "dev" in row:
            more = [f"{value:.1f}" for value in (row["dev"]["uas"], row["pud"]["ece"], row["dev"]["ece"])]
        lines.append([name, *scores(row, "pud"), *scores(row, "tagged"), *more])
    tagged = (f"{name}, predicted tags" for name in NAMES)
    return table(["system", *NAMES, *tagged, "dev UAS", "ECE", "dev ECE"], lines)


def change_table(rows: Mapping[str, Row], names: Sequence[str]) -> Table:
    """Show what each ingredient is worth."""
    found = {name: rows[name] for name in names if name in rows}
    lines = [
        [name, *scores(row, "pud"), f"{row['tagged']['uas']:.1f}", f"{row['dev']['uas']:.1f}"]
        for name, row in found.items()
    ]
    return table(["change", *NAMES, "UAS, predicted tags", "dev UAS"], lines)


def vote_table(results: Mapping[str, Mapping[str, Row]], names: Sequence[str]) -> Table:
    """Show what several source languages are worth."""
    whats = (*NAMES, "UAS, predicted tags", "dev UAS")
    lines = []
    for name in names:
        cells: list[str] = []
        for rows in results.values():
            row = rows.get(name)
            more = [f"{row['tagged']['uas']:.1f}", f"{row['dev']['uas']:.1f}"] if row else []
            cells += [*scores(row, "pud"), *more] if row else [""] * len(whats)
        lines.append([name, *cells])
    return table(["learned from", *(f"{language} {what}" for language in results for what in whats)], lines)


def reliability_table(row: Row) -> Table:
    """Show the bins of one system."""
    lines = []
    for low, high, count, confidence, accuracy in row["pud"]["bins"]:
        shown = (f"{100 * confidence:.1f}%", f"{100 * accuracy:.1f}%") if count else ("", "")
        lines.append([f"{low:.1f} to {high:.1f}", f"{count:,}", *shown])
    return table(["ArcProb", "arcs", "mean ArcProb", "right"], lines)
