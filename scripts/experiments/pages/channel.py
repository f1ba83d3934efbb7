"""What the pages on the noisy channel, and on other additions to the joint model, say in figures."""

from __future__ import annotations

from collections.abc import Mapping

from scripts.experiments.harness.page import Tables
from scripts.experiments.harness.tables import Table, span

Phrases = Mapping[str, str]
ALONE = "nothing: target trees alone"
BEST = "the source parser's best tree"
GOLD = "the gold source tree"
ALL, WITH_PAIRS = "all families", "with those of two arcs on either side"
FIXED, JOINT, NULL = "fixed", "joint", "joint, null source"


def difference(one: Table, first: tuple[str, str], second: tuple[str, str]) -> str:
    """Say how far one cell is above another; each is named by its row and its column."""
    if not (one.has(*first) and one.has(*second)):
        return "(not measured)"
    return f"{one.number(*first) - one.number(*second):+.1f}"


def channel(tables: Tables) -> Phrases:
    explained, trees, marks = (tables[name] for name in ("explained", "trees", "punctuation"))
    phrases = {}
    for language in ("Swedish", "Italian"):
        for part in ("dev", "training file"):
            column = f"{language}, {part}"
            phrases[f"{column}: best"] = difference(explained, (BEST, column), (ALONE, column))
            phrases[f"{column}: gold over best"] = difference(explained, (GOLD, column), (BEST, column))
    for few in ("Italian, 50", "Swedish, 600"):
        for part in ("dev", "training file"):
            row = f"{few}, {part}"
            phrases[f"{row}: best"] = difference(trees, (row, BEST), (row, ALONE))
    for column in marks.header[1:]:
        phrases[column] = difference(marks, (BEST, column), (ALONE, column))
    return phrases


def row_of_arcs(order: int, families: str, size: int) -> str:
    """Name a row of the table on factors over two arcs."""
    return f"{size} trees, order {order}, {families}"


def additions(tables: Tables) -> Phrases:
    arcs = tables["arcs"]

    def pairs_gain(order: int) -> str:
        """Say what these factors change, by number of trees."""
        found = [
            arcs.number(name.replace(ALL, WITH_PAIRS), "Swedish UAS") - arcs.number(name, "Swedish UAS")
            for name in arcs.names
            if f"order {order}, {ALL}" in name and arcs.has(name.replace(ALL, WITH_PAIRS), "Swedish UAS")
        ]
        return span(found, digits=2, sign=True) if found else "not measured"

    itg, links, null = (tables[name] for name in ("itg", "links", "null"))
    plain, within = "ALIGN and fertilities", "AER, pairs within the limit"
    return {
        "ITG": difference(itg, ("MONO and ALIGNITG", "Swedish UAS"), ("MONO", "Swedish UAS")),
        "pairs, order 1": pairs_gain(1),
        "pairs, order 2": pairs_gain(2),
        "AER": difference(links, ("with ALIGNITG", within), (plain, within)),
        **{
            f"null source, {column}": difference(null, (NULL, column), (JOINT, column))
            for column in null.header[1:]
        },
    }
