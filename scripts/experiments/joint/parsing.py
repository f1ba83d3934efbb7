"""Joint parsing of four corpora with numbers of training trees; tags are gold.

Figures that are kept are not measured again; a run that was broken off goes on.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence

from qsproj.viz.markup import svg_document
from qsproj.viz.plots import Axis, Series, line_plot
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures as PageFigures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.joint.conditions import (
    ABLATIONS,
    CONDITIONS,
    JOINT,
    MONO_TRAINING,
    PIPELINED,
    TARGET_ONLY,
    TRUE_SOURCE,
    measure_missing,
)
from scripts.experiments.joint.corpora import CORPORA, pairs_of, parallel_arcs
from scripts.experiments.joint.kept import Kept, Results, figure_table
from scripts.experiments.pages.joint import joint_parsing

SHOWN = ("lines", "partut", "pud-de", "pud-zh")
DEV = "lines-dev"


def conditions_of(corpus: str) -> list[str]:
    """Return what is measured on a corpus."""
    if corpus != DEV:
        return list(CONDITIONS)
    return [TARGET_ONLY, JOINT, MONO_TRAINING, PIPELINED, TRUE_SOURCE, *ABLATIONS]


def plot(results: Results, conditions: Sequence[str], *, title: str, language: str) -> str:
    """Draw wrong heads over numbers of trees, both on logarithmic axes."""
    series = []
    for condition in conditions:
        points = [
            (size, 100 - figures[condition]["target"])
            for size, figures in results.items()
            if condition in figures
        ]
        series.append(Series(condition, [size for size, _ in points], [wrong for _, wrong in points]))
    drawing = line_plot(
        series,
        title=title,
        x=Axis(f"{language} trees", logarithmic=True),
        y=Axis("wrong heads, %", logarithmic=True),
    )
    return svg_document([drawing])


def goals(named: Mapping[str, Results]) -> Table:
    """Hold the figures against what was to be reached."""
    sizes = sorted({size for results in named.values() for size in results})
    rows = []
    for what, wanted, compare in goal_rows(sizes):
        found = [compare(results) for results in named.values()]
        if any(value is not None for value in found):
            rows.append([what, wanted, *("" if value is None else f"{value:+.2f}" for value in found)])
    return table(["goal", "wanted", *(CORPORA[name].language for name in named)], rows)


Goal = tuple[str, str, Callable[[Results], float | None]]


def goal_rows(sizes: Sequence[int]) -> Iterator[Goal]:
    """Yield what is compared, the difference that was wanted, and how to find it."""
    for size in sizes:
        what = f"full QG with {size} trees, above target only with {2 * size}"
        yield what, "0", difference("target", (size, JOINT), (2 * size, TARGET_ONLY))
    for size in (size for size in sizes if size >= 400):
        what = f"full QG above QG-mono training, {size} trees"
        yield what, "0.5", difference("target", (size, JOINT), (size, MONO_TRAINING))
    for size in (size for size in sizes if size >= 400):
        what = f"joint above 1-best source, {size} trees"
        yield what, "0.5", difference("target", (size, JOINT), (size, PIPELINED))
    for size in sizes:
        what = f"English by joint decoding, above the English parser, {size} trees"
        yield what, "0.5", difference("source", (size, JOINT), (size, TARGET_ONLY))


def difference(key: str, one: tuple[int, str], other: tuple[int, str]) -> Callable[[Results], float | None]:
    """Return what subtracts a figure from another, where there are both."""

    def measure(results: Results) -> float | None:
        first, second = (
            results.get(size, {}).get(condition, {}).get(key) for size, condition in (one, other)
        )
        return None if first is None or second is None else first - second

    return measure


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
    """Show what was measured on dev: what families are worth, and what helps to infer the source tree."""
    rows = [
        [str(size), name, f"{row['target']:.2f}", f"{row['source']:.2f}", f"{row['milliseconds']:.1f}"]
        for size, figures in results.items()
        for name, row in figures.items()
    ]
    return table(["trees", "condition", "Swedish UAS", "English UAS", "ms a pair"], rows)


def run(lab: Lab) -> PageFigures:
    for name in lab.options.corpora:
        for size in lab.options.sizes or CORPORA[name].sizes:
            conditions = lab.options.conditions or conditions_of(name)
            measure_missing(lab, name, size, conditions=conditions, measures=CONDITIONS | ABLATIONS)
    named = {name: Kept(lab, name).results(CORPORA[name].sizes, conditions_of(name)) for name in CORPORA}
    shown = {name: named[name] for name in SHOWN if named[name]}
    tables: dict[str, Table] = {}
    for name, results in shown.items():
        tables[f"{name} target"] = figure_table(results, "target", CONDITIONS)
        of_source = [condition for condition in CONDITIONS if condition != TRUE_SOURCE]
        tables[f"{name} source"] = figure_table(results, "source", of_source)
    for key in ("milliseconds", "converged", "converged in training"):
        tables[key] = figure_table(named["lines"], key, CONDITIONS, digits=1)
    tables |= {"links": links(lab, list(shown)), "goals": goals(shown), "dev": dev_table(named[DEV])}
    drawings = {
        f"joint-parsing-{name}.svg": plot(
            results, tuple(CONDITIONS), title=CORPORA[name].title, language=CORPORA[name].language
        )
        for name, results in shown.items()
    }
    return PageFigures(tables=tables, drawings=drawings)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    known = [*CONDITIONS, *ABLATIONS]
    parser.add_argument(
        "--corpora", nargs="*", choices=list(CORPORA), default=list(CORPORA), help="default: all"
    )
    parser.add_argument(
        "--sizes", nargs="*", type=int, help="numbers of training pairs (default: the corpus's)"
    )
    parser.add_argument(
        "--conditions", nargs="*", choices=known, metavar="CONDITION", help="default: the corpus's"
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    page="joint-parsing",
    reading=joint_parsing,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
