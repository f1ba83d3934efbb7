"""First-order parsing measured: accuracy beside published peers, speed, memory. Writes docs/parsing.md.

    QSPROJ_DATA=... .venv/bin/python -m scripts.experiments.parsing.first_order [--rows NAME ...]

Every row is trained in a process of its own, so that its peak memory is its own. All tokens are scored,
punctuation included; tags, lemmas and features are gold.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
REPORT = ROOT / "docs" / "parsing.md"


@dataclass(frozen=True)
class Row:
    """What is trained and tested; ``every`` takes one training sentence in so many."""

    name: str
    train: str
    test: str
    every: int = 1
    projective: bool | None = None
    peers: str = ""
    bar: str = ""


ROWS = (
    Row(
        "Danish-DDT",
        "danish-ddt-dev",
        "danish-ddt-test",
        peers="pacaya 78.7, Turbo 78.1, MST 77.7",
        bar="79.5",
    ),
    Row("Dutch-Alpino", "dutch-alpino-dev", "dutch-alpino-test", peers="MST 77.0, Turbo 73.7", bar="78.2"),
    Row("German-GSD", "german-gsd-dev", "german-gsd-test", peers="MST 80.7, Turbo 80.4", bar="82.3"),
    Row(
        "English-EWT, 1 in 12",
        "english-ewt-train",
        "english-ewt-test",
        every=12,
        peers="pacaya 82.4, MST 80.9, UDPipe 80.8, Turbo 80.6",
        bar="82.8",
    ),
    Row("English-EWT, projective", "english-ewt-train", "english-ewt-test", projective=True),
    Row("English-EWT, non-projective", "english-ewt-train", "english-ewt-test", projective=False),
    Row("Hungarian-Szeged", "hungarian-szeged-train", "hungarian-szeged-test"),
    Row("Greek-GDT", "greek-gdt-train", "greek-gdt-test"),
    Row("Turkish-IMST", "turkish-imst-train", "turkish-imst-test"),
)


def measure(row: Row, data: Path) -> dict[str, object]:
    """Train and test one row in this process."""
    import numpy as np

    from qsproj.corpus.conllu import read_conllu, write_conllu
    from qsproj.evaluation.attachment import attachment_scores
    from qsproj.models.arc.arc_training import TrainingOptions, train_arc_parser

    train = list(read_conllu(data / f"{row.train}.conllu.gz"))[:: row.every]
    test = list(read_conllu(data / f"{row.test}.conllu.gz"))
    options = TrainingOptions(projective=row.projective)
    warm_up = train[:5]
    train_arc_parser(warm_up, rng=np.random.default_rng(1), options=options)[0].parse(test[0])
    start = time.process_time()
    parser, report = train_arc_parser(train, rng=np.random.default_rng(1), options=options)
    trained = time.process_time()
    scores = {}
    for decode in ("mbr", "map"):
        began = time.process_time()
        parsed = [parser.parse(sentence, decode=decode) for sentence in test]
        scores[decode] = attachment_scores(test, [parsed])[0]
        scores[f"{decode}_seconds"] = time.process_time() - began
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        parser.save(path)
        size = path.stat().st_size
        whole = math.inf
        for _ in range(3):
            began = time.process_time()
            sentences = read_conllu(data / f"{row.test}.conllu.gz")
            write_conllu(parser.parse_all(sentences), Path(folder) / "out")
            whole = min(whole, time.process_time() - began)
    return {
        "name": row.name,
        "shape": "projective" if parser.inference.projective else "non-projective",
        "sentences": len(train),
        "uas": scores["mbr"].uas,
        "map_uas": scores["map"].uas,
        "las": scores["mbr"].las,
        "las_no_subtypes": scores["mbr"].las_no_subtypes,
        "epoch_rate": len(train) * len(report.epochs) / sum(record.seconds for record in report.epochs),
        "train_seconds": trained - start,
        "parse_rate": len(test) / whole,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "model_megabytes": size / 1e6,
    }


def report(results: list[dict[str, object]]) -> str:
    """Format the results as Markdown."""
    by_name = {row.name: row for row in ROWS}
    lines = [
        "# First-order parsing",
        "",
        f"Made by `scripts/experiments/parsing/first_order.py` on {platform.machine()}, Python {platform.python_version()}, one",
        "core. All tokens count, punctuation included; tags, lemmas and features are gold. Decoding is minimum",
        "Bayes risk, the most probable tree beside it. Settings are the defaults; they were chosen on the dev",
        "files of English-EWT, Hungarian, Greek and Turkish, never on a test file. The peers' figures come with",
        "the data; peers use neither lemmas nor features.",
        "",
        "| treebank | trees | sentences | UAS | MAP | LAS | LAS, no subtypes | to reach | peers |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for result in results:
        row = by_name[str(result["name"])]
        lines.append(
            f"| {row.name} | {result['shape']} | {result['sentences']} | {result['uas']:.2f} "
            f"| {result['map_uas']:.2f} | {result['las']:.2f} | {result['las_no_subtypes']:.2f} "
            f"| {row.bar} | {row.peers} |"
        )
    lines += [
        "",
        "Seconds are processor time. *Epoch* is training of the arcs, sentences a second in each pass; *parse* is",
        "reading, scoring, decoding, labelling and writing CoNLL-U, best of three runs; memory is the peak of the whole process.",
        "",
        "| treebank | trees | epoch, sentences/s | whole training, s | parse, sentences/s | peak MB | model MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for result in results:
        lines.append(
            f"| {result['name']} | {result['shape']} | {result['epoch_rate']:.0f} | {result['train_seconds']:.1f} "
            f"| {result['parse_rate']:.0f} | {result['megabytes']:.0f} | {result['model_megabytes']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure each row in a child process, write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", nargs="*", help="names of the rows to measure (default: all); prints only")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    data = Path(os.environ["QSPROJ_DATA"]) / "treebanks"
    rows = {row.name: row for row in ROWS}
    if options.child:
        print(json.dumps(measure(rows[options.child], data)))
        return
    results = []
    for name in options.rows or rows:
        command = [sys.executable, "-m", "scripts.experiments.parsing.first_order", "--child", name]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        results.append(json.loads(done.stdout))
        print(json.dumps(results[-1]), file=sys.stderr)
    text = report(results)
    print(text)
    if not options.rows:
        REPORT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
