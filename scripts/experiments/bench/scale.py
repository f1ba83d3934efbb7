"""Measure processor time and memory of each stage of `qsproj bootstrap` on a large bitext.

    python -m scripts.experiments.bench.scale --pairs 100000 300000 1000000 --minutes 7

The pairs of the bitext en-de with at most --longest words are repeated as often as needed; the number of the repetition
precedes both sides, because repeated pairs would be left out. An E-step of a quasi-synchronous grammar reads the output
of the stages. The figures of each stage are stored when it ends: with --minutes, the run ends after the current stage
when the time is over, and the same command continues it. The page shows which figures are missing.
"""

from __future__ import annotations

import argparse
import itertools
import lzma
import math
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from scripts.experiments.bench.watched import Taken, watch
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, listed, table

LANGUAGES = "en", "de"
STAGES = ("source", "words", "links", "trees", "tagger", "tagged", "prior", "parser", "model")
# Learned from the treebank alone, whatever the bitext.
WITHOUT_PAIRS = "source"
STAGE = re.compile(rf"({'|'.join(STAGES)}): .* \((kept|\d+ s)\)")
QUICK_PAIRS = 2_000, 4_000
NAN = math.nan

Row = dict[str, float]


@dataclass(frozen=True)
class Size:
    """A bitext of a given number of pairs, and its figures."""

    lab: Lab
    pairs: int

    def row(self, name: str) -> Row | None:
        """Return the stored figures of a stage, if any."""
        found: Row | None = self.lab.cache.kept(name, **self._source(name))
        return found

    @property
    def missing(self) -> list[str]:
        """The missing figures."""
        return [name for name in STAGES if self.row(name) is None]

    def measure(self, *, until: float) -> None:
        """Run the stages without stored figures until the time is over."""
        self._work.mkdir(parents=True, exist_ok=True)
        lines = watch(self._command, go_on=lambda: time.monotonic() < until)
        for stage, taken in by_stage(lines):
            self._keep(stage, {"seconds": taken.seconds, "peak": taken.peak})

    def _keep(self, name: str, row: Row) -> None:
        self.lab.cache.figures(name, lambda: row, **self._source(name))
        print(f"{self.pairs:,} pairs, {name}: {row}", file=sys.stderr, flush=True)

    def _source(self, name: str) -> dict[str, Any]:
        options = {"jobs": self.lab.options.jobs}
        if name != WITHOUT_PAIRS:
            options |= {"pairs": self.pairs, "longest": self.lab.options.longest}
        return {"options": options, "data": [self._treebank, self.lab.bitext_path(LANGUAGES[1])]}

    @property
    def _treebank(self) -> Path:
        return self.lab.treebank_path("english-ewt-train")

    @property
    def _bitext(self) -> Path:
        source, longest = self.lab.bitext_path(LANGUAGES[1]), self.lab.options.longest
        return self.lab.cache.file(
            f"{self.pairs}.tsv",
            partial(write_pairs, source, pairs=self.pairs, longest=longest),
            options={"pairs": self.pairs, "longest": longest},
            data=[source],
        )

    @property
    def _work(self) -> Path:
        """The folder of stages of all sizes, for this build."""
        return self.lab.cache.unfinished("bootstrap", **self._source(WITHOUT_PAIRS))

    @property
    def _command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "qsproj", "bootstrap", "--jobs", str(self.lab.options.jobs)),
            *("--treebank", str(self._treebank), "--bitext", str(self._bitext), "--languages", *LANGUAGES),
            *("--work", str(self._work), "-o", str(self._work.with_suffix(".model"))),
        ]


def by_stage(lines: Iterable[Taken]) -> Iterator[tuple[str, Taken]]:
    """Yield each stage that ran, and the resources used since the stage before."""
    seconds = peak = 0.0
    for line, more, most in lines:
        print(line, file=sys.stderr, flush=True)
        seconds, peak = seconds + more, max(peak, most)
        if said := STAGE.fullmatch(line):
            if said[2] != "kept":
                yield said[1], Taken(line, seconds, peak)
            seconds = peak = 0.0


def write_pairs(source: Path, path: Path, *, pairs: int, longest: int) -> None:
    """Write a given number of pairs of at most ``longest`` words a side."""
    with lzma.open(source, "rt", encoding="utf-8") as lines:
        sides = [line.rstrip("\n").split("\t")[:2] for line in lines]
    short = [side for side in sides if max(len(one.split()) for one in side) <= longest]
    numbered = (f"{turn} {one}\t{turn} {other}\n" for turn in itertools.count() for one, other in short)
    path.write_text("".join(itertools.islice(numbered, pairs)), encoding="utf-8")


def run(lab: Lab) -> Figures:
    """Measure missing figures until the time is over."""
    until = time.monotonic() + 60 * lab.options.minutes
    sizes = [Size(lab, pairs) for pairs in (QUICK_PAIRS if lab.options.quick else lab.options.pairs)]
    for size in sizes:
        if size.missing and time.monotonic() < until:
            size.measure(until=until)
    pairs = [size.pairs for size in sizes]
    stages = {stage: [size.row(stage) or {} for size in sizes] for stage in STAGES}
    left = [f"{name} of {size.pairs:,} pairs" for size in sizes for name in size.missing]
    return Figures(
        tables={
            "seconds": seconds_table(pairs, stages),
            "memory": memory_table(pairs, stages),
        },
        values={
            "jobs": str(lab.options.jobs),
            "longest": str(lab.options.longest),
            "missing": f"Not measured yet: {listed(left)}." if left else "Every row was run to its end.",
        },
    )


def seconds_table(pairs: Sequence[int], stages: dict[str, list[Row]]) -> Table:
    """Return the processor time of each stage, and the increase per pair from one size to the next."""
    columns = {stage: [row.get("seconds", NAN) for row in rows] for stage, rows in stages.items()}
    columns["all"] = [sum(seconds) for seconds in zip(*columns.values(), strict=True)]
    steps = list(itertools.pairwise(pairs))
    lines = []
    for stage, seconds in columns.items():
        more = [
            1e3 * (after - before) / (last - first)
            for (before, after), (first, last) in zip(itertools.pairwise(seconds), steps, strict=True)
        ]
        lines.append([stage, *(shown(value) for value in seconds), *(shown(value, 2) for value in more)])
    headings = (f"a pair more, {first:,} to {last:,}, ms" for first, last in steps)
    return table(["stage", *(f"{size:,} pairs, s" for size in pairs), *headings], lines)


def memory_table(pairs: Sequence[int], stages: dict[str, list[Row]]) -> Table:
    """Show the most memory that the processes of each stage had together."""
    lines = [[stage, *(shown(row.get("peak", NAN)) for row in rows)] for stage, rows in stages.items()]
    return table(["stage", *(f"{size:,} pairs, MB" for size in pairs)], lines)


def shown(value: float, digits: int = 0) -> str:
    """Return a figure as a cell, an empty one where it was not measured."""
    return "" if math.isnan(value) else f"{value:.{digits}f}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--longest", type=int, default=8, help="words a side (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument(
        "--minutes", type=float, default=600, help="no stage starts after this time (default: %(default)s)"
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, add_arguments=add_arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
