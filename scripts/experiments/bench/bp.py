"""What one iteration of belief propagation costs, factor by factor, over sentence length and tag set.

Times are user CPU, the median of repeats; the first call, which compiles or loads kernels, is not counted.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from qsproj.bp.factors.booleans import at_most_one, exactly_one, link, no2cycle, not2, pair
from qsproj.bp.factors.chains import child_sequence, step_starts, valence
from qsproj.bp.factors.tags import tag, tag_link, trigram
from qsproj.bp.factors.trees import no_cross, projective_tree, tree, word_pairs
from qsproj.bp.graph import FactorGraph, FactorGroup, factor_graph
from qsproj.bp.links import (
    all_links,
    arcs_of,
    candidate_heads,
    dependent_chains,
    grandparents,
    siblings,
)
from qsproj.bp.run import Passing, run
from qsproj.kernels.bp.bp_messages import leave_out, replace_messages
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table

LENGTHS = [10, 20, 40, 80]
TAG_SETS = [8, 16, 32]
TAGS = 12
WORDS = 12
# Seconds of CPU time that some machines count in steps of.
SHORTEST = 0.02

Make = Callable[[int, np.random.Generator], FactorGroup]


def with_chains(n: int, rng: np.random.Generator) -> FactorGroup:
    chains = dependent_chains(all_links(n))
    return child_sequence(chains.variables, chains.starts, rng.normal(size=step_starts(chains.starts)[-1]))


def with_counts(n: int, rng: np.random.Generator) -> FactorGroup:
    chains = dependent_chains(all_links(n))
    return valence(chains.variables, chains.starts, rng.normal(size=(chains.heads.size, 4)))


def with_pairs(table: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]) -> Make:
    def make(n: int, rng: np.random.Generator) -> FactorGroup:
        pairs, _ = table(all_links(n))
        return pair(pairs, rng.normal(size=len(pairs)))

    return make


def with_tag_links(n: int, rng: np.random.Generator, tags: int = TAGS) -> FactorGroup:
    heads, dependents, arcs = arcs_of(all_links(n))
    inner = heads > 0
    count = int(inner.sum())
    first_tag = arcs.size - 1
    return tag_link(
        arcs[inner],
        first_tag + heads[inner],
        first_tag + dependents[inner],
        rng.normal(size=(count, tags, tags)),
    )


# Family, cost of all its factors as in thesis table 2.1 (NOCROSS: 3.4.2), and how to make it.
FAMILIES: list[tuple[str, str, Make]] = [
    ("PTREE", "n^3", lambda n, rng: projective_tree(all_links(n))),
    ("TREE", "n^3", lambda n, rng: tree(all_links(n))),
    ("EXACTLY1", "n^2", lambda n, rng: exactly_one(candidate_heads(all_links(n)))),
    ("ATMOST1", "n^2", lambda n, rng: at_most_one(candidate_heads(all_links(n)))),
    ("NOT2", "n^3", lambda n, rng: not2(all_links(n))),
    ("NO2CYCLE", "n^2", lambda n, rng: no2cycle(all_links(n))),
    ("LINK", "n^2", lambda n, rng: link(np.arange(n * n), rng.normal(size=n * n))),
    ("GRAND", "n^3", with_pairs(grandparents)),
    ("SIB", "n^3", with_pairs(siblings)),
    ("CHILDSEQ", "n^3", with_chains),
    ("VALENCE", "n^2", with_counts),
    ("NOCROSS", "n^3", lambda n, rng: no_cross(all_links(n), word_pairs(n), -np.ones(n * (n - 1) // 2))),
    ("TAG", "n g", lambda n, rng: tag(np.arange(n), rng.normal(size=(n, TAGS)))),
    ("TAGLINK", "n^2 g^2", with_tag_links),
    ("TRIGRAM", "n g^3", lambda n, rng: trigram(np.arange(n), rng.normal(size=(TAGS + 1,) * 3))),
]

TAG_FAMILIES: list[tuple[str, str, Make]] = [
    ("TAG", "n g", lambda g, rng: tag(np.arange(WORDS), rng.normal(size=(WORDS, g)))),
    ("TAGLINK", "n^2 g^2", lambda g, rng: with_tag_links(WORDS, rng, g)),
    ("TRIGRAM", "n g^3", lambda g, rng: trigram(np.arange(WORDS), rng.normal(size=(g + 1,) * 3))),
]


def second_order(n: int, rng: np.random.Generator) -> FactorGraph:
    """PTREE + LINK + GRAND + CHILDSEQ over n words, all arcs allowed."""
    links = all_links(n)
    _, _, variables = arcs_of(links)
    pairs, _ = grandparents(links)
    groups = [
        link(variables, rng.normal(size=variables.size)),
        pair(pairs, rng.normal(size=len(pairs))),
        with_chains(n, rng),
        projective_tree(links),
    ]
    return factor_graph(np.full(variables.size, 2), groups)


def milliseconds(work: Callable[[], object], budget: float) -> float:
    """Return the median CPU time of one call, after a first one that does not count.

    Calls are timed together until they take as long as a clock of CPU time needs to be exact.
    """
    work()
    calls = 1
    while seconds(work, calls) < SHORTEST:
        calls *= 2
    times: list[float] = []
    while sum(times) < budget or len(times) < 3:
        times.append(seconds(work, calls))
    return 1000.0 * statistics.median(times) / calls


def seconds(work: Callable[[], object], calls: int) -> float:
    """Return the CPU time of so many calls."""
    start = time.process_time()
    for _ in range(calls):
        work()
    return time.process_time() - start


def one_round(group: FactorGroup, rng: np.random.Generator) -> Callable[[], object]:
    """Return what an iteration does for one group: hear, answer, compare."""
    size = int((group.edge_states - 1).sum())
    slots = np.arange(size, dtype=np.int32)
    finite, infinite = rng.normal(size=size), np.zeros(size, dtype=np.int32)
    incoming, outgoing = np.empty(size), np.zeros(size)

    def work() -> None:
        leave_out(finite, infinite, slots, outgoing, incoming)
        replace_messages(incoming, group.propagate(incoming), np.zeros(size), 0.0)

    return work


def rows(
    families: list[tuple[str, str, Make]], sizes: list[int], budget: float, rng: np.random.Generator
) -> Iterator[list[str]]:
    """Yield a table row for each family: its cost, times, and the slope over the last doubling."""
    for name, cost, make in families:
        times = [milliseconds(one_round(make(size, rng), rng), budget) for size in sizes]
        slope = np.log(times[-1] / times[-2]) / np.log(sizes[-1] / sizes[-2])
        yield [name, cost, *(f"{value:.3f}" for value in times), f"{slope:.2f}"]


def whole_runs(budget: float, rng: np.random.Generator) -> Iterator[list[str]]:
    """Yield times of building the graph and of five iterations, by length."""
    before: tuple[int, float] | None = None
    for n in [6, 12, *LENGTHS[1:]]:
        graph = second_order(n, rng)
        build = milliseconds(partial(second_order, n, rng), budget)
        flood = milliseconds(partial(run, graph, Passing(max_iterations=5)), budget)
        turns = milliseconds(partial(run, graph, Passing(max_iterations=5, schedule="sequential")), budget)
        slope = "" if before is None else f"{np.log(flood / before[1]) / np.log(n / before[0]):.2f}"
        before = n, flood
        yield [str(n), f"{build:.2f}", f"{flood:.2f}", f"{turns:.2f}", slope]


def measure(lab: Lab) -> Figures:
    budget = lab.options.budget
    rng = np.random.default_rng(0)
    lengths = ["family", "cost (table 2.1)", *(f"n = {n}" for n in LENGTHS), "slope"]
    tag_sets = ["family", "cost (table 2.1)", *(f"g = {g}" for g in TAG_SETS), "slope"]
    runs = ["n", "build graph", "flooding", "sequential", "slope (flooding)"]
    return Figures(
        tables={
            "families": table(lengths, rows(FAMILIES, LENGTHS, budget, rng)),
            "tags": table(tag_sets, rows(TAG_FAMILIES, TAG_SETS, budget, rng)),
            "runs": table(runs, whole_runs(budget, rng)),
        }
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--budget", type=float, default=0.3, help="CPU seconds a cell (default 0.3)")


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=measure,
    page="bench-bp",
    add_arguments=add_arguments,
    needs_data=False,
)

if __name__ == "__main__":
    EXPERIMENT.main()
