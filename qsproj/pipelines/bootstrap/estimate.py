"""Estimates of how long a bootstrap will take, told before it begins, and with each stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qsproj.errors import counted
from qsproj.pipelines.bootstrap.workspace import Stage

# From so many pairs on a parser learns from no more of them.
LEARNED_PAIRS = 16_000
# Shorter waits are not worth a line.
LEAST_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Numbers of words in the treebank of a source language, and on either side of its bitext."""

    treebank: int
    pairs: int
    source: int
    target: int


def expected_seconds(sizes: Sequence[Sizes], names: Sequence[str]) -> dict[str, float]:
    """Return about how long stages take on one core: rates measured in the runs of docs/bootstrap.md."""
    seconds = {}
    for name in names:
        kind, _, number = name.partition("-")
        of_stage = [sizes[int(number) - 1]] if number else sizes
        seconds[name] = sum(_expected(kind, size) for size in of_stage)
    return seconds


def _expected(kind: str, size: Sizes) -> float:
    rates: Mapping[str, float] = {
        "source": 2.6e-4 * size.treebank,
        "words": 9e-6 * (size.source + size.target),
        "links": 1.2e-5 * (size.source + size.target),
        "trees": 2.8e-5 * size.source,
        "tagger": 2.6e-5 * size.target,
        "tagged": 7e-6 * size.target,
        "prior": 2.5e-4 * size.treebank,
        "parser": 3e-3 * min(size.pairs, LEARNED_PAIRS) + 6e-4 * size.pairs,
    }
    return rates.get(kind, 2.0)


class Estimate:
    """The stages that are left of all that are planned, and the seconds expected of each. Mutable; final."""

    def __init__(self, planned: Sequence[Stage], expected: Mapping[str, float]) -> None:
        self._names = [stage.name for stage in planned]
        self._left = {stage.name: expected[stage.name] for stage in planned if not stage.kept}
        self._spent = self._spent_expected = 0.0

    def whole(self) -> str:
        """Say how many stages there are, how many are kept, and how long the others will take."""
        kept = len(self._names) - len(self._left)
        counts = f"{counted(len(self._names), 'stage')}, {kept} of them kept"
        return f"{counts}{self._time()}"

    def begun(self, name: str) -> str:
        """Say of a stage that it begins, which it is, and how long this and the others will take."""
        place = self._names.index(name) + 1
        return f"{name}: begun, stage {place} of {len(self._names)}{self._time()}"

    def ended(self, name: str, seconds: float) -> None:
        """Take in how long a stage took: the others are as much faster or slower."""
        self._spent += seconds
        self._spent_expected += self._left.pop(name, 0.0)

    def _time(self) -> str:
        total = sum(self._left.values())
        if self._spent_expected >= LEAST_SECONDS:
            total *= self._spent / self._spent_expected
        if total < LEAST_SECONDS:
            return ""
        minutes = round(total / 60)
        about = f"{minutes} min" if minutes >= 2 else f"{10 * round(total / 10)} s"
        return f"; about {about} left on one core"
