"""Search error of a projective second-order model decoded with a hard constraint weaker than PTREE (thesis 3.4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from qsproj.conventions import Heads
from qsproj.corpus.sentence import Sentence
from qsproj.models.graph.graph_parser import GraphParser
from qsproj.trees import projective, second_order
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.parsing.learned_search_error import learned_scores, train_parsers
from scripts.experiments.parsing.treebank_rows import percent

# From the weakest to the strongest; the last is the constraint of training.
CONSTRAINTS = {
    "NOT2": "not2",
    "ATMOST1": "atmost1",
    "EXACTLY1": "exactly1",
    "EXACTLY1 + NO2CYCLE": "exactly1+no2cycle",
    "PTREE": "tree",
}
PTREE = "PTREE"
# Of belief propagation: as in training, and where messages have time to settle.
ITERATIONS = (5, 20)
MODEL = {"GRAND": ("grand",)}


@dataclass(frozen=True)
class Way:
    """Errors with one constraint: heads that differ from exact inference and from PTREE, and correct heads."""

    unlike_exact: int
    unlike_ptree: int
    right: int


def measure(train: list[Sentence], test: list[Sentence]) -> dict[str, Any]:
    """Train PTREE + LINK + GRAND; decode test sentences exactly, and with each constraint by belief propagation."""
    (parser,) = train_parsers(train, MODEL).values()
    exact = [exact_heads(sentence, parser) for sentence in test]
    gold = [sentence.heads for sentence in test]
    ways: dict[str, dict[str, Any]] = {}
    for iterations in ITERATIONS:
        found = {name: heads_by(test, parser, name, iterations=iterations) for name in CONSTRAINTS}
        ways[str(iterations)] = {
            name: asdict(Way(unlike(heads, exact), unlike(heads, found[PTREE]), alike(heads, gold)))
            for name, heads in found.items()
        }
    return {"words": sum(map(len, test)), "exact": alike(exact, gold), "ways": ways}


def exact_heads(sentence: Sentence, parser: GraphParser) -> Heads:
    """Return the projective tree of minimum Bayes risk under the parser's scores."""
    single_root = parser.inference.single_root
    marginals = second_order.posterior(learned_scores(sentence, parser), single_root=single_root).marginals
    return projective.best(marginals, single_root=single_root)[0]


def heads_by(
    sentences: Sequence[Sentence], parser: GraphParser, name: str, *, iterations: int
) -> list[Heads]:
    """Return the trees that belief propagation finds with a hard constraint."""
    options = replace(parser.options, constraint=CONSTRAINTS[name], iterations=iterations)
    weakened = replace(parser, options=options)
    return [weakened.parse(sentence).heads for sentence in sentences]


def alike(trees: Sequence[Heads], others: Sequence[Heads]) -> int:
    """Count the words that have the same heads in both."""
    return sum(
        int(np.count_nonzero(heads[1:] == other[1:])) for heads, other in zip(trees, others, strict=True)
    )


def unlike(trees: Sequence[Heads], others: Sequence[Heads]) -> int:
    """Count the words that have other heads."""
    return sum(len(heads) - 1 for heads in trees) - alike(trees, others)


def errors_table(results: Mapping[str, Any], iterations: int, key: str) -> Table:
    """Lay out the share of other heads, or the UAS, by constraint and treebank."""
    rows = [
        [
            name,
            *(percent([one["ways"][str(iterations)][name][key]], one["words"]) for one in results.values()),
        ]
        for name in CONSTRAINTS
    ]
    if key == "right":
        rows.append(["exact MBR", *(percent([one["exact"]], one["words"]) for one in results.values())])
    return table(["constraint", *results], rows)
