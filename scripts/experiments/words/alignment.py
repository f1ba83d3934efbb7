"""Compare the built-in aligner and eflomal on hand-aligned sentences.

Both aligners get the same input: the tokenised bitext, followed by the hand-aligned pairs. Each run is a separate process,
to measure its processor time and peak memory. Settings were chosen on the sets marked dev; the others were used only for
the table.
"""

from __future__ import annotations

import argparse
import lzma
import os
import resource
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.alignment.aligners import (
    SYMMETRIZATIONS,
    align_words,
    directed_links,
    eflomal_links,
    link_weights,
)
from qsproj.alignment.hmm import train_hmm
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.sentence import Alignment, make_alignment
from qsproj.corpus.text import tokenize
from qsproj.evaluation.alignment import alignment_scores
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.process import in_own_process
from scripts.experiments.harness.tables import Table, table

DEFAULT = "threshold 0.5"
METHODS = ("hmm", "eflomal")
THRESHOLDS = (0.3, 0.4, 0.5, 0.6)
FIRST_CALL = [(("a", "b"), ("x", "y"))]

Pairs = list[tuple[list[str], list[str]]]
# bool[source words, target words].
Links = NDArray[np.bool_]


@dataclass(frozen=True)
class GoldSet:
    """A hand-aligned set: its language besides English, whether settings were chosen on it, its files."""

    language: str
    development: bool
    sentences: str
    links: str
    format: str

    @property
    def purpose(self) -> str:
        return "settings were chosen on it" if self.development else "test: nothing was chosen on it"


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
    """Return the hand-aligned sentences, English first, with unchanged tokens."""
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


def measure(data: Path, name: str, method: str) -> dict[str, Any]:
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
        last = islice(train_hmm(pairs), len(pairs) - len(test), None)
        tables = [(pair.forward, pair.backward) for pair in last]
        directed = [(directed_links(one), directed_links(other.T).T) for one, other in tables]
        weights = [link_weights(*table) for table in tables]
    else:
        found = list(eflomal_links(pairs))[-len(test) :]
        directed = [(pair.forward > 0, pair.backward > 0) for pair in found]
        weights = []
    usage = resource.getrusage(who)
    candidates: dict[str, list[Links]] = {
        "forward": [one for one, _ in directed],
        "backward": [other for _, other in directed],
    }
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


def scores(gold: list[Alignment], tables: list[Links]) -> tuple[float, float, float]:
    """Return AER, precision and recall."""
    found = [make_alignment(one.shape[0], one.shape[1], np.argwhere(one) + 1) for one in tables]
    result = alignment_scores(gold, found)
    return result.error_rate, result.precision, result.recall


def figures_table(results: dict[str, dict[str, Any]]) -> Table:
    """Show every set under every symmetrisation."""
    rows = []
    for name, methods in results.items():
        for label in dict.fromkeys(label for found in methods.values() for label in found["scores"]):
            for method, found in methods.items():
                if label in found["scores"]:
                    rows.append([name, label, method, *(f"{value:.1f}" for value in found["scores"][label])])
    return table(["hand-aligned set", "symmetrisation", "aligner", "AER", "precision", "recall"], rows)


def against_table(results: dict[str, dict[str, Any]]) -> Table:
    """Return the table of the built-in aligner with its defaults and eflomal with its best symmetrisation on the set."""
    rows = []
    for name, methods in results.items():
        ours, theirs = methods["hmm"]["scores"][DEFAULT], min(methods["eflomal"]["scores"].values())
        shown = [f"{rate:.1f} ({precision:.1f}, {recall:.1f})" for rate, precision, recall in (ours, theirs)]
        rows.append([f"{name} ({SETS[name].purpose})", f"{methods['hmm']['pairs']:,}", *shown])
    return table(["hand-aligned set", "pairs trained on", *METHODS], rows)


def cost_table(results: dict[str, dict[str, Any]]) -> Table:
    rows = [
        [name, method, f"{found['seconds']:.0f}", f"{found['megabytes']:,.0f}"]
        for name, methods in results.items()
        for method, found in methods.items()
    ]
    return table(["hand-aligned set", "aligner", "processor time, s", "peak memory, MB"], rows)


def run(lab: Lab) -> Figures:
    if lab.options.eflomal:
        os.environ["PATH"] = os.pathsep.join([lab.options.eflomal, os.environ["PATH"]])
    results: dict[str, dict[str, Any]] = {}
    for name in lab.options.sets:
        gold = SETS[name]
        files = [path for path in (lab.data / gold.sentences, lab.data / gold.links) if path.exists()]
        for method in METHODS:
            results.setdefault(name, {})[method] = lab.cache.figures(
                f"alignment {name} {method}",
                partial(in_own_process, measure, lab.data, name, method),
                options={"set": name, "method": method},
                data=[*files, lab.bitext_path(gold.language)],
            )
    return Figures(
        tables={
            "against eflomal": against_table(results),
            "cost": cost_table(results),
            "symmetrisations": figures_table(results),
        }
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sets", nargs="+", choices=tuple(SETS), default=list(SETS), help="default: all")
    parser.add_argument("--eflomal", metavar="FOLDER", help="folder of eflomal-align, if it is not on PATH")


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, add_arguments=add_arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
