"""Measure hard constraints weaker than a tree, in training and in parsing (thesis table 3.3).

The graphs have LINK and one hard constraint over all arcs, without pruning.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace

import numpy as np

from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_learners import usable_sentences
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.arc_training import richest_template_set
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph.graph_parser import GraphOptions, GraphParser, train_factors
from qsproj.models.tree_decoder import TreeDecoder
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.parsing.treebank_rows import (
    SEED,
    SMALL_ROWS,
    add_rows_argument,
    differs,
    measured,
    percent,
    right_heads,
)

# From the weakest to the strongest, as in the thesis.
CONSTRAINTS = {
    "NOT2": "not2",
    "ATMOST1": "atmost1",
    "EXACTLY1": "exactly1",
    "EXACTLY1 + NO2CYCLE": "exactly1+no2cycle",
    "TREE": "tree",
}
TREE, PTREE = "TREE", "PTREE"
NAMES = (*CONSTRAINTS, PTREE)
LEVEL = 0.05
# Without training every arc of a sentence of up to 1000 words has a probability above this.
NOTHING_PRUNED = 1e-9


@dataclass(frozen=True)
class Result:
    """Right heads of each test sentence, by constraint: of the parser trained with TREE, and with the constraint."""

    words: int
    decoded: dict[str, list[int]]
    trained: dict[str, list[int]]
    milliseconds: dict[str, float]


def unpruned_base(sentences: list[Sentence], *, projective: bool) -> ArcParser:
    """Return a first-order parser that knows nothing, so that it prunes nothing."""
    single_root = all(np.count_nonzero(sentence.heads == 0) == 1 for sentence in sentences)
    inference = TreeDecoder(projective=projective, single_root=single_root)
    return ArcParser(ArcScorer.untrained(richest_template_set(sentences)), None, inference)


def train_with(constraint: str, sentences: list[Sentence], base: ArcParser) -> GraphParser:
    """Train LINK weights under a hard constraint."""
    parser, _ = train_factors(
        sentences,
        base,
        [base] * len(sentences),
        rng=np.random.default_rng(SEED),
        options=TrainingOptions(),
        graph_options=GraphOptions(families=(), constraint=constraint, threshold=NOTHING_PRUNED),
    )
    return parser


def measure(train: list[Sentence], test: list[Sentence]) -> dict[str, object]:
    """Train with every constraint; decode each parser with its own, and that of TREE with all."""
    usable, _ = usable_sentences(train)
    base = unpruned_base(usable, projective=False)
    result = Result(sum(map(len, test)), {}, {}, {})

    def right(parser: GraphParser, name: str) -> list[int]:
        parser.parse(test[0])
        start = time.process_time()
        parsed = [parser.parse(sentence) for sentence in test]
        result.milliseconds[name] = 1000 * (time.process_time() - start) / len(test)
        return right_heads(test, parsed)

    of_tree = train_with("tree", usable, base)
    for name, constraint in CONSTRAINTS.items():
        decoder = replace(of_tree, options=replace(of_tree.options, constraint=constraint))
        result.decoded[name] = right(decoder, name)
        own = result.decoded[name] if name == TREE else right(train_with(constraint, usable, base), name)
        result.trained[name] = own
    projective = replace(of_tree, base=unpruned_base(usable, projective=True))
    result.decoded[PTREE] = right(projective, PTREE)
    return asdict(result)


def cell(result: Result, name: str) -> str:
    """Return the UAS of decoding with a constraint, and in parentheses of training with it too."""
    own = result.trained.get(name)
    behind = "" if own is None else f" ({marked(result, own)})"
    return marked(result, result.decoded[name]) + behind


def marked(result: Result, right: list[int]) -> str:
    """Return the UAS, with a star if it differs from that of TREE."""
    star = "*" if differs(right, result.decoded[TREE], level=LEVEL) else ""
    return percent(right, result.words) + star


def run(lab: Lab) -> Figures:
    results = {name: Result(**kept) for name, kept in measured(lab, SMALL_ROWS, measure).items()}
    uas = [[name, *(cell(result, name) for result in results.values())] for name in NAMES]
    times = [[name, *(f"{result.milliseconds[name]:.1f}" for result in results.values())] for name in NAMES]
    header = ["constraint", *results]
    return Figures(tables={"uas": table(header, uas), "time": table(header, times)})


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_rows_argument([row.name for row in SMALL_ROWS]),
)

if __name__ == "__main__":
    EXPERIMENT.main()
