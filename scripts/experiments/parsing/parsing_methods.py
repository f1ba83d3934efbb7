"""Methods of parsing under second-order scores, exact and by belief propagation, with their time and search error."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from qsproj.bp.factors.booleans import link, pair
from qsproj.bp.factors.chains import child_sequence, step_table
from qsproj.bp.factors.trees import projective_tree
from qsproj.bp.graph import FactorGraph, FactorGroup, factor_graph
from qsproj.bp.links import Table as Links
from qsproj.bp.links import arcs_of, chosen_links, dependent_chains, grandparents
from qsproj.bp.run import Beliefs, BPOptions, Status, log_odds, run
from qsproj.conventions import Heads
from qsproj.corpus.sentence import Sentence
from qsproj.trees import projective, second_order
from qsproj.trees.second_order import SecondOrderScores
from scripts.experiments.harness.tables import Table, table

FLOODING = (1, 2, 3, 5, 10)
RUNS = (*(("flooding", limit) for limit in FLOODING), ("sequential", 5), ("sequential", 10))


def graph_of(scores: SecondOrderScores, *, siblings: bool, single_root: bool) -> tuple[FactorGraph, Links]:
    """Return PTREE + LINK + GRAND (+ CHILDSEQ) over the arcs that are allowed, and the boolean of each."""
    links = chosen_links(scores.arcs > -np.inf)
    heads, dependents, variables = arcs_of(links)
    pairs, words = grandparents(*arcs_of(links))
    assert scores.grandparents is not None
    groups: list[FactorGroup] = [
        link(variables, scores.arcs[heads, dependents]),
        pair(pairs, scores.grandparents[tuple(words.T)]),
    ]
    if siblings:
        chains = dependent_chains(*arcs_of(links), size=len(links))
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

    @staticmethod
    def of(kept: Mapping[str, Any]) -> Measured:
        """Return a result from its JSON form."""
        outcomes = {way: Outcome(**outcome) for way, outcome in kept["outcomes"].items()}
        return Measured(kept["words"], kept["build_seconds"], outcomes)


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
        beliefs = run(graph, BPOptions(schedule=schedule, max_iterations=limit))
        found = decode(beliefs, links, single_root=single_root)
        seconds = time.process_time() - began
        settled = beliefs.status is Status.CONVERGED
        outcomes[f"{schedule} {limit}"] = outcome(found, seconds, len(beliefs.residuals), settled)
    return Measured(len(sentence), build_seconds, outcomes)


def decode(beliefs: Beliefs, links: Links, *, single_root: bool) -> Heads:
    """Return the tree of the greatest sum of beliefs."""
    values = np.full(links.shape, -np.inf)
    values[links >= 0] = expit(log_odds(beliefs, links[links >= 0]))
    return projective.best(values, single_root=single_root)[0]


WAYS = {
    "first order": "first order, MBR",
    "best": "exact, best tree",
    "exact": "exact, MBR",
    **{f"{schedule} {limit}": f"BP, {schedule}, {limit}" for schedule, limit in RUNS},
}


def methods_table(measured: Sequence[Measured]) -> Table:
    """Return the table of search error and time of each parsing method."""
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


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}"


def mean_ms(outcomes: Sequence[Outcome]) -> float:
    return 1000 * statistics.fmean(outcome.seconds for outcome in outcomes)
