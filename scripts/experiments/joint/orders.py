"""Joint parsing of the second order beside the first, with numbers of training trees; tags are gold.

Figures that are kept are not measured again; a run that was broken off goes on, within a training, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np

from qsproj.pipelines.bilingual.biparse_options import BiparseOptions
from qsproj.pipelines.bilingual.cotrain import cotrain
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures as PageFigures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.joint.conditions import (
    CONDITIONS,
    Setting,
    accuracy_alone,
    measure_missing,
    train_jointly,
)
from scripts.experiments.joint.corpora import CORPORA
from scripts.experiments.joint.kept import Figures, Kept, Results, figure_table
from scripts.experiments.joint.parsing import plot
from scripts.experiments.pages.orders import (
    ALONE,
    JOINT,
    PIPELINED,
    SECOND_ALONE,
    SECOND_JOINT,
    SECOND_PIPELINED,
    orders,
)

SIZES = {"lines": (100, 200, 400, 800), "partut": (100, 200, 400), "pud-de": (100, 200, 400, 600)}
SHOWN = (ALONE, SECOND_ALONE, JOINT, PIPELINED, SECOND_JOINT, SECOND_PIPELINED)
# What a first-order parser of the target alone learns from a joint parser (thesis 5.3.1), by that one's order.
TAUGHT = {"taught by the joint parser of order 1": 1, "taught by the joint parser of order 2": 2}
TAUGHT_SIZES = (100, 200)
UNANNOTATED_PAIRS = 1000
EVERY_CONDITION = (*SHOWN, *TAUGHT)
# What was to be reached, in UAS: by corpus, number of trees and accuracy.
WANTED = {"lines": (800, 85.2), "partut": (400, 89.8), "pud-de": (600, 91.0)}
ABOVE_BOTH = 0.6
ENGLISH_GAIN, ENGLISH_FROM = 0.7, 400
MILLISECONDS = {SECOND_JOINT: 40.0, SECOND_PIPELINED: 20.0}


def taught(order: int, setting: Setting) -> Figures:
    """Score a parser of the target alone that a joint parser has taught, on pairs without target trees."""
    joint, _ = train_jointly(setting, BiparseOptions(order=order))
    trees = [pair.target for pair in setting.train]
    others = setting.rest[-UNANNOTATED_PAIRS:]
    return accuracy_alone(cotrain(joint, trees, others, rng=np.random.default_rng(1))[0], setting.test)


def conditions_of(corpus: str, size: int) -> tuple[str, ...]:
    """Return what is measured of a corpus with a number of training pairs."""
    return EVERY_CONDITION if corpus == "lines" and size in TAUGHT_SIZES else SHOWN


def goals(named: dict[str, Results]) -> Table:
    """Hold the figures against what was to be reached."""
    sizes = sorted({size for sizes in SIZES.values() for size in sizes})
    rows: list[tuple[str, str, Callable[[str, Results], float | None]]] = [
        (f"{SECOND_JOINT}: UAS", "as given", lambda name, results: above_wanted(name, results))
    ]
    for size in sizes:
        what = f"{SECOND_JOINT}, {size} trees: above the better of {SECOND_ALONE} and {JOINT}"
        rows.append((what, f"{ABOVE_BOTH}", partial(above_both, size)))
    for size in sizes:
        what = f"{SECOND_JOINT}, {size} trees: above {SECOND_ALONE} with {2 * size}"
        rows.append((what, "0", partial(above_twice, size)))
    for size in (size for size in sizes if size >= ENGLISH_FROM):
        what = f"English, {SECOND_JOINT}, {size} trees: above the English parser"
        rows.append((what, f"{ENGLISH_GAIN}", partial(english, size)))
    shown = []
    for what, wanted, compare in rows:
        found = [compare(name, results) for name, results in named.items()]
        if any(value is not None for value in found):
            shown.append([what, wanted, *("" if value is None else f"{value:+.2f}" for value in found)])
    return table(["goal", "wanted", *(CORPORA[name].language for name in named)], shown)


def figure(results: Results, size: int, condition: str, key: str = "target") -> float | None:
    return results.get(size, {}).get(condition, {}).get(key)


def less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def above_wanted(name: str, results: Results) -> float | None:
    size, wanted = WANTED[name]
    return less(figure(results, size, SECOND_JOINT), wanted)


def above_both(size: int, _: str, results: Results) -> float | None:
    others = [figure(results, size, condition) for condition in (SECOND_ALONE, JOINT)]
    known = [one for one in others if one is not None]
    return less(figure(results, size, SECOND_JOINT), max(known) if len(known) == len(others) else None)


def above_twice(size: int, _: str, results: Results) -> float | None:
    return less(figure(results, size, SECOND_JOINT), figure(results, 2 * size, SECOND_ALONE))


def english(size: int, _: str, results: Results) -> float | None:
    one, other = (figure(results, size, condition, "source") for condition in (SECOND_JOINT, ALONE))
    return less(one, other)


def run(lab: Lab) -> PageFigures:
    taught_by = {name: partial(taught, order) for name, order in TAUGHT.items()}
    for name in lab.options.corpora:
        for size in lab.options.sizes or SIZES[name]:
            conditions = lab.options.conditions or conditions_of(name, size)
            measure_missing(lab, name, size, conditions=conditions, measures=CONDITIONS | taught_by)
    named = {name: Kept(lab, name).results(SIZES[name], EVERY_CONDITION) for name in SIZES}
    tables = {"goals": goals(named), "aims": aims()}
    for name, results in named.items():
        tables[f"{name} target"] = figure_table(results, "target", SHOWN)
        tables[f"{name} LAS"] = figure_table(results, "target LAS", SHOWN)
        tables[f"{name} source"] = figure_table(
            results, "source", [one for one in SHOWN if one not in (PIPELINED, SECOND_PIPELINED)]
        )
    for key in ("milliseconds", "converged", "converged in training"):
        tables[key] = figure_table(named["lines"], key, SHOWN, digits=1)
    few = {size: named["lines"].get(size, {}) for size in TAUGHT_SIZES}
    tables["taught"] = figure_table(few, "target", (ALONE, SECOND_ALONE, *TAUGHT, SECOND_JOINT))
    drawings = {
        f"joint-orders-{name}.svg": plot(
            results, SHOWN, title=CORPORA[name].title, language=CORPORA[name].language
        )
        for name, results in named.items()
        if results
    }
    return PageFigures(tables=tables, drawings=drawings)


def aims() -> Table:
    """Show what was to be reached."""
    accuracies = [
        [f"{CORPORA[name].language}, UAS with {size} trees", f"{wanted}"]
        for name, (size, wanted) in WANTED.items()
    ]
    times = [[f"{name}: ms a pair of LinES, at most", f"{most:.0f}"] for name, most in MILLISECONDS.items()]
    return table(["what", "wanted"], [*accuracies, *times])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpora", nargs="*", choices=list(SIZES), default=list(SIZES), help="default: all")
    parser.add_argument(
        "--sizes", nargs="*", type=int, help="numbers of training pairs (default: the corpus's)"
    )
    parser.add_argument(
        "--conditions",
        nargs="*",
        choices=EVERY_CONDITION,
        metavar="CONDITION",
        help="default: all that are shown",
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    page="joint-orders",
    reading=orders,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
