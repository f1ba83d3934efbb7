"""The tables of soft.py: systems on PUD, against what was to be reached; ingredients on dev; processor time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scripts.experiments.harness.tables import Table, table
from scripts.experiments.transfer.by_tags import BEST_TAGS, EVERY_KIND, Scores

# What a system scored, by how words are tagged; None where it is not measured.
Row = Mapping[str, Scores] | None
SCORES = {"UAS": "uas", "LAS, no subtypes": "las_no_subtypes", "LAS": "las", "ECE": "ece"}
OF_CHANGES = ("UAS", "LAS, no subtypes", "ECE")


def cells(row: Row, kind: str, names: Sequence[str]) -> list[str]:
    """Show scores; leave their cells empty where nothing is measured."""
    return [f"{row[kind][SCORES[name]]:.1f}" if row else "" for name in names]


def system_table(rows: Mapping[str, Row]) -> Table:
    """Show what systems score with each kind of tags."""
    lines = [
        [name, kind, *cells(row, kind, list(SCORES))] for name, row in rows.items() for kind in EVERY_KIND
    ]
    return table(["system", "tags", *SCORES], lines)


def change_table(rows: Mapping[str, Row]) -> Table:
    """Show what each change of an ingredient scores with gold tags and with a tagger's."""
    lines = [
        [name, *(cell for kind in ("gold", "tagger") for cell in cells(row, kind, OF_CHANGES))]
        for name, row in rows.items()
    ]
    return table(["change", *OF_CHANGES, *(f"{name}, tagger's tags" for name in OF_CHANGES)], lines)


def tag_table(best_of_pud: Mapping[str, Row], unchanged: Mapping[str, Row]) -> Table:
    """Show how many tags of the taggers are right, by language."""
    lines = []
    for language, row in best_of_pud.items():
        dev = unchanged[language]
        right = row[BEST_TAGS]["upos"] if row else None, dev["tagger"]["upos"] if dev else None
        lines.append([language, *("" if one is None else f"{one:.1f}" for one in right)])
    return table(["language", "UPOS, PUD", "UPOS, dev"], lines)


def time_table(seconds: Mapping[str, Mapping[str, Any]]) -> Table:
    """Show the processor time of each stage of the main job, by language; nothing of what is not measured."""
    stages = list(dict.fromkeys(name for one in seconds.values() for name in one))
    lines = [[name, *(f"{one[name]:.0f}" if one else "" for one in seconds.values())] for name in stages]
    if stages:
        lines.append(["all", *(f"{sum(one.values()):.0f}" if one else "" for one in seconds.values())])
    return table(["stage", *seconds], lines)
