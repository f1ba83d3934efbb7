"""Measure `qsproj bootstrap`: a parser of raw text from a bitext and an English treebank, without tags.

Tests: all of PUD, and development and test files of German-GSD, Spanish-GSD, Swedish-Talbanken and Czech-CAC. Word
segmentation is gold, tags are predicted. Nothing was chosen on PUD or on test files. Each run is stored when it ends;
``--languages`` and ``--variants`` select the runs to make now. Other cells show stored figures, or are empty.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping

from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.transfer.bootstrap_runs import DEV, LANGUAGES, PUD, TEST, VARIANTS, Row, row
from scripts.experiments.transfer.by_tags import BEST_TAGS, GOLD_TAGS, UNCERTAIN_TAGS

SCORES = {"UPOS": "upos", "UAS": "uas", "LAS, no subtypes": "las_no_subtypes", "LAS": "las", "ECE": "ece"}
OF_GOLD_TAGS = ("UAS", "LAS, no subtypes", "ECE")
OF_READINGS = ("UAS", "LAS, no subtypes", "ECE")

# By language and variant; None if not measured.
Rows = Mapping[tuple[str, str], Row | None]


def score_table(rows: Rows, test: str) -> Table:
    """Return the table of scores on one test."""
    lines = [
        [*names, *cells(found, test, UNCERTAIN_TAGS, SCORES), *cells(found, test, GOLD_TAGS, OF_GOLD_TAGS)]
        for names, found in rows.items()
        if found is None or test in found
    ]
    return table(["language", "trees of", *SCORES, *(f"{name}, gold tags" for name in OF_GOLD_TAGS)], lines)


def readings_table(rows: Rows) -> Table:
    """Return the table of gains from averaging over uncertain tags, on development files."""
    lines = [
        [
            *names,
            *(cell for tags in (BEST_TAGS, UNCERTAIN_TAGS) for cell in cells(found, DEV, tags, OF_READINGS)),
        ]
        for names, found in rows.items()
    ]
    heading = (f"{name}, {tags}" for tags in (BEST_TAGS, UNCERTAIN_TAGS) for name in OF_READINGS)
    return table(["language", "trees of", *heading], lines)


def cells(found: Row | None, test: str, tags: str, names: Iterable[str]) -> list[str]:
    """Show scores; leave their cells empty where nothing is measured."""
    return [f"{found[test][tags][SCORES[name]]:.1f}" if found else "" for name in names]


def runs_table(rows: Rows) -> Table:
    """Return the table of resources of each run."""
    lines = [
        [*names, *(f"{found['run'][key]:.0f}" if found else "" for key in ("cpu", "wall", "peak"))]
        for names, found in rows.items()
    ]
    return table(["language", "trees of", "processor, s", "wall, s", "peak MB"], lines)


def run(lab: Lab) -> Figures:
    # English trees first, in all languages, because later runs reuse their stages.
    rows = {(name, way): row(lab, language, way) for way in VARIANTS for language, name in LANGUAGES.items()}
    ordered = {(name, way): rows[name, way] for name in LANGUAGES.values() for way in VARIANTS}
    return Figures(
        tables={
            **{test: score_table(ordered, test) for test in (PUD, DEV, TEST)},
            "readings": readings_table(ordered),
            "runs": runs_table(ordered),
        }
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--languages",
        nargs="*",
        default=list(LANGUAGES),
        choices=list(LANGUAGES),
        help="run these (default: all)",
    )
    parser.add_argument(
        "--variants",
        nargs="*",
        default=list(VARIANTS),
        choices=VARIANTS,
        metavar="NAME",
        help="run these (default: all)",
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
