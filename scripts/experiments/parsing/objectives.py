"""Compare training objectives on the same features: McDonald et al. 2006, Koo et al. 2007, Smith and Smith 2007.

Every parser is trained on a dev file and tested on the test file, with gold tags, lemmas and features. Settings were
chosen on parts of the Danish dev file and used for all treebanks.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table
from scripts.experiments.parsing.objective_runs import TREEBANKS, Results, Way, by_language, shape

# Shows a treebank's figure in a row.
Cell = Callable[[str], str]
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
# McDonald, Crammer and Pereira 2006, table 5.
SWEEP = {k: Way(objective="mira-kbest", projective=True, best=k) for k in (1, 2, 5, 10)}
# Koo et al. 2007, tables 2 and 3; Smith and Smith 2007, table 1, adds MIRA.
SHAPES = {
    (name, projective): Way(objective=name, projective=projective)
    for name in ("perceptron", "eg", "likelihood")
    for projective in (True, False)
}


def run(lab: Lab) -> Figures:
    crossed = frozenset(lab.options.crossed)
    results = Results(lab, lambda way: lab.options.treebanks if way in ALL.values() else crossed)
    first = ALL[FIRST]
    return Figures(
        tables={
            "objectives": by_language(
                results,
                {
                    name: partial(results.uas, way=way, decode="projective mbr", against=first)
                    for name, way in ALL.items()
                },
                "UAS",
            ),
            "shapes": shapes(results),
            "sweep": by_language(
                results,
                {
                    f"k = {k}": partial(results.uas, way=way, decode="projective map")
                    for k, way in SWEEP.items()
                },
                "UAS",
            ),
            "decoders": decoders(results),
        }
    )


def shapes(results: Results) -> Table:
    """Give the best tree of the kind that was trained on; * differs from projective training for the same."""
    rows: dict[str, Cell] = {}
    for (name, projective), way in SHAPES.items():
        rows[f"{name}, {shape(projective)}"] = partial(
            results.uas,
            way=way,
            decode=f"{shape(projective)} map",
            against=None if projective else SHAPES[name, True],
            other=f"{shape(True)} map",
        )
    return by_language(results, rows, "UAS, best tree")


def decoders(results: Results) -> Table:
    """Compare the best tree with minimum Bayes risk; * the two differ."""
    likelihood, mira = "likelihood", "1-best MIRA"
    ways = {
        (mira, False): Way(objective="mira-kbest", projective=False, best=1),
        (likelihood, False): SHAPES[likelihood, False],
        (likelihood, True): SHAPES[likelihood, True],
    }
    rows: dict[str, Cell] = {
        f"{name}, {shape(projective)}, {decode}": partial(
            results.uas,
            way=way,
            decode=f"{shape(projective)} {decode}",
            against=way if decode == "mbr" else None,
            other=f"{shape(projective)} map",
        )
        for (name, projective), way in ways.items()
        for decode in ("map", "mbr")
    }
    return by_language(results, rows, "UAS")


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
            help=f"measure {what} on these; others show stored figures (default: all)",
        )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_treebanks_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
