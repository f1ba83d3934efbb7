"""Soft projection as `qsproj project` does it, each of its ingredients changed, and what remains wrong.

Parsed, tagged and aligned bitexts are those of projection.py. Systems are tested on the whole of PUD, ingredients and
errors on development treebanks (German-GSD, Spanish-GSD, Swedish-Talbanken). No target tree is trained on, and
nothing was chosen on PUD.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from qsproj.models.arc.arc_parser import ArcParser
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.pages.transfer import soft_projection
from scripts.experiments.transfer.aims import Aim, AimRow, aims_table
from scripts.experiments.transfer.by_tags import (
    BEST_TAGS,
    DEV,
    GOLD_TAGS,
    UNCERTAIN_TAGS,
    Part,
    dev_parts,
    pud_parts,
    scores_by_tags,
)
from scripts.experiments.transfer.projection import PARTIAL, model_of
from scripts.experiments.transfer.soft_changes import CHANGES, UNCHANGED, ChangedParsers
from scripts.experiments.transfer.soft_errors import (
    GROUPINGS,
    confusion_table,
    error_table,
    errors,
    reliability_table,
)
from scripts.experiments.transfer.soft_parsers import SoftParsers, load, prior_alone
from scripts.experiments.transfer.soft_tables import Row, change_table, system_table, tag_table, time_table
from scripts.experiments.transfer.stages import NAMES, TAGGER_TREEBANKS, Stages, took

SOFT = "soft, English"
SYSTEMS: dict[str, Callable[[SoftParsers], ArcParser]] = {
    PARTIAL: lambda parsers: load(model_of(parsers.stages, parsers.language, PARTIAL)),
    "prior alone, English": lambda parsers: prior_alone(parsers.translated()),
    SOFT: lambda parsers: load(parsers.projected()),
}
ERRORS, TIME = "errors", "time"
EVERY_ROW = (*SYSTEMS, *CHANGES, ERRORS, TIME)
# What was set out to be reached on PUD of English alone: with gold tags, with a tagger's.
AIMS = {
    "German": (Aim(83.5, 73), Aim(80, 69)),
    "Spanish": (Aim(85.5, 77.5), Aim(83, 74.5)),
    "Swedish": (Aim(83, 75), Aim(80.5, 71.5)),
}


@dataclass(frozen=True)
class Laboratory:
    """What is measured of one language; tests are read when they are first asked for."""

    stages: Stages
    language: str

    @property
    def parsers(self) -> SoftParsers:
        return SoftParsers(self.stages, self.language)

    @cached_property
    def pud(self) -> list[Part]:
        return pud_parts(self.stages, self.language)

    @cached_property
    def dev(self) -> list[Part]:
        return dev_parts(self.stages, self.language)

    @cached_property
    def changed(self) -> ChangedParsers:
        return ChangedParsers(self.parsers, self.dev)

    @cached_property
    def files(self) -> list[Path]:
        """The files that rows are trained and tested on."""
        lab = self.stages.lab
        treebanks = map(lab.treebank_path, (*TAGGER_TREEBANKS[self.language], DEV[self.language]))
        found = [*self.parsers.bitext, *treebanks, lab.pud_path(self.language)]
        return list(dict.fromkeys(found))

    def measured(self, name: str) -> Any:
        """Measure a row: a system on PUD, a change on dev, errors on dev, or seconds."""
        if name in SYSTEMS:
            return scores_by_tags(SYSTEMS[name](self.parsers), self.pud)
        if name == ERRORS:
            return errors(SYSTEMS[SOFT](self.parsers), self.dev, self.pud)
        if name == TIME:
            before = self.stages.main_job(self.language)
            return {**{what: took(path)["cpu"] for what, path in before.items()}, **self.parsers.took()}
        return self.changed.measured(name)


def rows_of(lab: Lab, language: str) -> dict[str, Any]:
    """Return the rows of a language: those asked for, and others that are kept."""
    if language not in lab.options.languages:
        return dict.fromkeys(EVERY_ROW)
    laboratory = Laboratory(Stages(lab), language)
    rows: dict[str, Any] = {}
    for name in EVERY_ROW:
        key = f"soft {language} {name}"
        options, files = {"row": name, "language": language}, laboratory.files
        rows[name] = lab.cache.kept(key, options=options, data=files)
        if rows[name] is None and name in lab.options.rows:
            print(language, name, file=sys.stderr, flush=True)
            rows[name] = lab.cache.figures(
                key, partial(laboratory.measured, name), options=options, data=files
            )
    return rows


def aim_rows(systems: Mapping[str, Mapping[str, Row]]) -> Iterator[AimRow]:
    """Yield what was to be reached with each kind of tags, and what is."""
    for language, (gold, tagger) in AIMS.items():
        row = systems[language][SOFT]
        for kind, aim in ((GOLD_TAGS, gold), (BEST_TAGS, tagger), (UNCERTAIN_TAGS, tagger)):
            yield (language, kind), aim, row[kind] if row else None


def tables_of(results: Mapping[str, Mapping[str, Any]]) -> Figures:
    """Lay out what is measured of each language."""
    systems = {language: {name: rows[name] for name in SYSTEMS} for language, rows in results.items()}
    changes = {language: {name: rows[name] for name in CHANGES} for language, rows in results.items()}
    wrong = {language: rows[ERRORS] for language, rows in results.items()}
    return Figures(
        tables={
            **{language: system_table(rows) for language, rows in systems.items()},
            "tags": tag_table(
                {language: rows[SOFT] for language, rows in systems.items()},
                {language: rows[UNCHANGED] for language, rows in changes.items()},
            ),
            "aims": aims_table(("language", "tags"), aim_rows(systems)),
            **{f"{language} changes": change_table(rows) for language, rows in changes.items()},
            **{f"errors by {by}": error_table(wrong, by) for by in GROUPINGS},
            "confusions": confusion_table(wrong),
            "reliability": reliability_table(wrong),
            "time": time_table({language: rows[TIME] or {} for language, rows in results.items()}),
        }
    )


def run(lab: Lab) -> Figures:
    return tables_of({NAMES[language]: rows_of(lab, language) for language in NAMES})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--languages",
        nargs="*",
        default=list(NAMES),
        choices=list(NAMES),
        help="measure these (default: all)",
    )
    text = "measure these, and show others that are kept (default: all)"
    parser.add_argument(
        "--rows", nargs="+", default=list(EVERY_ROW), choices=EVERY_ROW, metavar="ROW", help=text
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    page="soft-projection",
    reading=soft_projection,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
