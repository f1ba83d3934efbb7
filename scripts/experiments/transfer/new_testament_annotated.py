"""Measure the gain from a few trees, or from a lexicon of a few words, for a parser made from a New Testament.

Trees are from the first half of a development file, suggested by the model without annotation (`--suggest`) or random.
Random rows are the mean of several draws.
Words are those that its report suggests, with all their tags in the gold files. The second half is scored. Each figure
is stored when it is measured; ``--rows`` selects the rows to measure now.
"""

from __future__ import annotations

import argparse
from statistics import mean

from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import listed, table
from scripts.experiments.transfer.new_testament import FIGURES, NAMES, Row, add_rows, cells, rows_found

TREES, DRAWS = 20, range(1, 5)
ROWS = tuple(
    row
    for target in ("uk", "wo", "hy")
    for row in (
        Row(target),
        *(Row(target, trees=count) for count in (10, TREES, 50)),
        *(Row(target, trees=TREES, draw=draw) for draw in DRAWS),
        *(Row(target, words=count) for count in (100, 500)),
    )
)


def run(lab: Lab) -> Figures:
    found = rows_found(lab, ROWS)
    lines = []
    for row in ROWS:
        if row in found and not row.draw:
            lines.append([NAMES[row.target], row.given, *cells(found[row]["rest"])])
        if row.draw != max(DRAWS):
            continue
        every = [found[one]["rest"] for one in ROWS if one in found and one.target == row.target and one.draw]
        if len(every) == len(DRAWS):
            means = {name: mean(one[name] for one in every) for name in FIGURES}
            given = f"{Row(row.target).given}, {TREES} trees by chance, mean of {len(DRAWS)} draws"
            lines.append([NAMES[row.target], given, *cells(means)])
    header = ["", "given", "UPOS", "UAS", "LAS", "calibration error"]
    return Figures(
        tables={"annotated": table(header, lines)},
        values={"missing": listed([row.name for row in ROWS if row not in found]) or "none"},
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_rows(parser, ROWS)


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__ or "",
    measure=run,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
