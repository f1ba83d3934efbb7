"""Objectives of training compared on the same features: McDonald et al. 2006, Koo et al. 2007, Smith and Smith 2007.

Every parser is trained on a dev file and tested on the test file, with gold tags, lemmas and features. Settings were
chosen on parts of the dev file of Danish: what an objective takes there it takes everywhere.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from typing import Any

from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.parsing.objective_parts import Parts
from scripts.experiments.parsing.objective_runs import LEVEL, TREEBANKS, Results, Way, by_language, shape
from scripts.experiments.parsing.treebank_rows import differences, differs, percent

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
# McDonald, Crammer and Pereira 2006, tables 2, 3, 6 and 7, with the search that is each one's own.
KBEST = "5-best MIRA, projective"
MIRA = {
    KBEST: Way(objective="mira-kbest", projective=True),
    "1-best MIRA, non-projective": Way(objective="mira-kbest", projective=False, best=1),
    "factored MIRA": Way(objective="mira-factored", projective=False),
}
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
    parts = Parts(lab, lab.options.parts)
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
            "chosen": chosen(results, parts),
            "mira": mira(results),
            "crossing": mira_of_crossing(parts),
            "sweep": by_language(
                results,
                {
                    f"k = {k}": partial(results.uas, way=way, decode="projective map")
                    for k, way in SWEEP.items()
                },
                "UAS",
            ),
            "time of the sweep": times(results, {f"k = {k}": way for k, way in SWEEP.items()}, first),
            "decoders": decoders(results),
            "risk": risk(parts),
            "time": times(results, ALL, first),
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


def chosen(results: Results, parts: Parts) -> Table:
    """Choose the trees of training and of search on held-out sentences; * non-projective training was chosen."""

    def cell(language: str, objective: str) -> str:
        tried = []
        for projective in (True, False):
            way = SHAPES[objective, projective]
            if (held_out := parts.held_out(language, way)) is None:
                return ""
            searches = (shape(True),) if projective else (shape(True), shape(False))
            tried += [
                (sum(held_out["decoded"][f"{search} map"]["right"]), projective, f"{search} map", way)
                for search in searches
            ]
        _, projective, decode, way = max(tried, key=lambda one: one[:2])
        return results.uas(language, way, decode) + ("" if projective else "*")

    rows: dict[str, Cell] = {
        name: partial(cell, objective=name) for name in dict.fromkeys(name for name, _ in SHAPES)
    }
    return by_language(results, rows, "UAS, best tree")


def decoders(results: Results) -> Table:
    """Compare the best tree with minimum Bayes risk; * the two differ."""
    likelihood, mira = "likelihood", "1-best MIRA"
    ways = {
        (mira, False): MIRA["1-best MIRA, non-projective"],
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


def mira(results: Results) -> Table:
    """Cross what MIRA is trained by with what finds the trees: accuracy / root / complete."""
    rows = []
    for language in TREEBANKS:
        found = [one for way in MIRA.values() if (one := results.of(language, way))]
        for search in map(shape, (True, False)) if len(found) == len(MIRA) else ():
            rows.append([language, search, *(metrics(one, f"{search} map") for one in found)])
    return table(["treebank", "best tree among", *MIRA], rows)


def mira_of_crossing(parts: Parts) -> Table:
    """Give the same of sentences with crossing arcs, each parser by the search that it was trained with."""
    rows = []
    for language in TREEBANKS:
        found = {way: one for way in MIRA.values() if (one := parts.crossing(language, way))}
        if len(found) == len(MIRA):
            cells = [metrics(one, f"{shape(way.projective)} map") for way, one in found.items()]
            sentences = len(found[MIRA[KBEST]]["decoded"]["projective map"]["right"])
            rows.append([language, str(sentences), *cells])
    return table(["treebank", "sentences", *MIRA], rows)


def metrics(found: dict[str, Any], decode: str) -> str:
    """Return right heads / sentences with the right roots / right trees, in percent."""
    one = found["decoded"][decode]
    shares = (100 * one[key] / len(one["right"]) for key in ("root", "complete"))
    return " / ".join([percent(one["right"], found["words"]), *(f"{share:.1f}" for share in shares)])


def risk(parts: Parts) -> Table:
    """Say what minimum Bayes risk is expected to gain over the best tree, and what it gains."""
    rows = []
    for language in TREEBANKS:
        for projective in (False, True):
            if (found := parts.risk(language, SHAPES[FIRST, projective])) is None:
                continue
            cells = [f"{found['temperature']:.2f}"]
            for name in ("mbr", "tempered"):
                gains = differences(found[name]["right"], found["map"])
                mark = "*" if differs(found[name]["right"], found["map"], level=LEVEL) else ""
                in_percent = 100 / found["words"]
                cells += [
                    f"{in_percent * found[name]['differing']:.2f}",
                    f"{in_percent * found[name]['expected']:+.2f}",
                    f"{in_percent * gains.sum():+.2f}{mark} ± {in_percent * math.sqrt((gains**2).sum()):.2f}",
                ]
            rows.append([language, shape(projective), *cells])
    header = ["treebank", "trees", "temperature", "other heads %", "expected gain", "gain"]
    return table([*header, *(f"{name}, tempered" for name in header[3:])], rows)


def times(results: Results, ways: dict[str, Way], first: Way) -> Table:
    """Tell how long an epoch takes beside that of the first way, on the treebanks that all ways were measured on."""
    found = {
        name: [results.of(language, way) for language in TREEBANKS]
        for name, way in {**ways, "": first}.items()
    }
    whole = [k for k in range(len(TREEBANKS)) if all(row[k] for row in found.values())]
    seconds = {name: sum(one["epoch"] for k in whole if (one := row[k])) for name, row in found.items()}
    rows = [[name, f"{seconds[name] / seconds['']:.1f}"] for name in ways if whole]
    return table(["objective", f"an epoch, in those of likelihood ({len(whole)} treebanks)"], rows)


def add_treebanks_arguments(parser: argparse.ArgumentParser) -> None:
    for name, what in (
        ("--treebanks", "every objective"),
        ("--crossed", "the other kinds of trees and k, too,"),
        ("--parts", "held-out sentences, sentences with crossing arcs, and what minimum Bayes risk gains,"),
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
    add_arguments=add_treebanks_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
