"""Measure the built-in aligner and eflomal on hand-aligned sentences; write docs/alignment-figures.md.

    QSPROJ_DATA=... python -m scripts.experiments.words.alignment [--sets NAME...] [--eflomal PROGRAM_FOLDER]

Both aligners get the same input: the bitext, tokenised, with the hand-aligned pairs after it. Each run is a
process of its own, so that its processor time and peak memory are its own. Settings were chosen on the sets
marked dev; the others were looked at only to write the table.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import platform
import resource
import subprocess
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numba
import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.alignment.eflomal import eflomal_links
from qsproj.alignment.encoding import encode_bitext
from qsproj.alignment.hmm import train_hmm
from qsproj.alignment.symmetrize import SYMMETRIZATIONS, directed_links, link_weights
from qsproj.corpus.alignments import read_alignments
from qsproj.corpus.sentence import Alignment, make_alignment
from qsproj.corpus.text import tokenize
from qsproj.evaluation.alignment import alignment_scores

RESULT = Path(__file__).resolve().parents[3] / "docs" / "alignment-figures.md"
THRESHOLDS = (0.3, 0.4, 0.5, 0.6)
FIRST_CALL = [(("a", "b"), ("x", "y"))]

Pairs = list[tuple[list[str], list[str]]]


@dataclass(frozen=True)
class GoldSet:
    """A hand-aligned set: its language besides English, whether settings were chosen on it, its files."""

    language: str
    development: bool
    sentences: str
    links: str
    format: str


SETS = {
    "de-en": GoldSet("de", False, "alignments/de-en/test.de-en", "alignments/de-en/deen.orig.talp", "talp"),
    "naacl-sample": GoldSet(
        "de", True, "alignments/naacl-sample/test", "alignments/naacl-sample/de-en.ref.wa", "naacl-zero"
    ),
    "xl-wa-dev": GoldSet(
        "es", True, "alignments/en-es/xl-wa-dev.tsv", "alignments/en-es/xl-wa-dev.tsv", "tsv"
    ),
    "xl-wa-test": GoldSet(
        "es", False, "alignments/en-es/xl-wa-test.tsv", "alignments/en-es/xl-wa-test.tsv", "tsv"
    ),
}


def text_lines(path: Path) -> list[str]:
    """Return the lines of a file; unlike ``splitlines``, cut at line feeds alone."""
    with path.open(encoding="utf-8-sig", newline="\n") as lines:
        return [line.rstrip("\r\n") for line in lines]


def gold_pairs(data: Path, name: str) -> Pairs:
    """Return the hand-aligned sentences, English first, in tokens that are kept as they are."""
    gold = SETS[name]
    if name == "naacl-sample":
        sides = [text_lines(Path(f"{data / gold.sentences}.{side}")) for side in ("en", "de")]
        return [(english.split(), other.split()) for english, other in zip(*sides, strict=True)]
    lines = text_lines(data / gold.sentences)
    if name == "de-en":
        german_first = [line.split(" ||| ") for line in lines]
        return [(english.split(), german.split()) for german, english in german_first]
    return [(english.split(), other.split()) for english, other, *_ in (line.split("\t") for line in lines)]


def gold_links(data: Path, name: str, pairs: Pairs) -> list[Alignment]:
    """Return the hand alignment with English as the source."""
    gold = SETS[name]
    path = data / gold.links
    if gold.format == "tsv":
        return list(read_alignments(path, "tsv"))
    result = []
    for (english, other), alignment in zip(pairs, read_alignments(path, gold.format), strict=True):
        # One link of the NAACL sample reaches past its sentence; no aligner can find it.
        inside = (alignment.links <= (len(other), len(english))).all(axis=1)
        links, sure = alignment.links[inside, ::-1], alignment.sure[inside]
        result.append(make_alignment(len(english), len(other), links, sure=sure))
    return result


def bitext(data: Path, language: str) -> Pairs:
    """Return the bitext in tokens."""
    with lzma.open(data / "bitext" / f"en-{language}.tsv.xz", "rt", encoding="utf-8", newline="\n") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return [(tokenize(english, "en"), tokenize(other, language)) for english, other in rows]


def measure(data: Path, name: str, method: str) -> dict[str, object]:
    """Run one aligner on one set in this process; return scores by symmetrisation, time and memory."""
    test = gold_pairs(data, name)
    gold = gold_links(data, name, test)
    pairs = bitext(data, SETS[name].language) + test
    who = resource.RUSAGE_SELF if method == "hmm" else resource.RUSAGE_CHILDREN
    if method == "hmm":
        list(align_words(FIRST_CALL))
    before = resource.getrusage(who).ru_utime
    # Each candidate is a list of link tables; eflomal gives links, ours probabilities.
    if method == "hmm":
        tables = list(islice(train_hmm(encode_bitext(pairs)), len(pairs) - len(test), None))
        directed = [(directed_links(one), directed_links(other.T).T) for one, other in tables]
        weights = [link_weights(*table) for table in tables]
    else:
        directed = list(eflomal_links(pairs))[-len(test) :]
        weights = []
    usage = resource.getrusage(who)
    candidates = {"forward": [one for one, _ in directed], "backward": [other for _, other in directed]}
    for symmetrization, function in SYMMETRIZATIONS.items():
        candidates[symmetrization] = [function(*both) for both in directed]
    for threshold in THRESHOLDS if weights else ():
        candidates[f"threshold {threshold}"] = [table > threshold for table in weights]
    return {
        "scores": {label: scores(gold, links) for label, links in candidates.items()},
        "seconds": usage.ru_utime - before,
        "megabytes": usage.ru_maxrss / 1024,
        "pairs": len(pairs),
    }


def scores(gold: list[Alignment], tables: list[np.ndarray]) -> tuple[float, float, float]:
    """Return AER, precision and recall."""
    found = [make_alignment(*table.shape, np.argwhere(table) + 1) for table in tables]
    result = alignment_scores(gold, found)
    return result.error_rate, result.precision, result.recall


def report(results: dict[str, dict[str, dict[str, object]]]) -> str:
    """Lay the results out in Markdown."""
    lines = [
        "# Word alignment: figures",
        "",
        "Written by `scripts/experiments/words/alignment.py`; what they mean is in [alignment.md](alignment.md).",
        f"Python {platform.python_version()}, numba {numba.__version__}, {platform.machine()}. "
        "Times are processor seconds (user), compilation apart; memory is the peak of the process.",
    ]
    for name, methods in results.items():
        purpose = "settings were chosen on it" if SETS[name].development else "test: nothing was chosen on it"
        lines += ["", f"## {name} ({purpose})", ""]
        for method, result in methods.items():
            lines.append(
                f"- {method}: {result['pairs']:,} pairs, {result['seconds']:.0f} s, "
                f"{result['megabytes']:,.0f} MB"
            )
        lines += ["", "| symmetrisation | aligner | AER | precision | recall |", "|---|---|---|---|---|"]
        labels = dict.fromkeys(label for result in methods.values() for label in result["scores"])
        for label in labels:
            for method, result in methods.items():
                if label in result["scores"]:
                    row = " | ".join(f"{value:.1f}" for value in result["scores"][label])
                    lines.append(f"| {label} | {method} | {row} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=tuple(SETS), default=list(SETS), help="default: all")
    parser.add_argument("--eflomal", metavar="FOLDER", help="where eflomal-align is, if not on PATH")
    parser.add_argument("--one", nargs=2, metavar=("SET", "METHOD"), help="one run, JSON to standard output")
    options = parser.parse_args()
    data = Path(os.environ["QSPROJ_DATA"])
    if options.eflomal:
        os.environ["PATH"] = os.pathsep.join([options.eflomal, os.environ["PATH"]])
    if options.one:
        print(json.dumps(measure(data, *options.one)))
        return
    results: dict[str, dict[str, dict[str, object]]] = {}
    for name in options.sets:
        for method in ("hmm", "eflomal"):
            command = [sys.executable, "-m", "scripts.experiments.words.alignment", "--one", name, method]
            outcome = subprocess.run(command, stdout=subprocess.PIPE, check=True)
            results.setdefault(name, {})[method] = json.loads(outcome.stdout)
            print(name, method, results[name][method], file=sys.stderr)
        RESULT.write_text(report(results), encoding="utf-8")


if __name__ == "__main__":
    main()
