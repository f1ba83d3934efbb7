"""Objectives of training compared on the same features: McDonald et al. 2006, Koo et al. 2007, Smith and Smith 2007.

Every parser is trained on a dev file and tested on the test file, with gold tags, lemmas and features. Settings were
chosen on parts of the dev file of Danish: what an objective takes there it takes everywhere.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from qsproj.conventions import ROOT, Heads
from qsproj.corpus.columns import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_objectives import objective_named
from qsproj.models.arc.arc_training import TrainingOptions, train_arc_parser
from qsproj.models.tree_inference import TreeInference
from scripts.experiments.harness.cache import Source
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.pages.parsing import objectives
from scripts.experiments.parsing.treebank_rows import SEED, differs, percent

TREEBANKS = {
    "Danish": "danish-ddt",
    "Dutch": "dutch-alpino",
    "Czech": "czech-cac",
    "Turkish": "turkish-imst",
    "Japanese": "japanese-gsd",
    "Hungarian": "hungarian-szeged",
    "Arabic": "arabic-padt",
    "Slovenian": "slovenian-ssj",
    "Spanish": "spanish-gsd",
}
LEVEL = 0.05


@dataclass(frozen=True, kw_only=True)
class Way:
    """How a parser is trained; ``best`` is how many trees MIRA wins against."""

    objective: str
    projective: bool
    best: int = 5

    @property
    def name(self) -> str:
        many = f" {self.best}" if self.objective == "mira-kbest" else ""
        return f"{self.objective}{many}, {shape(self.projective)}"

    @property
    def options(self) -> TrainingOptions:
        return TrainingOptions(
            objective=self.objective,
            best=self.best,
            epochs=objective_named(self.objective).epochs,
            projective=self.projective,
        )


def shape(projective: bool) -> str:
    return "projective" if projective else "non-projective"


# The objectives by name, all of them over projective trees: these treebanks have few crossing arcs.
ALL = {
    name: Way(objective=name, projective=True)
    for name in (
        "margin",
        "likelihood",
        "risk",
        "perceptron",
        "mira",
        "mira-kbest",
        "mira-factored",
        "eg",
    )
}
FIRST = "likelihood"
# McDonald, Crammer and Pereira 2006, tables 6 and 7.
MIRA = {
    "5-best MIRA, projective": Way(objective="mira-kbest", projective=True),
    "1-best MIRA, non-projective": Way(objective="mira-kbest", projective=False, best=1),
    "factored MIRA": Way(objective="mira-factored", projective=False),
}
SWEEP = {k: Way(objective="mira-kbest", projective=True, best=k) for k in (1, 2, 5, 10)}
# Koo et al. 2007, table 2; Smith and Smith 2007, table 1, adds MIRA.
SHAPES = {
    (name, projective): Way(objective=name, projective=projective)
    for name in ("perceptron", "eg", "likelihood")
    for projective in (True, False)
}


def measure(way: Way, lab: Lab, treebank: str) -> dict[str, Any]:
    """Train on a dev file, and parse the test file by every decoder; right heads by sentence, roots, whole trees."""
    # Relations take time and change no head.
    train = [
        with_columns(sentence, deprels=[UNSPECIFIED] * len(sentence))
        for sentence in lab.treebank(f"{treebank}-dev")
    ]
    test = lab.treebank(f"{treebank}-test")
    parser, report = train_arc_parser(train, rng=np.random.default_rng(SEED), options=way.options)
    scores = [parser.scores(sentence) for sentence in test]
    decoded = {}
    for projective in (True, False):
        trees = TreeInference(projective=projective, single_root=parser.inference.single_root)
        for decode in ("map", "mbr"):
            heads = [trees.decode(matrix, decode) for matrix in scores]
            decoded[f"{shape(projective)} {decode}"] = counts(test, heads)
    seconds = statistics.median(record.seconds for record in report.epochs)
    return {"words": sum(map(len, test)), "decoded": decoded, "epoch": seconds}


def counts(gold: Sequence[Sentence], trees: Sequence[Heads]) -> dict[str, Any]:
    """Count right heads by sentence, sentences whose roots are right, and right trees."""
    pairs = [(sentence.heads[1:], heads[1:]) for sentence, heads in zip(gold, trees, strict=True)]
    return {
        "right": [int(np.count_nonzero(right == found)) for right, found in pairs],
        "root": sum(bool(np.array_equal(right == ROOT, found == ROOT)) for right, found in pairs),
        "complete": sum(bool(np.array_equal(right, found)) for right, found in pairs),
    }


class Results:
    """What was measured of the chosen treebanks, and what is kept of others."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    def of(self, language: str, way: Way) -> dict[str, Any] | None:
        """Return the figures of one parser; None where it is neither asked for nor kept."""
        lab, treebank = self._lab, TREEBANKS[language]
        source: Source = {
            "options": {"best": way.best, "projective": way.projective, "objective": way.objective},
            "data": [lab.treebank_path(f"{treebank}-{part}") for part in ("dev", "test")],
        }
        name = f"{language} {way.name}"
        asked = lab.options.treebanks if way in ALL.values() else lab.options.crossed
        if language in asked:
            figures: dict[str, Any] = lab.cache.figures(name, partial(measure, way, lab, treebank), **source)
            return figures
        return lab.cache.kept(name, **source)

    def uas(self, language: str, way: Way, decode: str, *, against: Way | None = None) -> str:
        """Return the UAS of one parser by one decoder; * where it differs from another parser's."""
        found = self.of(language, way)
        if found is None:
            return ""
        right = found["decoded"][decode]["right"]
        other = None if against is None else self.of(language, against)
        differing = other is not None and differs(right, other["decoded"][decode]["right"], level=LEVEL)
        mark = "*" if differing else ""
        return f"{percent(right, found['words'])}{mark}"


