"""Measure joint parsing of four corpora by number of training trees, first and second order; tags are gold.

Stored figures are not measured again; an interrupted run resumes, even within a training run. ``--corpora`` without a
name measures nothing and makes the page from stored figures.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures as PageFigures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.joint.conditions import (
    ABLATIONS,
    ALONE,
    BOTH_SECOND,
    CONDITIONS,
    JOINT,
    MONO_TRAINING,
    PIPELINED,
    SECOND_ALONE,
    SECOND_JOINT,
    SECOND_PIPELINED,
    TAUGHT,
    TRAINING,
    TRUE_SOURCE,
    measure_missing,
)
from scripts.experiments.joint.corpora import CORPORA, pairs_of, parallel_arcs
from scripts.experiments.joint.kept import Kept, Results, figure_table

SHOWN = ("lines", "partut", "pud-de", "pud-zh")
DEV = "lines-dev"
MEASURES = CONDITIONS | TAUGHT | ABLATIONS
ON_DEV = (ALONE, JOINT, MONO_TRAINING, PIPELINED, TRUE_SOURCE, *ABLATIONS)
# With more trees than the second number, fewer conditions are measured.
OF_MANY_TREES = (ALONE, SECOND_ALONE, JOINT, SECOND_JOINT, BOTH_SECOND)
MANY_TREES = 1000
TAUGHT_SIZES = (100, 200)
# The English tree is given, so that it is not of their making.
SOURCE_GIVEN = (PIPELINED, TRUE_SOURCE, SECOND_PIPELINED)


def conditions_of(corpus: str, size: int) -> tuple[str, ...]:
    """Return the conditions measured on a corpus with a number of training pairs."""
    if corpus == DEV:
        return ON_DEV
    if size > MANY_TREES:
        return OF_MANY_TREES
    return (*CONDITIONS, *TAUGHT) if corpus == "lines" and size in TAUGHT_SIZES else tuple(CONDITIONS)


def links(lab: Lab, names: Sequence[str]) -> Table:
    """Show how good the links of each corpus are: whether they carry arcs of gold trees to arcs of gold trees."""
    rows = []
    for name in names:
        _, test = pairs_of(lab, CORPORA[name])
        candidates = sum(len(pair.alignment.links) for pair in test) / sum(len(pair.target) for pair in test)
        carried = [parallel for pair in test for parallel in parallel_arcs(pair)]
        share = 100 * sum(carried) / max(len(carried), 1)
        rows.append([CORPORA[name].title, f"{candidates:.2f}", f"{len(carried):,}", f"{share:.1f}"])
    header = (
        "corpus",
        "candidate links a target word",
        "linked pairs of head and dependent",
        "of these parallel, %",
    )
    return table(header, rows)


def dev_table(results: Results) -> Table:
    """Return the table of dev figures: families of factors, and aids to infer the source tree."""
    shown = (("target", 2), ("source", 2), ("milliseconds", 1))
    rows = [
        [str(size), name, *(f"{row[key]:.{digits}f}" if key in row else "" for key, digits in shown)]
        for size, figures in results.items()
        for name, row in figures.items()
    ]
    return table(["trees", "condition", "Swedish UAS", "English UAS", "ms a pair"], rows)


def tables_of(named: dict[str, Results]) -> dict[str, Table]:
    """Return the tables of all figures except those of links, by corpus; missing figures are empty cells."""
    tables: dict[str, Table] = {}
    for name in SHOWN:
        results = named[name]
        tables[f"{name} target"] = figure_table(results, "target", CONDITIONS)
        tables[f"{name} LAS"] = figure_table(results, "target LAS", CONDITIONS)
        inferred = [condition for condition in CONDITIONS if condition not in SOURCE_GIVEN]
        tables[f"{name} source"] = figure_table(results, "source", inferred)
    lines = named["lines"]
    for key in ("milliseconds", "converged", "converged in training", TRAINING):
        digits = 0 if key == TRAINING else 1
        tables[key] = figure_table(lines, key, CONDITIONS, digits=digits)
    few = {size: lines.get(size, {}) for size in TAUGHT_SIZES}
    tables["taught"] = figure_table(few, "target", (ALONE, SECOND_ALONE, *TAUGHT, JOINT, SECOND_JOINT))
    return tables | {"dev": dev_table(named[DEV])}


def run(lab: Lab) -> PageFigures:
    for name in lab.options.corpora:
        for size in lab.options.sizes or CORPORA[name].sizes:
            conditions = lab.options.conditions or conditions_of(name, size)
            measure_missing(lab, name, size, conditions=conditions, measures=MEASURES)
    named = {name: Kept(lab, name).results(corpus.sizes, MEASURES) for name, corpus in CORPORA.items()}
    measured = [name for name in SHOWN if named[name]]
    return PageFigures(
        tables={**tables_of(named), "links": links(lab, measured)},
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--corpora", nargs="*", choices=list(CORPORA), default=list(CORPORA), help="default: all"
    )
    parser.add_argument(
        "--sizes", nargs="*", type=int, help="numbers of training pairs (default: the corpus's)"
    )
    parser.add_argument(
        "--conditions",
        nargs="*",
        choices=list(MEASURES),
        metavar="CONDITION",
        help="default: those of the corpus and the number of pairs",
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
