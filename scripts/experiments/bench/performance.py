"""Measure the processor time of whole commands, and compare it with an older commit in the same run.

Rows measured earlier stay on the page with their commit; ``--rows`` selects the rows to measure now. Ratios are medians
over pairs of runs, one of each commit.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from qsproj.errors import UsageError
from scripts.experiments.bench.inference_rows import ROWS as INFERENCE
from scripts.experiments.bench.parsing_rows import ROWS as PARSING
from scripts.experiments.bench.peers import HEADER as PEERS_HEADER
from scripts.experiments.bench.peers import peers
from scripts.experiments.bench.sides import BASE, HEADER, Bench, Side, base_side, chosen
from scripts.experiments.bench.training_rows import ROWS as TRAINING
from scripts.experiments.harness.build import CHECKOUT, commit
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures, read_record
from scripts.experiments.harness.tables import table

ROWS = (*PARSING, *TRAINING, *INFERENCE)


def run(lab: Lab) -> Figures:
    names = lab.options.rows
    before = known()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(lab, base_side(lab), Side("now", CHECKOUT), Path(folder))
        now = {row.what: row.measured(bench, commit()) for row in chosen(ROWS, names)}
        others = peers(bench) if names is None or "peers" in names else None
    rows = [now.get(row.what) or before["rows"].get(row.what) for row in ROWS]
    return Figures(
        tables={
            "rows": table(HEADER, [row for row in rows if row]),
            "peers": table(PEERS_HEADER, others or list(before["peers"].values())),
        },
        values={"base": BASE},
    )


def known() -> dict[str, dict[str, list[str]]]:
    """Return the rows of the page's tables by name."""
    try:
        tables = read_record(EXPERIMENT.record).figures.tables
    except UsageError:
        tables = {}
    made = {name: {row[0]: list(row) for row in one.rows} for name, one in tables.items()}
    return {"rows": {}, "peers": {}} | made


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rows",
        nargs="+",
        metavar="WORD",
        help="measure rows whose names contain one of these words; `peers`: other tools (default: all)",
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, add_arguments=add_arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
