"""Measure how few factors give the parses of the full graph (relaxation; thesis 5.6, Riedel and Smith 2010).

Parsers are trained on full graphs; only parsing is relaxed, by the gain of factors.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from qsproj.bp.run import odds_of, probability
from qsproj.conventions import Floats, Heads
from qsproj.corpus.editing import with_heads
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import exact_paired_test
from qsproj.features.second_order import LARGEST_COUNT
from qsproj.models.constraints import candidate_arcs
from qsproj.models.graph import graph_factors
from qsproj.models.graph.graph_parser import CERTAIN, GraphParser, train_graph_parser
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.parsing.treebank_rows import SEED, differences, right_heads

GAINS = (0.0, 1e-4, 1e-3, 1e-2, 1e-1)
FIRST_ORDER = "first order"
# Factors are counted in one of this many sentences.
COUNTED = 5
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


def gains(chances: Floats, scores: Floats) -> Floats:
    """Return how far each factor alone would move the beliefs: float64[F], in nats.

    The divergence of the belief with the factor from that without (Riedel and Smith 2010).
    """
    with np.errstate(divide="ignore"):
        fired, missed = np.log(chances) + scores, np.log1p(-np.minimum(chances, 1.0))
    log_z = np.logaddexp(fired, missed)
    return np.exp(fired - log_z) * scores - log_z


def by_gain(
    graph: graph_factors.SentenceGraph, chances: Floats, scores: Sequence[Floats], *, least: float
) -> list[Floats]:
    """Return the scores of each family, with 0 for factors of a gain below ``least``, which removes them.

    ``chances`` float64[E]: of the arcs; gains are computed as if arcs, but not chains, were independent.
    """
    log_odds = odds_of(chances)
    kept = []
    for family, values in zip(graph.families, scores, strict=True):
        fired = family.expected(family.group, log_odds[family.group.edges])
        kept.append(np.where(gains(fired, values) >= least, values, 0.0))
    return kept


def relaxed(parser: GraphParser, sentence: Sentence, gain: float) -> tuple[Heads, int]:
    """Parse with the factors of at least a gain; return the tree int32[n+1] and the number of these factors."""
    base, inference, encoded = parser.base, parser.inference, parser.base.encode(sentence)
    features = base.scorer.features(encoded)
    marginals = inference.infer(base.scorer.scores(features))[1]
    candidates = candidate_arcs(marginals, inference, threshold=parser.options.threshold)
    graph = parser.options.layout(candidates, inference)
    scores = parser.factors.scores(parser.factors.features(encoded, graph.families))
    if gain > 0.0:
        scores = by_gain(graph, marginals[graph.heads, graph.dependents], scores, least=gain)
    links = parser.links.scores_of(features, graph.heads, graph.dependents)
    beliefs = graph_factors.propagate(graph, links, scores, iterations=parser.options.iterations)
    log_odds = np.clip(graph_factors.arc_log_odds(beliefs), -CERTAIN, CERTAIN)
    chances = np.zeros_like(marginals)
    chances[graph.heads, graph.dependents] = probability(log_odds)
    return inference.most_right(chances), sum(int(np.count_nonzero(values)) for values in scores)


def first_order(parser: GraphParser, sentence: Sentence) -> tuple[Heads, int]:
    return parser.base.heads(parser.base.scores(sentence)), 0


def measure(parser: GraphParser, sentences: list[Sentence]) -> Result:
    """Parse a file with the full graph, with relaxed ones, and in first order."""
    settings: list[Setting] = []
    full: list[Heads] = []
    ways = {f"{gain:g}": partial(relaxed, gain=gain) for gain in GAINS} | {FIRST_ORDER: first_order}
    for name, way in ways.items():
        way(parser, sentences[0])
        start = time.process_time()
        trees, counts = zip(*(way(parser, sentence) for sentence in sentences), strict=True)
        milliseconds = 1000 * (time.process_time() - start) / len(sentences)
        full = full or list(trees)
        differing = sum(int(np.count_nonzero(a != b)) for a, b in zip(full, trees))
        parsed = list(map(with_heads, sentences, trees))
        right = right_heads(sentences, parsed)
        settings.append(Setting(name, right, differing, sum(counts[::COUNTED]), milliseconds))
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
