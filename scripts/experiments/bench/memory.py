"""How much memory and time an E-step through a quasi-synchronous grammar takes on a large bitext. Writes docs/scale.md.

    .venv/bin/python -m scripts.experiments.bench.memory --source en.conllu --target de.conllu --alignment en-de.pharaoh \\
        --pairs 20000 120000 1000000

The bitext (source parsed, target tagged, links with weights) is repeated until there are as many pairs; each run is
a process of its own.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from qsproj.corpus.pairing import AlignedFiles
from qsproj.corpus.sentence import SentencePair
from qsproj.models.qg_dmv.qg_dmv import expected_counts
from qsproj.models.qg_dmv.qg_dmv_parameters import biased_parameters
from qsproj.models.qg_dmv.qg_dmv_parts import pack_into

MAX_WORDS = 40
REPORT = Path(__file__).resolve().parents[3] / "docs" / "scale.md"


@dataclass(frozen=True)
class Repeated:
    """The pairs of a bitext over and over, read from its files each time."""

    files: AlignedFiles
    number: int

    def __iter__(self) -> Iterator[SentencePair]:
        rounds = itertools.chain.from_iterable(itertools.repeat(self.files))
        return itertools.islice(rounds, self.number)


def measure(files: AlignedFiles, number: int) -> None:
    """Pack the pairs of up to 40 words and do one E-step in this process; print what that took."""
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        usable = (
            pair
            for pair in Repeated(files, number)
            if 0 < len(pair.target) <= MAX_WORDS and len(pair.source) and (pair.source.heads[1:] >= 0).all()
        )
        packed = pack_into(Path(folder), usable, punctuation="strip")
        read = time.process_time()
        size = sum(path.stat().st_size for path in packed.paths) / 2**20
        tags, senses = len(packed.inventory), len(packed.source_inventory) + 1
        expected_counts(packed, biased_parameters(tags, senses, parent_child=0.9))
        print(packed.pairs, read - start, time.process_time() - read, size)


@dataclass(frozen=True)
class Row:
    """What one size took: processor seconds and MB."""

    pairs: int
    kept: int
    packing: float
    step: float
    packed: float
    peak: float


def report(rows: list[Row]) -> str:
    """Format everything as Markdown."""
    lines = [
        "# EM at scale",
        "",
        "Made by `scripts/experiments/bench/memory.py`: the bitext en-de of 71,700 pairs, repeated or cut to so many; source parsed,",
        "target tagged, links of a weight above 0.15; each row in a process of its own, one core, processor time. All pairs",
        "of up to 40 words are kept, unlinked or not, which `--min-linked` would not do. Every row was run to its end.",
        "",
        "| pairs | of up to 40 words | read and pack, s | E-step, s | packed on disk, MB | peak memory, MB |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        figures = f"{row.packing:.0f} | {row.step:.1f} | {row.packed:.0f} | {row.peak:.0f}"
        lines.append(f"| {row.pairs:,} | {row.kept:,} | {figures} |")
    lines += [
        "",
        "Sentences are read one at a time, pairs packed in parts of 10,000 into files, and an E-step holds one part for",
        "each job. What grows with the bitext are the identifiers that have to be unique, where the files have any; a",
        "repeated file does not show it: two sets of a million strings take some 200 MB.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run each size in its own process."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("source", "target", "alignment"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--pairs", type=int, nargs="+", required=True)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        files = AlignedFiles(options.source, options.target, options.alignment)
        measure(files, options.pairs[0])
        return
    rows: list[Row] = []
    for number in options.pairs:
        command = [
            sys.executable,
            "-m",
            "scripts.experiments.bench.memory",
            "--here",
            "--pairs",
            str(number),
        ]
        for name in ("source", "target", "alignment"):
            command += [f"--{name}", getattr(options, name)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            kept, packing, step, size = map(float, process.stdout.read().split())
            _, _, usage = os.wait4(process.pid, 0)
        rows.append(Row(number, int(kept), packing, step, size, usage.ru_maxrss / 1024))
        print(rows[-1], file=sys.stderr, flush=True)
    REPORT.write_text(report(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
