"""Measure belief propagation against exact inference (thesis figures 2.7-2.9). Writes docs/search-error.md.

    QSPROJ_DATA=../shared/data python -m scripts.experiments.parsing.search_error [--model PARSER] [--every N]

Graphs are those of English-EWT test: LINK scores of a first-order parser, GRAND and CHILDSEQ scores estimated
from the trees of English-EWT train by counting. With --every only one test sentence in N is taken, and the
report goes to standard output.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit

import qsproj
from qsproj.bp.beliefs import Beliefs, log_odds
from qsproj.bp.factors.child_sequence import child_sequence, step_table
from qsproj.bp.factors.link import link
from qsproj.bp.factors.pair import pair
from qsproj.bp.factors.tree import projective_tree
from qsproj.bp.graph import FactorGraph, factor_graph
from qsproj.bp.links import Table, arcs_of, chosen_links, dependent_chains, grandparents
from qsproj.bp.run import run
from qsproj.bp.status import Status
from qsproj.conventions import NO_HEAD, Heads, Scores, frozen_heads
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import TrainingOptions, train_arc_parser
from qsproj.trees import projective, second_order
from qsproj.trees.second_order_scores import SecondOrderScores
from qsproj.viz.markup import svg_document
from qsproj.viz.plots import Axis, Series, line_plot
from scripts.experiments.parsing.second_order_counts import CountModel, count_model, model_scores

CHECKOUT = Path(__file__).resolve().parents[3]
REPORT = CHECKOUT / "docs" / "search-error.md"
# One training sentence in so many teaches the parser; all of them are counted.
EVERY = 4
FLOODING = (1, 2, 3, 5, 10)
RUNS = (*(("flooding", limit) for limit in FLOODING), ("sequential", 5), ("sequential", 10))
MODELS = ("GRAND", "GRAND + CHILDSEQ", "GRAND + CHILDSEQ, pruned")
# Pruned graphs have no arc whose first-order probability is less, unless it is in the best tree.
LEAST_PROBABILITY = 3e-3
BINS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, 60), (61, 100))
SLOPE_FROM = 20
LONG = (20, 40, 80, 120)
COLUMNS = ("forms", "lemmas", "upos", "xpos", "feats", "deprels")
# Lengths that a point of a plot takes together.
WIDTH = 5
ERRORS = "search-error-by-iteration.svg"
READING = """\
## Reading it

The share of other heads is the search error of the thesis, which it gives after ten iterations as a mean over
sentences: 0.4% with GRAND, 2.4% with CHILDSEQ too. The expected accuracy lost is a fraction of it, as most of
these words have two heads that are about as likely; the exact best tree is further from exact MBR than what
belief propagation finds. After one flooding iteration the factors have not heard of each other; five iterations
of the sequential schedule, in which LINK speaks first, are about as good as ten. Trees stop changing long
before messages have settled.

Time is where these figures differ from the thesis. There, exact inference with CHILDSEQ beside GRAND took
O(n^5), and lost to belief propagation at every length. It can be done in O(n^4)
([how](notes/second-order-inference.md)), with products of matrices and vectors in probability space, and
without pruning that is faster than ten iterations up to some 80 words. In pruned graphs, as a parser builds
them, an iteration costs little more than the number of words, and belief propagation is faster from some 30
words on; below, exact inference is. Only belief propagation takes trees that are not projective and factors
that no chart holds: VALENCE, NOCROSS, tags, a second tree.

