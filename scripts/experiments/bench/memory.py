"""How much memory and time an E-step through a quasi-synchronous grammar takes on a large bitext.

    python -m scripts.experiments.bench.memory --source en.conllu --target de.conllu --alignment en-de.pharaoh \\
        --pairs 20000 120000 1000000

The bitext (source parsed, target tagged, links with weights; those of transfer/projection.py) is repeated until there
are as many pairs; each run is a process of its own.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import SentencePair
from qsproj.errors import UsageError
from qsproj.models.qg_dmv.qg_dmv import expected_counts
from qsproj.models.qg_dmv.qg_dmv_parameters import biased_parameters
from qsproj.models.qg_dmv.qg_dmv_parts import pack_into
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.process import in_own_process
from scripts.experiments.harness.tables import table

MAX_WORDS = 40


@dataclass(frozen=True)
class Repeated:
    """The pairs of a bitext over and over, read from its files each time."""

    files: AlignedFiles
    number: int

    def __iter__(self) -> Iterator[SentencePair]:
        rounds = itertools.chain.from_iterable(itertools.repeat(self.files))
        return itertools.islice(rounds, self.number)


@dataclass(frozen=True)
class Taken:
    """What one size took: processor seconds and MB."""

    kept: int
    packing: float
    step: float
    packed: float
    peak: float


def measure(files: AlignedFiles, number: int) -> Taken:
    """Pack the pairs of up to 40 words and do one E-step in this process."""
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
        done = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Taken(packed.pairs, read - start, done - read, size, peak)


def run(lab: Lab) -> Figures:
    options = lab.options
    if not (options.source and options.target and options.alignment):
        raise UsageError("found no bitext, expected --source, --target and --alignment")
    files = AlignedFiles(options.source, options.target, options.alignment)
    rows = []
    for number in options.pairs:
        taken = in_own_process(measure, files, number)
        figures = (f"{taken.packing:.0f}", f"{taken.step:.1f}", f"{taken.packed:.0f}", f"{taken.peak:.0f}")
        rows.append([f"{number:,}", f"{taken.kept:,}", *figures])
    times = ("read and pack, s", "E-step, s", "packed on disk, MB", "peak memory, MB")
    return Figures(tables={"scale": table(("pairs", "of up to 40 words", *times), rows)})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for name in ("source", "target", "alignment"):
        parser.add_argument(f"--{name}", metavar="FILE")
    parser.add_argument("--pairs", type=int, nargs="+", default=[20_000, 120_000, 1_000_000])


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    page="scale",
    add_arguments=add_arguments,
    needs_data=False,
)

if __name__ == "__main__":
    EXPERIMENT.main()
