"""Scores of a second-order parser for a sentence, in the layout of exact inference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Heads
from qsproj.corpus.sentence import Sentence
from qsproj.models.graph.graph_factors import SentenceGraph, sentence_graph
from qsproj.models.graph.graph_parser import GraphParser
from qsproj.trees.second_order import SecondOrderScores, second_order_scores

Scores = NDArray[np.float64]


def scored_graph(
    parser: GraphParser, sentence: Sentence, candidates: NDArray[np.bool_], families: Sequence[str]
) -> tuple[SentenceGraph, Scores, list[Scores]]:
    """Return the graph over candidate arcs bool[n+1, n+1], scores of LINK float64[E], and of the families."""
    encoded = parser.links.encode(sentence)
    graph = sentence_graph(candidates, parser.inference, families=families)
    links = parser.links.scores(parser.links.features(encoded))[graph.heads, graph.dependents]
    return graph, links, parser.factors.scores(parser.factors.features(encoded, graph.families))


def exact_scores(graph: SentenceGraph, links: Scores, scores: Sequence[Scores]) -> SecondOrderScores:
    """Lay out the scores of LINK, GRAND and CHILDSEQ; other families have no place there and are left out."""
    size = len(graph.links)
    arcs = np.full((size, size), -np.inf)
    arcs[graph.heads, graph.dependents] = links
    grandparents, siblings = np.zeros((2, size, size, size))
    stops, childless = np.zeros((size, size)), np.zeros((size, 2))
    for family, values in zip(graph.families, scores, strict=True):
        words = family.members.T - 1
        if family.name == "grand":
            grandparents[tuple(words)] = values
        elif family.name == "childseq":
            head, before, after = words
            # The place of a step is twice its bin of distance plus the side.
            side = (family.places & np.uint64(1)).astype(int)
            first, last = before < 0, after == size
            step = ~last
            siblings[head[step], after[step], np.where(first, head, before)[step]] = values[step]
            ends = last & ~first
            stops[head[ends], before[ends]] = values[ends]
            childless[head[first & last], side[first & last]] = values[first & last]
    return second_order_scores(
        arcs, siblings=siblings, stops=stops, childless=childless, grandparents=grandparents
    )


def score_of_tree(graph: SentenceGraph, links: Scores, scores: Sequence[Scores], heads: Heads) -> float:
    """Return the score of a tree as the sum over all factors: a slow oracle of :func:`exact_scores`."""
    certain = np.where(heads[graph.dependents] == graph.heads, np.inf, -np.inf)
    groups = graph.with_scores(links, scores).groups[: 1 + len(graph.families)]
    return sum(group.log_partition(certain[group.edges]) for group in groups)
