"""How fast CoNLL-U is read and written, and how long `qsproj --help` takes. Writes docs/bench-reading.md.

QSPROJ_DATA=... .venv/bin/python -m scripts.experiments.bench.reading
"""

from __future__ import annotations

import gzip
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_heads

REPORT = Path(__file__).resolve().parents[3] / "docs" / "bench-reading.md"
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


def main() -> None:
    """Measure and write the report."""
    packed = Path(os.environ["QSPROJ_DATA"]) / "treebanks" / "english-ewt-train.conllu.gz"
    sentences = list(read_conllu(packed))
    changed = [with_heads(sentence, [-1] * (len(sentence) + 1)) for sentence in sentences]
    with tempfile.TemporaryDirectory() as folder:
        plain, out = Path(folder) / "plain.conllu", Path(folder) / "out.conllu"
        plain.write_bytes(gzip.decompress(packed.read_bytes()))
        rows = {
            "read, gzip": seconds(lambda: exhaust(packed)),
            "read, plain": seconds(lambda: exhaust(plain)),
            "write, unchanged": seconds(lambda: write_conllu(sentences, out)),
            "write, every head changed": seconds(lambda: write_conllu(changed, out)),
        }
    lines = [
        "# Reading and writing CoNLL-U",
        "",
        f"Made by `scripts/experiments/bench/reading.py` on {platform.machine()}, Python {platform.python_version()}:",
        f"English-EWT train, {len(sentences):,} sentences, median of {REPEATS}, processor time, one core.",
        "",
        "| what | sentences/s |",
        "|---|---|",
        *(f"| {name} | {len(sentences) / taken:,.0f} |" for name, taken in rows.items()),
        "",
        f"`qsproj --help`: {help_seconds():.2f} s of wall time.",
    ]
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(REPORT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
