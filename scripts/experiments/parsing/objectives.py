"""Objectives of training compared on the same features: McDonald et al. 2006, Koo et al. 2007, Smith and Smith 2007.

Every parser is trained on a dev file and tested on the test file, with gold tags, lemmas and features. Settings were
chosen on parts of the dev file of Danish: what an objective takes there it takes everywhere.
"""

from __future__ import annotations

import argparse
from functools import partial

from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.pages.objectives import objectives
from scripts.experiments.parsing.objective_runs import TREEBANKS, Results, Way, by_language, shape
from scripts.experiments.parsing.treebank_rows import percent

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
        "hidden",
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


def run(lab: Lab) -> Figures:
    crossed = frozenset(lab.options.crossed)
    results = Results(lab, lambda way: lab.options.treebanks if way in ALL.values() else crossed)
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
