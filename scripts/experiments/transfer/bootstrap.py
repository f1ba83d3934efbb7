"""A parser of raw text from a bitext and an English treebank, nothing tagged: `qsproj bootstrap`, measured.

Tests: the whole of PUD, and development and test files of German-GSD, Spanish-GSD, Swedish-Talbanken and Czech-CAC;
words are given, tags are the model's own. Nothing was chosen on PUD or on test files. Each run is kept as it is made, and ``--languages`` and ``--ways`` say
which are made now: the others are shown where they are kept, else their cells stay empty.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping

from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.pages.transfer import bootstrap
from scripts.experiments.transfer.bootstrap_runs import DEV, LANGUAGES, PUD, TEST, WAYS, Row, row
from scripts.experiments.transfer.by_tags import BEST_TAGS, GOLD_TAGS, UNCERTAIN_TAGS

SCORES = {"UPOS": "upos", "UAS": "uas", "LAS, no subtypes": "las_no_subtypes", "LAS": "las", "ECE": "ece"}
OF_GOLD_TAGS = ("UAS", "LAS, no subtypes", "ECE")
OF_READINGS = ("UAS", "LAS, no subtypes", "ECE")
# What was set out to be reached on PUD with the trees of English alone.
AIMS: dict[str, dict[str, float]] = {
    "German": {"UPOS": 89, "UAS": 78.5, "LAS, no subtypes": 69.5},
    "Spanish": {"UPOS": 92, "UAS": 82.5, "LAS, no subtypes": 74},
    "Swedish": {"UPOS": 90.5, "UAS": 78.5, "LAS, no subtypes": 70},
}
# What a stage says of itself: name, what it did, how long it took.
STAGE = re.compile(r"([\w-]+): (.*) \((kept|\d+ s)\)")
# Where a file lies says nothing to readers.
FOLDER = re.compile(r"(?<!\S)/\S*/")

# By language and way; None where it is not measured.
Rows = Mapping[tuple[str, str], Row | None]


def score_table(rows: Rows, test: str) -> Table:
    """Show what the models score on one test."""
    lines = [
        [*names, *cells(found, test, UNCERTAIN_TAGS, SCORES), *cells(found, test, GOLD_TAGS, OF_GOLD_TAGS)]
        for names, found in rows.items()
        if found is None or test in found
    ]
    return table(["language", "trees of", *SCORES, *(f"{name}, gold tags" for name in OF_GOLD_TAGS)], lines)


def readings_table(rows: Rows) -> Table:
    """Show what averaging over uncertain tags is worth on development files."""
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


def aims_table() -> Table:
    """Show what was set out to be reached."""
    lines = [[language, *(f"{aim:g}" for aim in aims.values())] for language, aims in AIMS.items()]
    return table(["language", *AIMS["German"]], lines)


def runs_table(rows: Rows) -> Table:
    """Show what each run took."""
    lines = []
    for names, found in rows.items():
        shown = [""] * 4
        if found:
            stages = list(stages_of(found))
            kept = sum(seconds == "kept" for *_, seconds in stages)
            took = (f"{found['run'][key]:.0f}" for key in ("cpu", "wall", "peak"))
            shown = [*took, f"{kept} of {len(stages)}"]
        lines.append([*names, *shown])
    return table(["language", "trees of", "processor, s", "wall, s", "peak MB", "stages found made"], lines)


def stages_table(rows: Rows, language: str) -> Table:
    """Show what each stage said of itself, in the run that made it."""
    lines = [
        [way, *stage]
        for (of, way), found in rows.items()
        if of == language and found
        for stage in stages_of(found)
        if stage[-1] != "kept"
    ]
    return table(["trees of", "stage", "what it did", "took"], lines)


def stages_of(found: Row) -> Iterator[tuple[str, str, str]]:
    """Read the lines of the stages among what a run said; of paths the names of files are left."""
    for line in found["run"]["said"]:
        if stage := STAGE.fullmatch(line):
            name, what, seconds = stage.groups()
            yield name, FOLDER.sub("", what), seconds


def run(lab: Lab) -> Figures:
    # The trees of English first, in all languages, as what follows finds stages of these runs.
    rows = {(name, way): row(lab, language, way) for way in WAYS for language, name in LANGUAGES.items()}
    ordered = {(name, way): rows[name, way] for name in LANGUAGES.values() for way in WAYS}
    return Figures(
        tables={
            **{test: score_table(ordered, test) for test in (PUD, DEV, TEST)},
            "aims": aims_table(),
            "readings": readings_table(ordered),
            "runs": runs_table(ordered),
            **{f"{name} stages": stages_table(ordered, name) for name in LANGUAGES.values()},
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
        "--ways", nargs="*", default=list(WAYS), choices=WAYS, metavar="WAY", help="run these (default: all)"
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    page="bootstrap",
    reading=bootstrap,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
