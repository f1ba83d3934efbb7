"""How fast CoNLL-U is read and written, and how long ``qsproj --help`` takes."""

from __future__ import annotations

import gzip
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_heads
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table

REPEATS = 3


def seconds(work: Callable[[], object]) -> float:
    """Return the median processor time of ``work`` after one run that is not counted."""
    work()
    taken = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def exhaust(path: Path) -> int:
    """Read a file to its end, keeping nothing."""
    return sum(1 for _ in read_conllu(path))


def help_seconds() -> float:
    """Return the median wall time of ``qsproj --help`` in a process of its own."""
    taken = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "qsproj", "--help"], check=True, capture_output=True)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def run(lab: Lab) -> Figures:
    packed = lab.treebank_path("english-ewt-train")
    sentences = lab.treebank("english-ewt-train")
    changed = [with_heads(sentence, [-1] * (len(sentence) + 1)) for sentence in sentences]
    with tempfile.TemporaryDirectory() as folder:
        plain, out = Path(folder) / "plain.conllu", Path(folder) / "out.conllu"
        plain.write_bytes(gzip.decompress(packed.read_bytes()))
        taken = {
            "read, gzip": seconds(lambda: exhaust(packed)),
            "read, plain": seconds(lambda: exhaust(plain)),
            "write, unchanged": seconds(lambda: write_conllu(sentences, out)),
            "write, every head changed": seconds(lambda: write_conllu(changed, out)),
        }
    rows = [[name, f"{len(sentences) / time_taken:,.0f}"] for name, time_taken in taken.items()]
    return Figures(
        tables={"rates": table(["what", "sentences/s"], rows)},
        values={"sentences": f"{len(sentences):,}", "help": f"{help_seconds():.2f} s"},
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="bench-reading")

if __name__ == "__main__":
    EXPERIMENT.main()
