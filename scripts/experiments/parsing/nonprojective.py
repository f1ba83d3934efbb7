"""Measure non-projective parsing, factor by factor (thesis table 3.2).

All parsers of a treebank share the first-order parsers for pruning.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from qsproj.conventions import ROOT, Heads
from qsproj.corpus.editing import with_heads
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.constraints import candidate_arcs
from qsproj.models.graph.graph_parser import (
    GraphOptions,
    GraphParser,
    sentences_with_trees,
    train_factors,
    train_pruners,
)
from qsproj.models.tree_decoder import TreeDecoder, arcs_in
from qsproj.trees import projective, second_order
from qsproj.trees.crossings import nearest_projective
from qsproj.trees.second_order import SecondOrderScores, ends_of_sequences, sequences
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.parsing.exact_scores import exact_scores, score_of_tree, scored_graph
from scripts.experiments.parsing.treebank_rows import (
    SEED,
    SMALL_ROWS,
    add_rows_argument,
    differs,
    measured,
    percent,
    right_heads,
)

FAMILIES: dict[str, tuple[str, ...]] = {
    "TREE + LINK": (),
    "+ NOCROSS": ("nocross",),
    "+ GRAND": ("nocross", "grand"),
    "+ CHILDSEQ": ("nocross", "grand", "childseq"),
}
FIRST, RICHEST = "TREE + LINK", "+ CHILDSEQ"
BEST, MBR, CLIMBED = "exact projective, best tree", "exact projective, MBR", "best tree + hill climbing"
NAMES = (*FAMILIES, BEST, MBR, CLIMBED)
LEVEL = 0.05
MARKS = (("*", FIRST), ("†", RICHEST))


@dataclass(frozen=True)
class Result:
    """Right heads of each test sentence, milliseconds a sentence, and crossing words by way of parsing."""

    words: int
    crossing_gold: float
    right: dict[str, list[int]]
    milliseconds: dict[str, float]
    crossing: dict[str, float]


class Climber:
    """Exact projective inference with the scores of a parser, and hill climbing from there, one sentence."""

    def __init__(self, parser: GraphParser, sentence: Sentence) -> None:
        encoded = parser.base.scorer.encode(sentence)
        marginals = parser.inference.infer(parser.base.scorer.scores(parser.base.scorer.features(encoded)))[1]
        # There is a projective tree among the candidates, too.
        also = TreeDecoder(projective=True, single_root=parser.inference.single_root)
        threshold = parser.options.threshold
        self.candidates = candidate_arcs(marginals, parser.inference, threshold=threshold) | candidate_arcs(
            marginals, also, threshold=threshold
        )
        self.single_root = parser.inference.single_root
        families = parser.options.families_for(parser.inference)
        self.graph, self.links, self.scores = scored_graph(parser, sentence, self.candidates, families)
        self.exact: SecondOrderScores = exact_scores(self.graph, self.links, self.scores)

    def best(self) -> Heads:
        """Return the best projective tree."""
        return second_order.best(self.exact, single_root=self.single_root)[0]

    def minimum_risk(self) -> Heads:
        """Return the projective tree of minimum Bayes risk."""
        marginals = second_order.posterior(self.exact, single_root=self.single_root).marginals
        return projective.best(marginals, single_root=self.single_root)[0]

    def climbed(self) -> Heads:
        """Change one head of the best projective tree at a time, for as long as that helps."""
        heads = self.best().copy()
        reached, improved = self.score(heads), True
        while improved:
            options = [
                (self.score(changed), head, word)
                for head, word in np.argwhere(self.candidates & ~arcs_in(heads))
                if word > 0 and (changed := self.changed(heads, head, word)) is not None
            ]
            score, head, word = max(options, default=(-np.inf, 0, 0))
            improved = score > reached + 1e-9
            if improved:
                heads[word], reached = head, score
        return heads

    def changed(self, heads: Heads, head: int, word: int) -> Heads | None:
        """Return the tree with another head of a word; None where it is no tree any more."""
        above = head
        while above not in (ROOT, word):
            above = heads[above]
        if above == word and head != ROOT:
            return None
        changed = heads.copy()
        changed[word] = head
        if self.single_root and np.count_nonzero(changed[1:] == ROOT) != 1:
            return None
        return changed

    def score(self, heads: Heads) -> float:
        """Return the score of a tree, crossings included."""
        states = heads[self.graph.dependents] == self.graph.heads
        total = tree_score(self.exact, heads)
        for family, values in zip(self.graph.families, self.scores):
            if family.name == "nocross":
                total += values[states[family.group.edges].reshape(-1, 2).all(axis=1)].sum()
        return total


def tree_score(scores: SecondOrderScores, heads: Heads) -> float:
    """Return the score of a tree, int32[n+1], projective or not: the sum over its parts, natural log."""
    previous, outermost = sequences(heads)
    words = np.arange(1, heads.size)
    above = heads[1:]
    total = scores.arcs[above, words].sum() + scores.siblings[above, words, previous[1:]].sum()
    total += ends_of_sequences(scores.stops, scores.childless, outermost).sum()
    if scores.grandparents is not None:
        inner = above > ROOT
        total += scores.grandparents[heads[above[inner]], above[inner], words[inner]].sum()
    return float(total)


def crossing_share(trees: list[Heads]) -> float:
    """Return the percentage of words that must get another head for trees to be projective."""
    words = sum(len(heads) - 1 for heads in trees)
    return 100 * sum(np.count_nonzero(nearest_projective(heads) != heads) for heads in trees) / words


def measure(train: list[Sentence], test: list[Sentence]) -> dict[str, object]:
    """Train the parsers of one treebank and parse its test file in every way."""
    options = TrainingOptions(projective=False)
    rng = np.random.default_rng(SEED)
    base, _ = train_arc_parser(train, rng=rng, options=options)
    usable = sentences_with_trees(train, base)
    pruners = train_pruners(usable, base, rng=rng, options=options)
    result = Result(sum(map(len, test)), crossing_share([s.heads for s in test]), {}, {}, {})

    def note(name: str, parse: Callable[[Sentence], Heads]) -> None:
        parse(test[0])
        start = time.process_time()
        trees = [parse(sentence) for sentence in test]
        result.milliseconds[name] = 1000 * (time.process_time() - start) / len(test)
        result.right[name] = right_heads(test, [with_heads(s, heads) for s, heads in zip(test, trees)])
        result.crossing[name] = crossing_share(trees)

    for name, families in FAMILIES.items():
        parser, _ = train_factors(
            usable,
            base,
            pruners,
            rng=np.random.default_rng(SEED),
            options=options,
            graph_options=GraphOptions(families=families),
        )
        note(name, partial(heads_of, parser))
    check(Climber(parser, test[0]))
    note(BEST, lambda sentence: Climber(parser, sentence).best())
    note(MBR, lambda sentence: Climber(parser, sentence).minimum_risk())
    note(CLIMBED, lambda sentence: Climber(parser, sentence).climbed())
    return asdict(result)


def heads_of(parser: GraphParser, sentence: Sentence) -> Heads:
    return parser.parse(sentence).heads


def check(climber: Climber) -> None:
    """Make sure that a tree scores the same laid out for exact inference and in the graph."""
    heads = climber.climbed()
    in_graph = score_of_tree(climber.graph, climber.links, climber.scores, heads)
    assert abs(in_graph - climber.score(heads)) < 1e-6, (in_graph, climber.score(heads))


def uas(result: Result, name: str) -> str:
    """Return the UAS of one way to parse, with marks."""
    right = result.right[name]
    marks = (
        mark for mark, other in MARKS if other != name and differs(right, result.right[other], level=LEVEL)
    )
    return percent(right, result.words) + "".join(marks)


def run(lab: Lab) -> Figures:
    results = {name: Result(**kept) for name, kept in measured(lab, SMALL_ROWS, measure).items()}
    gold = ["test file", *(f"{result.crossing_gold:.2f}" for result in results.values())]

    def by_way(corner: str, show: Callable[[Result, str], str], first: list[list[str]]) -> Table:
        rows = [[name, *(show(result, name) for result in results.values())] for name in NAMES]
        return table([corner, *results], [*first, *rows])

    return Figures(
        tables={
            "uas": by_way("UAS", uas, []),
            "crossing": by_way("crossing", lambda result, name: f"{result.crossing[name]:.2f}", [gold]),
            "time": by_way("time", lambda result, name: f"{result.milliseconds[name]:.1f}", []),
        }
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_rows_argument([row.name for row in SMALL_ROWS]),
)

if __name__ == "__main__":
    EXPERIMENT.main()
