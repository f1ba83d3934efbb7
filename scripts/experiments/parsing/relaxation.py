"""Relaxation: how few factors give the parses of the full graph (thesis 5.6).

Parsers are trained on full graphs; only parsing is relaxed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np

from qsproj.conventions import Heads
from qsproj.corpus.editing import with_heads
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.significance import exact_paired_test
from qsproj.models.graph.graph_parser import ArcBeliefs, GraphParser
from qsproj.models.graph.graph_training import train_graph_parser
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.pages.parsing import relaxation
from scripts.experiments.parsing.treebank_rows import SEED, differences, right_heads

DOUBTS = (0.0, 0.01, 0.03, 0.1)
# First-order pruning as by default, and next to none; unpruned graphs of long sentences have a million factors.
PRUNED, UNPRUNED = 3e-3, 1e-7
MANY_FACTORS = 10_000_000
FILES = {
    "danish": ("danish-ddt-dev", "danish-ddt-test"),
    "english": ("english-ewt-train", "english-ewt-dev", "english-ewt-test"),
}


@dataclass(frozen=True)
class Setting:
    """How one file was parsed, what came of it, and what it took."""

    doubt: float
    right: list[int]
    differing: int
    factors: int
    milliseconds: float


@dataclass(frozen=True)
class Result:
    """One file parsed in all settings; the first is the full graph."""

    sentences: int
    words: int
    settings: list[Setting]


def measure(parser: GraphParser, sentences: list[Sentence], threshold: float) -> Result:
    """Parse a file with the full graph and with relaxed ones."""
    settings: list[Setting] = []
    full: list[Sentence] = []
    for doubt in DOUBTS:
        options = replace(parser.options, doubt=doubt, threshold=threshold, max_factors=MANY_FACTORS)
        relaxed = replace(parser, options=options)
        relaxed.arc_beliefs(sentences[0])
        start = time.process_time()
        believed = [relaxed.arc_beliefs(sentence) for sentence in sentences]
        parsed = [with_heads(s, decode(relaxed, b)) for s, b in zip(sentences, believed, strict=True)]
        seconds = time.process_time() - start
        full = full or parsed
        settings.append(
            Setting(
                doubt=doubt,
                right=right_heads(sentences, parsed),
                differing=sum(int(np.count_nonzero(a.heads != b.heads)) for a, b in zip(full, parsed)),
                factors=sum(beliefs.n_factors for beliefs in believed),
                milliseconds=1000 * seconds / len(sentences),
            )
        )
    return Result(len(sentences), sum(map(len, sentences)), settings)


def decode(parser: GraphParser, beliefs: ArcBeliefs) -> Heads:
    """Return the tree of minimum Bayes risk."""
    chances = beliefs.probabilities
    return parser.inference.best(np.where(chances > 0.0, chances, -np.inf))


def danish(lab: Lab) -> Iterator[tuple[str, Result]]:
    """Train on four fifths of dev; yield how the last fifth and the test file are parsed."""
    dev, test = (lab.treebank(name) for name in FILES["danish"])
    train = [sentence for place, sentence in enumerate(dev) if place % 5]
    parser, _ = train_graph_parser(train, rng=np.random.default_rng(SEED))
    yield "danish dev", measure(parser, dev[::5], PRUNED)
    yield "danish test", measure(parser, test, PRUNED)
    yield "danish test, next to no pruning", measure(parser, test, UNPRUNED)


def english(lab: Lab) -> Iterator[tuple[str, Result]]:
    """Train on a twelfth; yield how dev and test files are parsed."""
    train, dev, test = (lab.treebank(name) for name in FILES["english"])
    parser, _ = train_graph_parser(train[::12], rng=np.random.default_rng(SEED))
    yield "english dev", measure(parser, dev, PRUNED)
    yield "english test", measure(parser, test, PRUNED)


MEASURES = {"danish": danish, "english": english}


def results_of(lab: Lab, measure_all: Callable[[Lab], Iterator[tuple[str, Result]]]) -> dict[str, object]:
    """Return the results of a language as JSON takes them."""
    return {name: asdict(result) for name, result in measure_all(lab)}


def table_of(result: Result) -> Table:
    """Show one file."""
    full = result.settings[0]
    rows = []
    for one in result.settings:
        more = differences(one.right, full.right)
        rows.append(
            [
                f"{one.doubt:g}",
                f"{100 * sum(one.right) / result.words:.2f}",
                f"{100 * more.sum() / result.words:+.2f}",
                f"{exact_paired_test(more):.2g}",
                f"{100 * one.differing / result.words:.2f}",
                f"{one.factors / result.sentences:.0f}",
                f"{100 * one.factors / full.factors:.1f}",
                f"{one.milliseconds:.2f}",
            ]
        )
    return table(["doubt", "UAS", "against full", "p", "other heads %", "factors", "share %", "ms"], rows)


def run(lab: Lab) -> Figures:
    results: dict[str, Result] = {}
    for language, measure_all in MEASURES.items():
        found = lab.cache.figures(
            f"relaxation {language}",
            partial(results_of, lab, measure_all),
            data=[lab.treebank_path(name) for name in FILES[language]],
        )
        for name, kept in found.items():
            settings = [Setting(**setting) for setting in kept["settings"]]
            results[name] = Result(kept["sentences"], kept["words"], settings)
    return Figures(
        tables={name: table_of(result) for name, result in results.items()},
        values={f"{name}: sentences": f"{result.sentences}" for name, result in results.items()},
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="relaxation", reading=relaxation)

if __name__ == "__main__":
    EXPERIMENT.main()
