"""What `qsproj align` takes of large bitexts: processor time, and memory of all processes.

Short pairs of the bitext en-de over and over, as of :mod:`.scale`, have the same words however many they are. The
different ones are the bitexts of English with other languages, one after the other, whole, the target's words marked by
their language: so word pairs become more as they do in one large bitext, or faster.
"""

from __future__ import annotations

import argparse
import lzma
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from scripts.experiments.bench.scale import shown, write_pairs
from scripts.experiments.bench.watched import watch
from scripts.experiments.harness.cache import said
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import listed, table

LANGUAGES = "de", "es", "sv"
HEADER = ["bitext", "pairs", "processor time, s", "a pair, ms", "most memory, MB"]

Row = dict[str, float]


@dataclass(frozen=True)
class Bitext:
    """A bitext to be aligned: what it is called, and what writes it and tells its number of pairs."""

    name: str
    write: Callable[[Path], int]
    data: Sequence[Path]

    def source(self, lab: Lab) -> dict[str, Any]:
        """Say what its figures depend on."""
        return {"options": {"bitext": self.name, "jobs": lab.options.jobs}, "data": self.data}


def bitexts(lab: Lab) -> list[Bitext]:
    """Return what is aligned, the smallest first."""
    longest, german = lab.options.longest, lab.bitext_path(LANGUAGES[0])
    repeated = [
        Bitext(
            f"{pairs:,} pairs of at most {longest} words, repeated",
            partial(_repeated, german, pairs=pairs, longest=longest),
            [german],
        )
        for pairs in lab.options.pairs
    ]
    paths = [lab.bitext_path(language) for language in LANGUAGES]
    different = [
        Bitext(f"all of en-{listed(LANGUAGES[:count])}", partial(write_joined, paths[:count]), paths[:count])
        for count in (1, len(LANGUAGES))
    ]
    return [*repeated, *different]


def _repeated(source: Path, path: Path, *, pairs: int, longest: int) -> int:
    write_pairs(source, path, pairs=pairs, longest=longest)
    return pairs


def write_joined(sources: Sequence[Path], path: Path) -> int:
    """Write bitexts after each other, each target word with the place of its bitext; return how many pairs."""
    count = 0
    with path.open("w", encoding="utf-8") as out:
        for place, source in enumerate(sources):
            with lzma.open(source, "rt", encoding="utf-8") as lines:
                for line in lines:
                    one, other = line.rstrip("\n").split("\t")[:2]
                    print(one, " ".join(f"{word}_{place}" for word in other.split()), sep="\t", file=out)
                    count += 1
    return count


def aligned(lab: Lab, bitext: Bitext) -> Row:
    """Align a bitext, and return what that took."""
    path = lab.cache.file(f"{bitext.name}.tsv", bitext.write, **bitext.source(lab))
    links = path.with_suffix(".pharaoh")
    align = [sys.executable, "-m", "qsproj", "align", str(path), "--jobs", str(lab.options.jobs)]
    # The shell waits for the command, which says nothing, and then says so.
    told = ["sh", "-c", '"$@" && echo done >&2', "sh", *align, "--weights", "-o", str(links)]
    *_, last = watch(told, go_on=lambda: True)
    return {"pairs": said(path), "seconds": last.seconds, "peak": last.peak}


def run(lab: Lab) -> Figures:
    """Measure what is not kept, as long as there is time."""
    until = time.monotonic() + 60 * lab.options.minutes
    rows = []
    for bitext in bitexts(lab):
        row = lab.cache.kept("align", **bitext.source(lab))
        if row is None and time.monotonic() < until:
            row = lab.cache.figures("align", partial(aligned, lab, bitext), **bitext.source(lab))
        rows.append(cells(bitext.name, row))
    return Figures(tables={"rows": table(HEADER, rows)}, values={"jobs": str(lab.options.jobs)})


def cells(name: str, row: Row | None) -> list[str]:
    """Return a row of the table, empty but for its name where it is not measured."""
    if row is None:
        return [name, "", "", "", ""]
    each = 1e3 * row["seconds"] / row["pairs"]
    return [name, f"{row['pairs']:,}", shown(row["seconds"]), shown(each, 2), shown(row["peak"])]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--longest", type=int, default=12, help="words a side (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=600, help="after which no bitext is begun")


EXPERIMENT = Experiment(
    file=__file__, about=__doc__, measure=run, page="large-bitexts", add_arguments=add_arguments
)

if __name__ == "__main__":
    EXPERIMENT.main()
