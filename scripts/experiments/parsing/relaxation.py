"""Measure how few factors give the parses of the full graph (relaxation; thesis 5.6, Riedel and Smith 2010).

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
from scripts.experiments.parsing.treebank_rows import SEED, differences, right_heads

GAINS = (0.0, 1e-4, 1e-3, 1e-2, 1e-1)
FIRST_ORDER = "first order"
# Factors are counted in one of this many sentences.
COUNTED = 5
# First-order pruning, as by default.
PRUNED = 3e-3
MANY_FACTORS = 10_000_000
FILES = ("english-ewt-train", "english-ewt-test")


@dataclass(frozen=True)
class Setting:
    """The settings, scores and time of one parse of a file."""

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


def relaxed(parser: GraphParser, gain: float) -> GraphParser:
    return replace(
        parser,
        options=replace(parser.options, gain=gain, threshold=PRUNED, max_factors=MANY_FACTORS),
    )


def timed(parser: ArcParser | GraphParser, sentences: list[Sentence]) -> tuple[list[Sentence], float]:
    """Parse; return the trees, and the milliseconds of processor time of a sentence."""
    parser.parse(sentences[0])
    start = time.process_time()
    parsed = list(parser.parse_all(sentences))
    return parsed, 1000 * (time.process_time() - start) / len(sentences)


def measure(parser: GraphParser, sentences: list[Sentence]) -> Result:
    """Parse a file with the full graph, with relaxed ones, and in first order."""
    settings: list[Setting] = []
    full: list[Sentence] = []
    ways: list[ArcParser | GraphParser] = [relaxed(parser, gain) for gain in GAINS]
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


def english(lab: Lab) -> dict[str, Any]:
    """Train on a twelfth; return how the test file is parsed."""
    train, test = (lab.treebank(name) for name in FILES)
    parser, _ = train_graph_parser(train[::12], rng=np.random.default_rng(SEED))
    return asdict(measure(parser, test))


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
    data = [lab.treebank_path(name) for name in FILES]
    kept = lab.cache.figures("relaxation by gain", partial(english, lab), data=data)
    settings = [Setting(**setting) for setting in kept.pop("settings")]
    return Figures(tables={"english test": table_of(Result(**kept, settings=settings))})


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run)

if __name__ == "__main__":
    EXPERIMENT.main()
