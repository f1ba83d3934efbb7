"""Edges of enhanced graphs that the tree lacks, by kind: those found beside parsed trees, and what the trees allow.

A parser and an enhancer of a quarter of the training file of English-EWT, on a quarter of its dev file; gold tags.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np

from qsproj.corpus.cells import Edge, bare_relation
from qsproj.corpus.enhanced import collapsed_graph
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.enhanced.enhancer import BASIC, Tree, train_enhancer
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table

SEED, EVERY = 1, 4
ALL = "all"
KINDS = 10
WAYS = ("gold tree", "parsed tree", "and its arcs")
Added = dict[tuple[int, str, str], str]


def kind_of(relation: str) -> str:
    """Return the relation without what markers add; xsubj stays."""
    return bare_relation(relation) + (":xsubj" if relation.endswith(":xsubj") else "")


def added(graph: Iterable[Iterable[Edge]], sentence: Sentence) -> Added:
    """Return the edges that the tree of a sentence lacks, with their kinds."""
    heads = sentence.heads.tolist()
    return {
        (word, head, relation): kind_of(relation)
        for word, edges in enumerate(graph, start=1)
        for head, relation in edges
        if head != str(heads[word])
    }


def allowed(gold: Added, one: Sentence, parsed: Sentence) -> Added:
    """Return the gold edges whose way in the gold tree has been parsed, arcs and relations."""
    tree, right = Tree(one), set()
    for way in tree.candidates():
        if way.way != BASIC and all(
            parsed.heads[word] == one.heads[word] and parsed.deprels[word - 1] == one.deprels[word - 1]
            for word in way.below
        ):
            right.add((way.dependent, str(way.head)))
    return {edge: kind for edge, kind in gold.items() if edge[:2] in right}


def measure(lab: Lab) -> dict[str, dict[str, int]]:
    """Count edges by kind: of gold, of each way, right ones of each way, and those that the parsed tree allows."""
    train = lab.treebank("english-ewt-train")[::EVERY]
    parser, _ = train_arc_parser(train, rng=np.random.default_rng(SEED))
    enhancer = train_enhancer(train, rng=np.random.default_rng(SEED))
    counts: dict[str, Counter[str]] = {}

    def count(name: str, edges: Mapping[tuple[int, str, str], str]) -> None:
        counts.setdefault(name, Counter()).update([*edges.values(), *[ALL] * len(edges)])

    for one in lab.treebank("english-ewt-dev")[::EVERY]:
        parsed = parser.parse(one)
        gold = added(collapsed_graph(one), one)
        graphs = {
            "gold tree": added(enhancer.graph(one)[0], one),
            "parsed tree": added(enhancer.graph(parsed)[0], parsed),
            "and its arcs": added(
                enhancer.graph(parsed, partial(parser.arc_probabilities, parsed))[0], parsed
            ),
        }
        count("gold", gold)
        count("allowed", allowed(gold, one, parsed))
        for name, edges in graphs.items():
            count(f"found {name}", edges)
            count(f"right {name}", {edge: kind for edge, kind in edges.items() if edge in gold})
    return {name: dict(own) for name, own in counts.items()}


def run(lab: Lab) -> Figures:
    data = [lab.treebank_path(f"english-ewt-{part}") for part in ("train", "dev")]
    found = lab.cache.figures("added edges", partial(measure, lab), data=data)
    kinds = sorted(found["gold"], key=lambda kind: (kind != ALL, -found["gold"][kind], kind))
    rows = []
    for kind in kinds[: KINDS + 1]:
        gold, own = found["gold"][kind], found["allowed"].get(kind, 0)
        cells = []
        for way in WAYS:
            right, made = (found[f"{what} {way}"].get(kind, 0) for what in ("right", "found"))
            cells.append(f"{200 * right / (gold + made):.1f}")
        rows.append([kind, str(gold), *cells, f"{100 * own / gold:.1f}", f"{200 * own / (gold + own):.1f}"])
    header = ["edges", "gold", *(f"F1, {way}" for way in WAYS), "allowed, %", "their F1"]
    return Figures(tables={"edges": table(header, rows)})


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="enhanced-errors")

if __name__ == "__main__":
    EXPERIMENT.main()
