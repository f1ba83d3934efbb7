"""A hidden projective tree beside the observed one, whose arcs may cross (thesis 5.1.1).

All parsers of a treebank share the first-order parsers that prune.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass

import numpy as np

from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph.graph_parser import GraphOptions
from qsproj.models.graph.graph_training import sentences_with_trees, train_factors, train_pruners
from qsproj.trees.crossings import crossing_arcs, nearest_projective
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.pages.parsing import hidden_tree
from scripts.experiments.parsing.treebank_rows import (
    ROWS,
    SEED,
    Row,
    add_rows_argument,
    differs,
    measured,
    right_heads,
)

SECOND = ("grand", "childseq", "valence")
WAYS: dict[str, tuple[str, ...]] = {
    "TREE + LINK": (),
    "+ NOCROSS": ("nocross",),
    "+ hidden tree": ("hidden",),
    "+ second order": SECOND,
    "+ second order, NOCROSS": (*SECOND, "nocross"),
    "+ second order, hidden tree": (*SECOND, "hidden"),
}
RIVALS = {"+ hidden tree": "+ NOCROSS", "+ second order, hidden tree": "+ second order, NOCROSS"}
LEVEL = 0.05
TREEBANKS = (
    *ROWS[:3],
    Row("Czech-CAC", "czech-cac-dev", "czech-cac-test"),
    Row("Gothic-PROIEL", "got-train", "got-test"),
)


@dataclass(frozen=True)
class Way:
    """Right heads of each sentence, arcs to lift, right arcs among those of gold, milliseconds a sentence."""

    right: list[int]
    lifted: int
    found: int
    milliseconds: float


@dataclass(frozen=True)
class Result:
    """Test sentences: their words, which of them cross, how many arcs are to be lifted; what came of them."""

    words: list[int]
    crossing: list[bool]
    lifted: int
    ways: dict[str, Way]


def measure(train: list[Sentence], test: list[Sentence]) -> dict[str, object]:
    """Train the parsers of one treebank and parse its test file."""
    options = TrainingOptions(projective=False)
    rng = np.random.default_rng(SEED)
    base, _ = train_arc_parser(train, rng=rng, options=options)
    usable = sentences_with_trees(train, base)
    pruners = train_pruners(usable, base, rng=rng, options=options)
    crossing = [bool(crossing_arcs(sentence.heads).any()) for sentence in test]
    unlike = [nearest_projective(sentence.heads) != sentence.heads for sentence in test]
    result = Result(list(map(len, test)), crossing, int(sum(map(np.count_nonzero, unlike))), {})
    for name, families in WAYS.items():
        rng = np.random.default_rng(SEED)
        shape = GraphOptions(families=families)
        parser, _ = train_factors(usable, base, pruners, rng=rng, options=options, graph_options=shape)
        parser.parse(test[0])
        start = time.process_time()
        parsed = list(parser.parse_all(test))
        took = time.process_time() - start
        lifted = sum(np.count_nonzero(nearest_projective(one.heads) != one.heads) for one in parsed)
        found = sum(
            np.count_nonzero(arcs & (one.heads == gold.heads))
            for arcs, one, gold in zip(unlike, parsed, test, strict=True)
        )
        result.ways[name] = Way(right_heads(test, parsed), int(lifted), int(found), 1000 * took / len(test))
    return asdict(result)


def uas_table(results: dict[str, Result], *, crossing: bool) -> Table:
    """Show UAS on the sentences that cross, or on the others; * where it differs from the rival."""

    def of(result: Result, numbers: list[int]) -> list[int]:
        return [
            number for number, crosses in zip(numbers, result.crossing, strict=True) if crosses == crossing
        ]

    rows = []
    for name in WAYS:
        cells, shares = [], []
        for result in results.values():
            right = of(result, result.ways[name].right)
            shares.append(100 * sum(right) / sum(of(result, result.words)))
            other = RIVALS.get(name)
            marked = other is not None and differs(right, of(result, result.ways[other].right), level=LEVEL)
            cells.append(f"{shares[-1]:.2f}{'*' if marked else ''}")
        rows.append([name, *cells, f"{sum(shares) / len(shares):.2f}"])
    return table(["UAS", *results, "mean"], rows)


def run(lab: Lab) -> Figures:
    results = {
        name: Result(**{**kept, "ways": {way: Way(**one) for way, one in kept["ways"].items()}})
        for name, kept in measured(lab, TREEBANKS, measure).items()
    }
    gold = ["test file", *(f"{one.lifted}, {one.lifted}" for one in results.values())]
    arcs = [
        [name, *(f"{one.ways[name].lifted}, {one.ways[name].found}" for one in results.values())]
        for name in WAYS
    ]
    times = [[name, *(f"{one.ways[name].milliseconds:.1f}" for one in results.values())] for name in WAYS]
    shares = [f"{100 * sum(one.crossing) / len(one.crossing):.0f}" for one in results.values()]
    return Figures(
        tables={
            "sentences": table(["sentences that cross", *results], [["%", *shares]]),
            "crossing": uas_table(results, crossing=True),
            "rest": uas_table(results, crossing=False),
            "arcs": table(["lifted, right", *results], [gold, *arcs]),
            "time": table(["time", *results], times),
        }
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    page="hidden-tree",
    reading=hidden_tree,
    add_arguments=add_rows_argument([row.name for row in TREEBANKS]),
)

if __name__ == "__main__":
    EXPERIMENT.main()
