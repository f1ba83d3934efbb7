"""What the page on joint parsing says in figures, computed from its tables; what is missing is said to be."""

from __future__ import annotations

from collections.abc import Iterable

from scripts.experiments.harness.page import Tables
from scripts.experiments.harness.tables import Table, listed, span
from scripts.experiments.pages.joint import ALONE, CORPORA, Phrases, by_language, gains

SYNCHRONOUS = "synchronous"
MONO_PARSE, MONO_TRAINING = "QG-mono parse", "QG-mono training"
JOINT, PIPELINED, TRUE_SOURCE = "full QG, joint", "full QG, 1-best source", "full QG, true source"
SECOND_ALONE, SECOND_JOINT = "order 2, alone", "order 2, joint"
SECOND_PIPELINED = "order 2, 1-best source"
BOTH_SECOND = "order 2 on both sides, joint"
FIRST_TAUGHT = "taught by the joint parser of order 1"
SECOND_TAUGHT = "taught by the joint parser of order 2"
NOT_MEASURED = "not measured"
# Trees of LinES at which the page says what errors of the English parser cost.
TREES = "800"


def joint_parsing(tables: Tables) -> Phrases:
    return {**_of_the_target(tables), **_of_the_source(tables), **_of_orders(tables), **_of_time(tables)}


def compared(tables: Tables, side: str, one: str, other: str, least: int = 0) -> str:
    """Say between what and what a condition is above another in each language, from ``least`` trees up."""
    found = {
        language: gains(tables[f"{name} {side}"], one, other, least=least).values()
        for name, language in CORPORA.items()
        if f"{name} {side}" in tables
    }
    return by_language(found) if any(found.values()) else NOT_MEASURED


def twice(tables: Tables, one: str, other: str, *, above: bool) -> str:
    """Name the numbers of trees with which a condition is above, or below, another with twice as many."""
    named, measured = [], False
    for name, language in CORPORA.items():
        found = doubled(tables[f"{name} target"], one, other) if f"{name} target" in tables else {}
        sizes = [size for size, gain in found.items() if (gain > 0) == above]
        named += [f"{language} ({', '.join(sizes)})"] if sizes else []
        measured |= bool(found)
    return listed(named) if measured else NOT_MEASURED


def doubled(table: Table, one: str, other: str) -> dict[str, float]:
    """Return how far a row is above another with twice as many trees, by number of trees."""
    pairs = ((size, str(2 * int(size))) for size in table.header[1:])
    return {
        size: table.number(one, size) - table.number(other, double)
        for size, double in pairs
        if table.has(one, size) and table.has(other, double)
    }


def between(values: Iterable[float], *, digits: int = 1, sign: bool = False, unit: str = "") -> str:
    """Say between what and what values lie, where there are any."""
    found = list(values)
    return f"{span(found, digits=digits, sign=sign)}{unit}" if found else NOT_MEASURED


def less(
    table: Table, one: tuple[str, ...], other: tuple[str, ...], *, digits: int = 1, sign: bool = False
) -> str:
    """Say what a cell is above another, where there are both."""
    there = table.has(*one) and table.has(*other)
    return between([table.number(*one) - table.number(*other)] if there else [], digits=digits, sign=sign)


def ratios(table: Table, one: str, other: str) -> list[float]:
    """Return how many times another row a row is, by number of trees."""
    sizes = (size for size in table.header[1:] if table.has(one, size) and table.has(other, size))
    return [table.number(one, size) / table.number(other, size) for size in sizes]


def row_of(table: Table, name: str) -> dict[str, float]:
    """Return the figures of a row by number of trees, those that are there."""
    return {size: table.number(name, size) for size in table.header[1:] if table.has(name, size)}