Scores that were learnt through inference are stronger than these, and loops then matter more: see
[search-error-learned.md](search-error-learned.md).
"""


def graph_of(scores: SecondOrderScores, *, siblings: bool, single_root: bool) -> tuple[FactorGraph, Table]:
    """Return PTREE + LINK + GRAND (+ CHILDSEQ) over the arcs that are allowed, and the boolean of each."""
    links = chosen_links(scores.arcs > -np.inf)
    heads, dependents, variables = arcs_of(links)
    pairs, words = grandparents(links)
    assert scores.grandparents is not None
    groups = [
        link(variables, scores.arcs[heads, dependents]),
        pair(pairs, scores.grandparents[tuple(words.T)]),
    ]
    if siblings:
        chains = dependent_chains(links)
        chain, previous, following, is_read = step_table(chains.starts).T
        inside = np.append(chains.dependents, 0)
        start, length = chains.starts[chain], np.diff(chains.starts)[chain]
        head, last = chains.heads[chain], inside[chains.starts[chain] + previous - 1]
        after = inside[np.minimum(start + following - 1, len(inside) - 1)]
        end = np.where(previous > 0, scores.stops[head, last], scores.childless[head, chains.sides[chain]])
        step = scores.siblings[head, after, np.where(previous > 0, last, head)]
        values = np.where(following > length, end, step) * is_read
        groups.append(child_sequence(chains.variables, chains.starts, values))
    groups.append(projective_tree(links, single_root=single_root))
    return factor_graph(np.full(variables.size, 2), groups), links


@dataclass(frozen=True)
class Outcome:
    """One way to parse one sentence: seconds, heads unlike the exact ones, expected right heads lost, right heads."""

    seconds: float
    differing: int
    lost: float
    right: int
    iterations: int = 0
    converged: bool = True


@dataclass(frozen=True)
class Measured:
    """One sentence under one model; ``outcomes`` by the name of the way to parse."""

    words: int
    build_seconds: float
    outcomes: dict[str, Outcome]


def measure(
    sentence: Sentence,
    parser: ArcParser,
    counted: CountModel,
    model: str,
    runs: Sequence[tuple[str, int]] = RUNS,
) -> Measured:
    """Parse one sentence exactly, and by belief propagation in each of ``runs``."""
    single_root = parser.inference.single_root
    arcs = parser.scores(sentence)
    if "pruned" in model:
        arcs = pruned(arcs, parser)
    scores = model_scores(sentence, arcs, counted, siblings="CHILDSEQ" in model)
    return compare(
        sentence,
        scores,
        parser.heads(arcs),
        siblings="CHILDSEQ" in model,
        single_root=single_root,
        runs=runs,
    )


def compare(
    sentence: Sentence,
    scores: SecondOrderScores,
    first_order: Heads,
    *,
    siblings: bool,
    single_root: bool,
    runs: Sequence[tuple[str, int]] = RUNS,
) -> Measured:
    """Parse one sentence with given scores, exactly and by belief propagation; ``first_order`` is a tree."""
    began = time.process_time()
    marginals = second_order.posterior(scores, single_root=single_root).marginals
    heads, most = projective.best(marginals, single_root=single_root)
    words, exact_seconds = np.arange(1, heads.size), time.process_time() - began

    def outcome(found: Heads, seconds: float, iterations: int = 0, converged: bool = True) -> Outcome:
        lost = abs(most - float(marginals[found[1:], words].sum()))
        differing = int(np.count_nonzero(found != heads))
        right = int(np.count_nonzero(found[1:] == sentence.heads[1:]))
        return Outcome(seconds, differing, lost, right, iterations, converged)

    outcomes = {"exact": outcome(heads, exact_seconds), "first order": outcome(first_order, 0.0)}
    began = time.process_time()
    best, _ = second_order.best(scores, single_root=single_root)
    outcomes["best"] = outcome(best, time.process_time() - began)
    began = time.process_time()
    graph, links = graph_of(scores, siblings=siblings, single_root=single_root)
    build_seconds = time.process_time() - began
    for schedule, limit in runs:
        began = time.process_time()
        beliefs = run(graph, schedule=schedule, max_iterations=limit)
        found = decode(beliefs, links, single_root=single_root)
        seconds = time.process_time() - began
        settled = beliefs.status is Status.CONVERGED
        outcomes[f"{schedule} {limit}"] = outcome(found, seconds, len(beliefs.residuals), settled)
    return Measured(len(sentence), build_seconds, outcomes)


def pruned(arcs: Scores, parser: ArcParser) -> Scores:
    """Forbid the arcs that are improbable under the first-order model."""
    _, marginals = parser.inference.infer(arcs)
    kept = marginals >= LEAST_PROBABILITY
    heads = parser.inference.best(marginals)
    kept[heads[1:], np.arange(1, heads.size)] = True
    return np.where(kept, arcs, -np.inf)


def decode(beliefs: Beliefs, links: Table, *, single_root: bool) -> Heads:
    """Return the tree of the greatest sum of beliefs."""
    values = np.full(links.shape, -np.inf)
    values[links >= 0] = expit(log_odds(beliefs, links[links >= 0]))
    return projective.best(values, single_root=single_root)[0]


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]


WAYS = {
    "first order": "first order, MBR",
    "best": "exact, best tree",
    "exact": "exact, MBR",
    **{f"{schedule} {limit}": f"BP, {schedule}, {limit}" for schedule, limit in RUNS},
}


def ways_table(measured: Sequence[Measured]) -> list[str]:
    """Say for each way to parse how far it is from the exact one, and what it costs."""
    words = sum(one.words for one in measured)
    header = ["way to parse", "other heads %", "by sentence %", "accuracy lost %", "UAS", "settled %", "ms"]
    rows = []
    for way, name in WAYS.items():
        outcomes = [one.outcomes[way] for one in measured]
        by_sentence = sum(outcome.differing / one.words for outcome, one in zip(outcomes, measured))
        ran = way.split()[0] in ("flooding", "sequential")
        rows.append(
            [
                name,
                percent(sum(outcome.differing for outcome in outcomes), words),
                percent(by_sentence, len(measured)),
                f"{100 * sum(outcome.lost for outcome in outcomes) / words:.3f}",
                percent(sum(outcome.right for outcome in outcomes), words),
                f"{100 * sum(o.converged for o in outcomes) / len(outcomes):.1f}" if ran else "",
                "" if way == "first order" else f"{mean_ms(outcomes):.2f}",
            ]
        )
    return table(header, rows)


def mean_ms(outcomes: Sequence[Outcome]) -> float:
    return 1000 * statistics.fmean(outcome.seconds for outcome in outcomes)


def lengths_table(measured: Sequence[Measured]) -> list[str]:
    """Say how time and search error grow with the sentence."""
    ways = ("best", "exact", "flooding 5", "flooding 10")
    header = ["words", "sentences", *(f"{WAYS[way]}, ms" for way in ways), "graph, ms"]
    header += [f"other heads after {limit}, %" for limit in (5, 10)]
    rows = []
    for low, high in BINS:
        chosen = [one for one in measured if low <= one.words <= high]
        if not chosen:
            continue
        words = sum(one.words for one in chosen)
        row = [f"{low}-{high}", str(len(chosen))]
        row += [f"{mean_ms([one.outcomes[way] for one in chosen]):.2f}" for way in ways]
        row.append(f"{1000 * statistics.fmean(one.build_seconds for one in chosen):.2f}")
        for way in ways[2:]:
            row.append(percent(sum(one.outcomes[way].differing for one in chosen), words))
        rows.append(row)
    return table(header, rows)


def joined(sentences: Sequence[Sentence], start: int, length: int) -> Sentence:
    """Return the words of successive sentences as one sentence of a given length; its heads mean nothing."""
    columns: list[list[str]] = [[], [], [], [], [], []]
    while len(columns[0]) < length:
        sentence = sentences[start % len(sentences)]
        for column, more in zip(columns, (getattr(sentence, name) for name in COLUMNS)):
            column.extend(more)
        start += 1
    heads = frozen_heads([NO_HEAD] * (length + 1))
    return Sentence(None, *(tuple(column[:length]) for column in columns), heads)


def long_table(
    sentences: Sequence[Sentence], parser: ArcParser, counted: CountModel, model: str
) -> list[str]:
    """Time texts longer than sentences are."""
    header = ["words", *(f"{WAYS[way]}, ms" for way in ("best", "exact", "flooding 10"))]
    rows: list[list[str]] = []
    for length in LONG:
        texts = [joined(sentences, place, length) for place in (0, 100)]
        measured = [measure(text, parser, counted, model, runs=[("flooding", 10)]) for text in texts]
        times = [mean_ms([one.outcomes[way] for one in measured]) for way in ("best", "exact", "flooding 10")]
        rows.append([str(length), *(f"{value:.1f}" for value in times)])
    return table(header, rows)


def slope(measured: Sequence[Measured], way: str) -> float:
    """Return the slope of the log of seconds (for BP: of an iteration) over the log of words, in long sentences."""
    chosen = [one for one in measured if one.words >= SLOPE_FROM]
    seconds = [one.outcomes[way].seconds / max(one.outcomes[way].iterations, 1) for one in chosen]
    return float(np.polyfit(np.log([one.words for one in chosen]), np.log(seconds), 1)[0])


def time_plot(measured: Sequence[Measured], model: str) -> str:
    """Draw milliseconds over words (thesis figures 2.7 and 2.8)."""
    series = []
    for way in ("best", "exact", "flooding 5", "flooding 10"):
        by_length: dict[int, list[Outcome]] = {}
        for one in measured:
            by_length.setdefault(WIDTH * round(one.words / WIDTH), []).append(one.outcomes[way])
        lengths = sorted(length for length in by_length if length > 0)
        series.append(Series(WAYS[way], lengths, [mean_ms(by_length[length]) for length in lengths]))
    axes = {"x": Axis("words"), "y": Axis("milliseconds", logarithmic=True)}
    return svg_document([line_plot(series, title=f"Time to parse with {model}", **axes)])


def error_plot(results: dict[str, list[Measured]]) -> str:
    """Draw search error over milliseconds, iteration after iteration (thesis figure 2.9)."""
    series = []
    for model, measured in results.items():
        words = sum(one.words for one in measured)
        outcomes = [[one.outcomes[f"flooding {limit}"] for one in measured] for limit in FLOODING]
        errors = [100 * sum(outcome.differing for outcome in each) / words for each in outcomes]
        series.append(Series(model, [mean_ms(each) for each in outcomes], errors, list(map(str, FLOODING))))
    axes = {"x": Axis("milliseconds a sentence"), "y": Axis("heads unlike exact MBR, %", logarithmic=True)}
    return svg_document([line_plot(series, title="Search error after so many iterations", **axes)])


def report(results: dict[str, list[Measured]], long: dict[str, list[str]], training: str) -> str:
    """Format the results as Markdown."""
    some = next(iter(results.values()))
    lines = [
        "# Search error of belief propagation",
        "",
        f"Made by `scripts/experiments/parsing/search_error.py` on {platform.machine()}, one core, Python "
        f"{platform.python_version()}; {len(some)} sentences of English-EWT test, {sum(one.words for one in some)} "
        "words. The graphs hold PTREE (one root), LINK, GRAND and, where it says so, CHILDSEQ over all arcs; pruned ones "
        f"leave out arcs of a first-order probability below {LEAST_PROBABILITY}. LINK scores are those of a first-order parser ({training}); scores of GRAND and CHILDSEQ are "
        "log-ratios of tag counts in the trees of English-EWT train (`scripts/experiments/parsing/parsing/second_order_counts.py`), weighted so that they help on dev.",
        "",
        "*Other heads*: share of words whose head differs from that in the exact minimum-Bayes-risk (MBR) tree, over "
        "all words and as a mean over sentences (the thesis's figure). *Accuracy lost*: expected right heads under "
        "the exact model that the exact MBR tree has more. *Settled*: sentences in which messages converged. "
        "Milliseconds of processor time are means over sentences, decoding included; laying out the graph is not, but "
        "stands in the tables by length.",
    ]
    for model, measured in results.items():
        iteration, exact = slope(measured, "flooding 10"), slope(measured, "exact")
        lines += [
            "",
            f"## {model}",
            "",
            *ways_table(measured),
            "",
            *lengths_table(measured),
            "",
            f"From {SLOPE_FROM} words on, an iteration takes time that grows as n^{iteration:.2f}, exact MBR as "
            f"n^{exact:.2f}. Successive sentences joined, two texts of each length:",
            "",
            *long[model],
            "",
            f"![time by length]({plot_name(model)})",
        ]
    return "\n".join([*lines, "", "## By iteration", "", f"![search error]({ERRORS})", "", READING])


def plot_name(model: str) -> str:
    return f"search-error-{'-'.join(re.findall('[a-z]+', model.lower()))}.svg"


def main() -> None:
    """Measure, print the report; over all sentences also write it, with its figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", help="first-order parser to take instead of training one")
    parser.add_argument("--every", type=int, default=1, help="take one test sentence in so many; print only")
    options = parser.parse_args()
    folder = Path(os.environ["QSPROJ_DATA"]) / "treebanks"
    train = list(read_conllu(folder / "english-ewt-train.conllu.gz"))
    test = list(read_conllu(folder / "english-ewt-test.conllu.gz"))[:: options.every]
    if options.model:
        arc_parser, training = qsproj.load_model(options.model), f"`{Path(options.model).name}`"
    else:
        arc_parser, _ = train_arc_parser(
            train[::EVERY], rng=np.random.default_rng(1), options=TrainingOptions(projective=True)
        )
        training = f"one in {EVERY} training sentences"
    counted = count_model(train)
    measure(test[0], arc_parser, counted, MODELS[-1])
    results = {
        model: [measure(sentence, arc_parser, counted, model) for sentence in test] for model in MODELS
    }
    long = {model: long_table(test, arc_parser, counted, model) for model in MODELS}
    text = report(results, long, training)
    print(text)
    if options.every == 1:
        REPORT.write_text(text, encoding="utf-8")
        for model, measured in results.items():
            (REPORT.parent / plot_name(model)).write_text(time_plot(measured, model), encoding="utf-8")
        (REPORT.parent / ERRORS).write_text(error_plot(results), encoding="utf-8")


if __name__ == "__main__":
    main()
