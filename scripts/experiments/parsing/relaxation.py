"""Relaxation: how few factors give the parses of the full graph (thesis 5.6; Riedel and Smith 2010).

Parsers are trained on full graphs; only parsing is relaxed, by the gain of factors.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import exact_paired_test
from qsproj.features.second_order import LARGEST_COUNT
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.graph.graph_parser import GraphParser
from qsproj.models.graph.graph_training import train_graph_parser
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.parsing.search_error import joined
from scripts.experiments.parsing.treebank_rows import SEED, differences, right_heads

GAINS = (0.0, 1e-4, 1e-3, 1e-2, 1e-1)
FIRST_ORDER = "first order"
LENGTHS = (10, 20, 50, 100)
TEXTS = 20
# Factors are counted in one sentence of so many.
COUNTED = 5
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

    name: str
    right: list[int]
    differing: int
    factors: int
    milliseconds: float


@dataclass(frozen=True)
class Result:
    """One file parsed in all settings; the first is the full graph, the last the first order.

    ``factors`` of the settings, and ``all_factors``, of graphs over all arcs: of one sentence in COUNTED.
    """

    sentences: int
    words: int
    all_factors: int
    settings: list[Setting]


def factors_of(n: int) -> int:
    """Return how many factors GRAND, CHILDSEQ and VALENCE have over all arcs between n words."""
    chains: list[int] = [n, *range(1, n), *range(1, n)]
    steps = sum((m + 1) * (m + 2) // 2 for m in chains)
    pairs = n * (n - 1) * (n - 1)
    return pairs + steps + (LARGEST_COUNT + 1) * len(chains)


def relaxed(parser: GraphParser, gain: float, threshold: float = PRUNED) -> GraphParser:
    return replace(
        parser,
        options=replace(parser.options, gain=gain, threshold=threshold, max_factors=MANY_FACTORS),
    )


def timed(parser: ArcParser | GraphParser, sentences: list[Sentence]) -> tuple[list[Sentence], float]:
    """Parse; return the trees, and the milliseconds of processor time of a sentence."""
    parser.parse(sentences[0])
    start = time.process_time()
    parsed = list(parser.parse_all(sentences))
    return parsed, 1000 * (time.process_time() - start) / len(sentences)


def measure(parser: GraphParser, sentences: list[Sentence], threshold: float) -> Result:
    """Parse a file with the full graph, with relaxed ones, and in first order."""
    settings: list[Setting] = []
    full: list[Sentence] = []
    ways: list[ArcParser | GraphParser] = [relaxed(parser, gain, threshold) for gain in GAINS]
    for name, way in zip([*map("{:g}".format, GAINS), FIRST_ORDER], [*ways, parser.base], strict=True):
        parsed, milliseconds = timed(way, sentences)
        full = full or parsed
        factors = 0
        if isinstance(way, GraphParser):
            factors = sum(way.arc_beliefs(sentence).n_factors for sentence in sentences[::COUNTED])
        differing = sum(int(np.count_nonzero(a.heads != b.heads)) for a, b in zip(full, parsed))
        settings.append(Setting(name, right_heads(sentences, parsed), differing, factors, milliseconds))
    lengths = list(map(len, sentences))
    return Result(len(sentences), sum(lengths), sum(map(factors_of, lengths[::COUNTED])), settings)


def by_length(parser: GraphParser, sentences: list[Sentence]) -> dict[str, dict[str, float]]:
    """Return milliseconds of texts of so many words, sentences joined and cut, by way and length."""
    ways = {f"{gain:g}": relaxed(parser, gain) for gain in GAINS} | {FIRST_ORDER: parser.base}
    found: dict[str, dict[str, float]] = {}
    for length in LENGTHS:
        texts = [joined(sentences, start, length) for start in range(TEXTS)]
        for name, way in ways.items():
            found.setdefault(name, {})[f"{length}"] = timed(way, texts)[1]
    return found


def danish(lab: Lab) -> dict[str, Any]:
    """Train on four fifths of dev; return how the last fifth and the test file are parsed."""
    dev, test = (lab.treebank(name) for name in FILES["danish"])
    train = [sentence for place, sentence in enumerate(dev) if place % 5]
    parser, _ = train_graph_parser(train, rng=np.random.default_rng(SEED))
    return {
        "danish dev": asdict(measure(parser, dev[::5], PRUNED)),
        "danish test": asdict(measure(parser, test, PRUNED)),
        "danish test, next to no pruning": asdict(measure(parser, test, UNPRUNED)),
    }


def english(lab: Lab) -> dict[str, Any]:
    """Train on a twelfth; return how dev and test files are parsed, and texts of several lengths."""
    train, dev, test = (lab.treebank(name) for name in FILES["english"])
    parser, _ = train_graph_parser(train[::12], rng=np.random.default_rng(SEED))
    return {
        "english dev": asdict(measure(parser, dev, PRUNED)),
        "english test": asdict(measure(parser, test, PRUNED)),
        "length": by_length(parser, dev),
    }


MEASURES = {"danish": danish, "english": english}


def table_of(result: Result) -> Table:
    """Show one file."""
    full, first_order = result.settings[0], result.settings[-1]
    rows = []
    for one in result.settings:
        more = differences(one.right, full.right)
        rows.append(
            [
                one.name,
                f"{100 * sum(one.right) / result.words:.2f}",
                f"{100 * more.sum() / result.words:+.2f}",
                f"{exact_paired_test(more):.2g}",
                f"{100 * one.differing / result.words:.2f}",
                f"{COUNTED * one.factors / result.sentences:.0f}",
                f"{100 * one.factors / full.factors:.1f}",
                f"{100 * one.factors / result.all_factors:.2f}",
                f"{one.milliseconds:.2f}",
                f"{one.milliseconds / first_order.milliseconds:.1f}",
            ]
        )
    names = ["gain", "UAS", "against full", "p", "other heads %", "factors"]
    return table([*names, "share %", "of all %", "ms", "times first order"], rows)


def run(lab: Lab) -> Figures:
    tables: dict[str, Table] = {}
    values: dict[str, str] = {}
    for language, measure_all in MEASURES.items():
        found = lab.cache.figures(
            f"relaxation by gain {language}",
            partial(measure_all, lab),
            data=[lab.treebank_path(name) for name in FILES[language]],
        )
        lengths = found.pop("length", None)
        if lengths:
            rows = [
                [name, *(f"{of_one[f'{length}']:.2f}" for length in LENGTHS)]
                for name, of_one in lengths.items()
            ]
            tables["length"] = table(["gain", *(f"{length} words" for length in LENGTHS)], rows)
        for name, kept in found.items():
            settings = [Setting(**setting) for setting in kept["settings"]]
            result = Result(kept["sentences"], kept["words"], kept["all_factors"], settings)
            tables[name], values[f"{name}: sentences"] = table_of(result), f"{result.sentences}"
    return Figures(tables=tables, values=values)


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run)

if __name__ == "__main__":
    EXPERIMENT.main()
