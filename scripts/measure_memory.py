"""How much memory and time an E-step through a quasi-synchronous grammar takes on a large bitext. Prints a table.

    .venv/bin/python scripts/measure_memory.py --source en.conllu --target de.conllu --alignment en-de.pharaoh \\
        --pairs 100000 200000 400000

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
from qsproj.models.qg_dmv import expected_counts
from qsproj.models.qg_dmv_parameters import biased_parameters
from qsproj.models.qg_dmv_parts import pack_into

MAX_WORDS = 40


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
    print("| pairs read | pairs of up to 40 words | read and pack, s | E-step, s | packed, MB | peak, MB |")
    print("|---:|---:|---:|---:|---:|---:|")
    for number in options.pairs:
        command = [sys.executable, __file__, "--here", "--pairs", str(number)]
        for name in ("source", "target", "alignment"):
            command += [f"--{name}", getattr(options, name)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            kept, packing, step, size = map(float, process.stdout.read().split())
            _, _, usage = os.wait4(process.pid, 0)
        peak = usage.ru_maxrss / 1024
        print(
            f"| {number:,} | {kept:,.0f} | {packing:.0f} | {step:.1f} | {size:.0f} | {peak:.0f} |", flush=True
        )


if __name__ == "__main__":
    main()
