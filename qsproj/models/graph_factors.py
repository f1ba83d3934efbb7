"""The factor graph of one sentence: which factors there are over its candidate arcs, and their words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.factors.child_sequence import child_sequence, step_starts, step_table
from qsproj.bp.factors.link import link
from qsproj.bp.factors.pair import pair
from qsproj.bp.factors.tree import projective_tree, tree
from qsproj.bp.factors.valence import valence
from qsproj.bp.graph import FactorGraph, factor_graph
from qsproj.bp.group import FactorGroup
from qsproj.bp.links import Chains, arcs_of, chosen_links, crossing_pairs, dependent_chains, grandparents
from qsproj.features.second_order import (
    LARGEST_COUNT,
    Places,
    Words,
    grand_places,
    sequence_places,
    valence_places,
)
from qsproj.models.tree_inference import TreeInference

# Where groups stand in a sentence's graph: LINK, one for each family, and the tree, which so has the last
# word in every iteration.
TREE_GROUP = -1
FAMILY_GROUPS = slice(1, -1)

Table = NDArray[np.int32]
Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """The factors of one family in one sentence.

    Attributes
    ----------
    name : str
        A name in ``FAMILIES``.
    members : int32[F, R]
        The words of each factor plus one, as :func:`qsproj.features.second_order.factor_features` reads them.
    places : uint64[F]
    scored : int64[F]
        Where among the scores of the group, laid flat, the score of each factor stands.
    group : FactorGroup
        The group with all scores zero.
    """

    name: str
    members: Words
    places: Places
    scored: NDArray[np.int64]
    group: FactorGroup

    def with_scores(self, scores: Weights) -> FactorGroup:
        """Return the group with a score float64[F], natural log, for each factor."""
        laid_out = np.zeros(self.group.scores.shape)
        laid_out.reshape(-1)[self.scored] = scores
        group: Any = self.group
        scored: FactorGroup = replace(group, scores=laid_out)
        return scored

    def expected(self, group: FactorGroup, incoming: Weights) -> Weights:
        """Return float64[F], the probability of each factor firing under the beliefs of ``group``."""
        return group.expected(incoming).reshape(-1)[self.scored]


@dataclass(frozen=True, slots=True, eq=False)
class SentenceGraph:
    """The candidate arcs of a sentence, one boolean each, and the factors over them.

    Attributes
    ----------
    links : int32[n+1, n+1]
        The boolean of each candidate arc, -1 for the others.
    heads, dependents : int32[E]
        The ends of each arc, in the order of the booleans.
    families : tuple of Family
    graph : FactorGraph
        Groups as TREE_GROUP and FAMILY_GROUPS say; all scores zero.
    """

    links: Table
    heads: Table
    dependents: Table
    families: tuple[Family, ...]
    graph: FactorGraph

    def with_scores(self, link_scores: Weights, scores: Sequence[Weights]) -> FactorGraph:
        """Return the graph with scores for LINK, float64[E], and for each family, float64[F]."""
        groups = self.graph.groups
        scored = [family.with_scores(values) for family, values in zip(self.families, scores, strict=True)]
        return replace(self.graph, groups=(link(groups[0].edges, link_scores), *scored, groups[TREE_GROUP]))

    @property
    def n_factors(self) -> int:
        """Number of scores of all families."""
        return sum(len(family.scored) for family in self.families)


def sentence_graph(
    candidates: NDArray[np.bool_], inference: TreeInference, *, families: Sequence[str]
) -> SentenceGraph:
    """Lay out the factors over the candidate arcs bool[n+1, n+1] of a sentence.

    Parameters
    ----------
    families : sequence of str
        Names in ``FAMILIES``.
    """
    links = chosen_links(candidates)
    heads, dependents, variables = arcs_of(links)
    built = tuple(FAMILIES[name](links) for name in families)
    make_tree = projective_tree if inference.projective else tree
    groups = [
        link(variables, np.zeros(len(variables))),
        *(family.group for family in built),
        make_tree(links, single_root=inference.single_root),
    ]
    graph = factor_graph(np.full(len(variables), 2), groups)
    return SentenceGraph(links, heads, dependents, built, graph)


def _grand(links: Table) -> Family:
    variables, words = grandparents(links)
    group = pair(variables, np.zeros(len(words)))
    return Family("grand", words + np.int32(1), grand_places(words), np.arange(len(words)), group)


def _childseq(links: Table) -> Family:
    chains = _inhabited(dependent_chains(links))
    steps = step_table(chains.starts)
    scored = np.flatnonzero(steps[:, 3])
    chain, previous, following, _ = steps[scored].T
    n = len(links) - 1
    # Each chain's dependents between its two boundaries, all chains in a row.
    bounded = np.insert(chains.dependents, chains.starts[:-1], -1)
    bounded = np.insert(bounded, chains.starts[1:] + np.arange(1, len(chains.starts)), n + 1)
    begins = chains.starts[:-1] + 2 * np.arange(len(chains.heads))
    heads, sides = chains.heads[chain], chains.sides[chain]
    before, after = bounded[begins[chain] + previous], bounded[begins[chain] + following]
    members = np.stack([heads, before, after], axis=1).astype(np.int32) + np.int32(1)
    group = child_sequence(chains.variables, chains.starts, np.zeros(step_starts(chains.starts)[-1]))
    return Family("childseq", members, sequence_places(heads, after, sides, n=n), scored, group)


def _valence(links: Table) -> Family:
    chains = _inhabited(dependent_chains(links))
    counts = np.tile(np.arange(LARGEST_COUNT + 1, dtype=np.int32), len(chains.heads))
    heads, sides = np.repeat(chains.heads, LARGEST_COUNT + 1), np.repeat(chains.sides, LARGEST_COUNT + 1)
    group = valence(chains.variables, chains.starts, np.zeros((len(chains.heads), LARGEST_COUNT + 1)))
    return Family(
        "valence", heads[:, None] + np.int32(1), valence_places(sides, counts), np.arange(len(heads)), group
    )


def _nocross(links: Table) -> Family:
    # A factor for each pair of crossing arcs: few after pruning. The grouped factors of thesis 3.4.2 bring
    # EXACTLY1 once for every pair of words, and TREE brings it already: messages that count it so often
    # diverge.
    variables, words = crossing_pairs(links)
    group = pair(variables, np.zeros(len(words)))
    places = np.ones(len(words), dtype=np.uint64)
    return Family("nocross", words + np.int32(1), places, np.arange(len(words)), group)


def _inhabited(chains: Chains) -> Chains:
    """Leave out chains without a possible dependent: they have nothing to choose."""
    kept = np.flatnonzero(np.diff(chains.starts))
    starts = np.append(chains.starts[kept], chains.starts[-1])
    return replace(chains, starts=starts, heads=chains.heads[kept], sides=chains.sides[kept])


FAMILIES: dict[str, Callable[[Table], Family]] = {
    "grand": _grand,
    "childseq": _childseq,
    "valence": _valence,
    "nocross": _nocross,
}