def by_language(results: Results, rows: dict[str, Callable[[str], str]], corner: str) -> Table:
    """Make a table with a column for each treebank, and their mean where all of a row are there."""
    cells = {name: [cell(language) for language in TREEBANKS] for name, cell in rows.items()}
    shown = [k for k, language in enumerate(TREEBANKS) if any(row[k] for row in cells.values())]
    whole = [k for k in shown if all(row[k] for row in cells.values())]
    header = [corner, *(list(TREEBANKS)[k] for k in shown), f"mean of {len(whole)}"]
    lines = []
    for name, row in cells.items():
        values = [float(row[k].rstrip("*")) for k in whole]
        lines.append([name, *(row[k] for k in shown), f"{statistics.fmean(values):.2f}" if values else ""])
    return table(header, lines)


def run(lab: Lab) -> Figures:
    results = Results(lab)
    mbr, first = "projective mbr", ALL[FIRST]
    return Figures(
        tables={
            "objectives": by_language(
                results,
                {name: partial(results.uas, way=way, decode=mbr, against=first) for name, way in ALL.items()},
                "UAS",
            ),
            "shapes": by_language(
                results,
                {
                    f"{name}, {shape(projective)}": partial(
                        results.uas,
                        way=way,
                        decode=f"{shape(projective)} map",
                        against=SHAPES[FIRST, projective],
                    )
                    for (name, projective), way in SHAPES.items()
                },
                "UAS, best tree",
            ),
            "decoders": by_language(
                results,
                {
                    f"{name}, {decode}": partial(results.uas, way=way, decode=f"non-projective {decode}")
                    for name, way in (
                        ("1-best MIRA", MIRA["1-best MIRA, non-projective"]),
                        ("likelihood", SHAPES["likelihood", False]),
                    )
                    for decode in ("map", "mbr")
                },
                "UAS",
            ),
            "mira": mira(results),
            "sweep": by_language(
                results,
                {
                    f"k = {k}": partial(results.uas, way=way, decode="projective map")
                    for k, way in SWEEP.items()
                },
                "UAS",
            ),
            "time": times(results),
        }
    )


def mira(results: Results) -> Table:
    """Cross what MIRA is trained by with what the trees are found by: accuracy / root / complete."""
    rows = []
    for language in TREEBANKS:
        for projective in (True, False):
            cells = []
            for way in MIRA.values():
                if (found := results.of(language, way)) is None:
                    continue
                one = found["decoded"][f"{shape(projective)} map"]
                sentences = len(one["right"])
                shares = (100 * one[key] / sentences for key in ("root", "complete"))
                cells.append(
                    " / ".join([percent(one["right"], found["words"]), *(f"{x:.1f}" for x in shares)])
                )
            if len(cells) == len(MIRA):
                rows.append([language, shape(projective), *cells])
    return table(["treebank", "best tree among", *MIRA], rows)


def times(results: Results) -> Table:
    """Tell how long an epoch takes beside that of likelihood, on all treebanks together."""
    rows = []
    seconds = {
        name: [found["epoch"] for language in TREEBANKS if (found := results.of(language, way))]
        for name, way in ALL.items()
    }
    for name, values in seconds.items():
        if values and len(values) == len(seconds[FIRST]):
            rows.append([name, f"{sum(values) / sum(seconds[FIRST]):.1f}"])
    return table(["objective", "an epoch, in those of likelihood"], rows)


def add_treebanks_arguments(parser: argparse.ArgumentParser) -> None:
    for name, what in (
        ("--treebanks", "every objective"),
        ("--crossed", "the other kinds of trees and k, too,"),
    ):
        parser.add_argument(
            name,
            nargs="*",
            choices=list(TREEBANKS),
            default=list(TREEBANKS),
            metavar="NAME",
            help=f"measure {what} on these, and show others that are kept (default: all)",
        )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    page="training-objectives",
    reading=objectives,
    add_arguments=add_treebanks_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
