"""What joint parsing was to reach, and how far its figures are from that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from scripts.experiments.harness.tables import Table, table
from scripts.experiments.joint.conditions import TRAINING
from scripts.experiments.joint.corpora import CORPORA
from scripts.experiments.joint.kept import Results
from scripts.experiments.pages.joint import ALONE
from scripts.experiments.pages.joint_parsing import (
    BOTH_SECOND,
    JOINT,
    MONO_TRAINING,
    PIPELINED,
    SECOND_ALONE,
    SECOND_JOINT,
    SECOND_PIPELINED,
)

# UAS of the joint parser of the second order: corpus, number of trees, and what was wanted.
ACCURACIES = (("lines", 800, 85.2), ("lines", 2738, 87.0), ("partut", 400, 89.8), ("pud-de", 600, 91.0))
# Milliseconds of a pair of LinES, at most.
MILLISECONDS = {SECOND_JOINT: 40, BOTH_SECOND: 40, SECOND_PIPELINED: 20}
# Minutes of training on so many pairs of LinES, at most.
TRAINED, MINUTES = 800, 10


@dataclass(frozen=True)
class Goal:
    """A condition that was to be above the best of others, by so many points, or as good (0).

    Attributes
    ----------
    what : str
    wanted : float
    condition : str
    others : tuple of str
    key : str
        The figure: ``target`` or ``source``, the UAS of a side.
    least : int
        The fewest trees that it is wanted of.
    times : int
        How many times as many trees the others have.
    """

    what: str
    wanted: float
    condition: str
    others: tuple[str, ...]
    key: str = "target"
    least: int = 0
    times: int = 1

    def found(self, results: Results, size: int) -> float | None:
        """Return the difference; None where a figure of it is missing."""
        own = figure(results, size, self.condition, self.key)
        others = [figure(results, self.times * size, other, self.key) for other in self.others]
        known = [other for other in others if other is not None]
        return None if own is None or len(known) < len(others) else own - max(known)


GOALS = (
    Goal(f"{JOINT}, above {ALONE} with twice the trees", 0, JOINT, (ALONE,), times=2),
    Goal(f"{JOINT}, above {MONO_TRAINING}", 0.5, JOINT, (MONO_TRAINING,), least=400),
    Goal(f"{JOINT}, above 1-best source", 0.5, JOINT, (PIPELINED,), least=400),
    Goal(f"English, {JOINT}, above the English parser", 0.5, JOINT, (ALONE,), "source"),
    Goal(
        f"{SECOND_JOINT}, above the better of {SECOND_ALONE} and {JOINT}",
        0.6,
        SECOND_JOINT,
        (SECOND_ALONE, JOINT),
    ),
    Goal(
        f"{SECOND_JOINT}, above {SECOND_ALONE} with twice the trees",
        0,
        SECOND_JOINT,
        (SECOND_ALONE,),
        times=2,
    ),
    Goal(f"{BOTH_SECOND}, above the better of the same", 0.6, BOTH_SECOND, (SECOND_ALONE, JOINT)),
    Goal(f"English, {SECOND_JOINT}, above the English parser", 0.7, SECOND_JOINT, (ALONE,), "source", 400),
    Goal(
        f"English, {BOTH_SECOND}, above the second-order English parser",
        0.7,
        BOTH_SECOND,
        (SECOND_ALONE,),
        "source",
        400,
    ),
)


def goals(named: Mapping[str, Results]) -> Table:
    """Hold differences of figures against what was wanted of them."""
    sizes = sorted({size for results in named.values() for size in results})
    rows = []
    for goal in GOALS:
        for size in (size for size in sizes if size >= goal.least):
            found = [goal.found(results, size) for results in named.values()]
            if any(value is not None for value in found):
                cells = ("" if value is None else f"{value:+.2f}" for value in found)
                rows.append([goal.what, str(size), f"{goal.wanted:g}", *cells])
    return table(["goal", "trees", "wanted", *(CORPORA[name].language for name in named)], rows)


def aims(named: Mapping[str, Results]) -> Table:
    """Hold figures against what they were to be."""
    return table(["what", "wanted", "found"], [*accuracies(named), *times(named["lines"])])


def accuracies(named: Mapping[str, Results]) -> Iterator[list[str]]:
    for name, size, wanted in ACCURACIES:
        for condition in (SECOND_JOINT, BOTH_SECOND):
            found = figure(named[name], size, condition, "target")
            what = f"{condition}: {CORPORA[name].language} UAS with {size:,} trees"
            yield [what, f"{wanted}", "" if found is None else f"{found:.2f}"]


def times(results: Results) -> Iterator[list[str]]:
    """Yield what was wanted of time, and the longest that was found."""
    for condition, most in MILLISECONDS.items():
        found = [figure(results, size, condition, "milliseconds") for size in results]
        what = f"{condition}: milliseconds a pair of LinES, at most"
        yield [what, f"{most}", longest(found)]
    for condition in (JOINT, SECOND_JOINT, BOTH_SECOND):
        seconds = figure(results, TRAINED, condition, TRAINING)
        what = f"{condition}: minutes of training on {TRAINED} pairs of LinES, at most"
        yield [what, f"{MINUTES}", longest([None if seconds is None else seconds / 60])]


def longest(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{max(known):.1f}" if known else ""


def figure(results: Results, size: int, condition: str, key: str) -> float | None:
    return results.get(size, {}).get(condition, {}).get(key)
