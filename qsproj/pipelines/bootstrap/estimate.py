"""Log of a bootstrap, one line for each stage, and an estimate of the remaining time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from qsproj.errors import pluralise
from qsproj.pipelines.bootstrap.workspace import StageResult

# Descriptions of the stages for linguists.
TITLES = {
    "source": "tagger and parser of the source language",
    "words": "both sides tokenised",
    "links": "word alignment",
    "trees": "source side parsed",
    "tagger": "target tagger, trained through the links",
    "tagged": "target side tagged",
    "prior": "parser of the source treebank, its words translated",
    "parser": "target parser, trained on projected trees",
    "model": "one model for raw text",
    "learned": "annotated trees learned",
    "examples": "sample of parsed target text",
}


def in_short(stage: StageResult) -> str:
    """Return a line without details; in the last learning, these are warnings of a person's own data."""
    line = stage.report.line if stage.name == "learned" else stage.report.line.partition(";")[0]
    return f"{_title(stage.name)}: {line} ({stage.time})"


def _title(name: str) -> str:
    kind, _, number = name.partition("-")
    return f"{TITLES.get(kind, kind)}{f' ({number})' if number else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Words in the treebank of a source language, pairs of its bitext, and words on either side."""

    treebank: int
    pairs: int
    source: int
    target: int


# Maximum number of pairs that a parser learns from; minimum remaining time to report.
LEARNED_PAIRS, LEAST_SECONDS = 16_000, 20.0
_SECONDS: Mapping[str, Callable[[Sizes], float]] = {
    "source": lambda size: 2.1e-4 * size.treebank,
    "words": lambda size: 6e-6 * (size.source + size.target),
    "links": lambda size: 9e-6 * (size.source + size.target),
    "trees": lambda size: 2.7e-5 * size.source,
    "tagger": lambda size: 6e-5 * size.target,
    "tagged": lambda size: 6.5e-6 * size.target,
    "prior": lambda size: 6e-5 * size.treebank,
    "parser": lambda size: 1.6e-3 * min(size.pairs, LEARNED_PAIRS) + 3.4e-4 * size.pairs,
}


def expected_seconds(sizes: Sequence[Sizes], names: Sequence[str]) -> dict[str, float]:
    """Estimate the seconds of stages on one core, at rates measured for docs/results/bitext.md."""
    seconds = {}
    for name in names:
        kind, _, number = name.partition("-")
        of_stage = [sizes[int(number) - 1]] if number else sizes
        seconds[name] = sum(map(_SECONDS.get(kind, lambda _: 2.0), of_stage))
    return seconds


class Estimate:
    """Estimate of the remaining time from planned stages and their expected seconds. Mutable; final."""

    def __init__(self, planned: Sequence[StageResult], expected: Mapping[str, float]) -> None:
        self._names = [stage.name for stage in planned]
        self._left = {stage.name: expected[stage.name] for stage in planned if not stage.kept}
        # Kept stages of earlier runs show the speed of this machine.
        kept = [stage for stage in planned if stage.kept]
        self._spent = sum(stage.seconds for stage in kept)
        self._spent_expected = sum(expected[stage.name] for stage in kept)

    def whole(self) -> str:
        kept = len(self._names) - len(self._left)
        return f"{pluralise(len(self._names), 'stage')}, {kept} of them kept{self._time()}"

    def begun(self, name: str) -> str:
        place = self._names.index(name) + 1
        return f"{_title(name)}: begun, stage {place} of {len(self._names)}{self._time()}"

    def ended(self, name: str, seconds: float) -> None:
        """Record the seconds of a stage, and rescale the estimate of the others accordingly."""
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