def _of_the_target(tables: Tables) -> Phrases:
    """Say what the conditions of the thesis do to the target."""
    targets = [tables[f"{name} target"] for name in CORPORA if f"{name} target" in tables]
    below = [value for table in targets for value in gains(table, SYNCHRONOUS, MONO_TRAINING).values()]
    chinese, dev = tables["pud-zh target"], tables["dev"]
    true_mono = "QG-mono training, true source"
    return {
        "twice: above": twice(tables, JOINT, ALONE, above=True),
        "twice: below": twice(tables, JOINT, ALONE, above=False),
        "joint over pipelined": compared(tables, "target", JOINT, PIPELINED, 200),
        "families over MONO": compared(tables, "target", JOINT, MONO_TRAINING, 200),
        "families, true trees": less(
            dev, ("400", TRUE_SOURCE, "Swedish UAS"), ("400", true_mono, "Swedish UAS"), digits=2, sign=True
        ),
        "synchronous": compared(tables, "target", SYNCHRONOUS, ALONE),
        "synchronous below": f"{sum(value < 0 for value in below)} of {len(below)}",
        "Chinese": between(gains(chinese, JOINT, ALONE).values(), digits=2, sign=True),
        "Chinese: true trees": between(gains(chinese, TRUE_SOURCE, ALONE).values(), digits=2, sign=True),
        "true trees": less(tables["lines target"], (TRUE_SOURCE, TREES), (PIPELINED, TREES)),
        "taught: order 1": between(gains(tables["taught"], FIRST_TAUGHT, ALONE).values(), sign=True),
        "taught: order 2": between(gains(tables["taught"], SECOND_TAUGHT, ALONE).values(), sign=True),
    }


def _of_the_source(tables: Tables) -> Phrases:
    """Say what joint parsing does to the English trees."""
    lines, dev = tables["lines source"], tables["dev"]
    right = [lines.number(ALONE, TREES)] if lines.has(ALONE, TREES) else []

    def on_dev(condition: str) -> str:
        english = "English UAS"
        return less(dev, ("400", condition, english), ("400", ALONE, english), digits=2, sign=True)

    return {
        "English errors": between(100 - value for value in right),
        "English mended": less(lines, (JOINT, TREES), (ALONE, TREES)),
        "English gain": compared(tables, "source", JOINT, ALONE, 400),
        "English gain: order 2": compared(tables, "source", SECOND_JOINT, ALONE, 400),
        "English gain: both": compared(tables, "source", BOTH_SECOND, SECOND_ALONE, 400),
        "evidence: with": on_dev(JOINT),
        "evidence: without": on_dev("without source evidence"),
    }


def _of_orders(tables: Tables) -> Phrases:
    """Say what the second order gains, alone and jointly."""
    return {
        "order 2: joint over alone": compared(tables, "target", SECOND_JOINT, SECOND_ALONE),
        "order 2: LAS over alone": compared(tables, "LAS", SECOND_JOINT, SECOND_ALONE),
        "order 2 over 1": compared(tables, "target", SECOND_JOINT, JOINT),
        "order 2 alone over 1": compared(tables, "target", SECOND_ALONE, ALONE),
        "order 2: both over one": compared(tables, "target", BOTH_SECOND, SECOND_JOINT),
        "order 2: joint over pipelined": compared(tables, "target", SECOND_JOINT, SECOND_PIPELINED),
        "order 2, twice: above": twice(tables, SECOND_JOINT, SECOND_ALONE, above=True),
        "order 2, twice: below": twice(tables, SECOND_JOINT, SECOND_ALONE, above=False),
    }


def _of_time(tables: Tables) -> Phrases:
    """Say how long parsing and training take, on LinES."""
    times, training, settled = (tables[name] for name in ("milliseconds", "training seconds", "converged"))

    def milliseconds(name: str) -> str:
        return between(row_of(times, name).values(), digits=0, unit=" ms")

    minutes = {size: value / 60 for size, value in row_of(training, SECOND_JOINT).items()}
    return {
        "time": milliseconds(SECOND_JOINT),
        "time: 1-best": milliseconds(SECOND_PIPELINED),
        "time: MONO": between(
            (100 * ratio for ratio in ratios(times, MONO_TRAINING, JOINT)), digits=0, unit="%"
        ),
        "time: synchronous": between(ratios(times, SYNCHRONOUS, JOINT), unit=" times"),
        "training time": listed([f"{value:.1f} minutes with {size} trees" for size, value in minutes.items()])
        if minutes
        else NOT_MEASURED,
        "synchronous settled": between(row_of(settled, SYNCHRONOUS).values(), unit="%"),
    }
