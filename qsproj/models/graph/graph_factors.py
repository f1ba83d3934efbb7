"""The factor graph of one sentence: factors over its candidate arcs, their scores, and message passing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.bp import links as link_tables
from qsproj.bp.factors.booleans import at_most_one, exactly_one, link, no2cycle, not2, pair
from qsproj.bp.factors.chains import child_sequence, step_starts, step_table, valence
from qsproj.bp.factors.trees import Forest, Tree, forest, projective_tree, tree
from qsproj.bp.graph import FactorGraph, FactorGroup, factor_graph, rescored
from qsproj.bp.links import Table
from qsproj.bp.run import Beliefs, BPOptions, probability, run
from qsproj.conventions import Floats, Mask
from qsproj.features import second_order
from qsproj.features.arc_templates import TEMPLATE_SETS as ARC_TEMPLATE_SETS
from qsproj.features.arc_templates import compile_templates
from qsproj.features.atoms import EncodedSentence
from qsproj.kernels.features.second_order_features import FactorFeatures, score_factors
from qsproj.models.arc.arc_scorer import HashedWeights
from qsproj.models.constraints import span_arcs
from qsproj.models.tree_decoder import TreeDecoder

# Index of the first family's group in a sentence's graph, after LINK. The hard constraint is updated last.
FIRST_FAMILY = 1


@dataclass(frozen=True, slots=True, eq=False)
class FamilyFactors:
    """The factors of one family in one sentence, for :func:`qsproj.features.second_order.factor_features`."""

    name: str  # in ``FAMILIES``
    members: second_order.Words  # int32[F, R], words plus one
    places: second_order.Places  # uint64[F]
    scored: NDArray[np.int64]  # int64[F]: flat index of each factor's score in the group
    group: FactorGroup  # its scores are zero
    above: float | Floats = 0.0  # added to scores, one for all or float64[F]

    def with_scores(self, scores: Floats) -> FactorGroup:
        return rescored(self.group, scores + self.above, self.scored)

    def numbered_from(self, first: int) -> "FamilyFactors":
        """Return the family, for message passing only, where arcs are numbered from ``first`` on."""
        group: Any = self.group
        moved: FactorGroup = replace(group, edges=group.edges + np.int32(first))
        return replace(self, members=self.members[:0], places=self.places[:0], group=moved)

    def expected(self, group: FactorGroup, incoming: Floats) -> Floats:
        """Return float64[F], the probability of each factor firing under the beliefs of ``group``."""
        return group.expected(incoming).reshape(-1)[self.scored]


@dataclass(frozen=True, slots=True, eq=False)
class SentenceGraph:
    """The candidate arcs of a sentence, one boolean each, and the factors over them."""

    links: Table  # int32[n+1, n+1]: the boolean of each candidate arc, -1 for the others
    heads: Table  # int32[E]: the ends of each arc
    dependents: Table  # int32[E]
    families: tuple[FamilyFactors, ...]
    graph: FactorGraph  # LINK, the families, and hard factors; all scores zero

    def with_scores(self, link_scores: Floats, scores: Sequence[Floats]) -> FactorGraph:
        first, *rest = self.graph.groups
        scored = [family.with_scores(values) for family, values in zip(self.families, scores, strict=True)]
        return replace(self.graph, groups=(link(first.edges, link_scores), *scored, *rest[len(scored) :]))

    @property
    def n_factors(self) -> int:
        return sum(len(family.scored) for family in self.families)


@dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """Arcs between the positions of one sentence, or of several concatenated ones."""

    heads: Table  # int32[E], head after head; variables are 0..E - 1
    dependents: Table  # int32[E]
    before: Table  # int32[positions]: the boundary symbol left of the position's sentence
    after: Table  # int32[positions]: that right of it

    @property
    def ends(self) -> tuple[Table, Table, Table]:
        return self.heads, self.dependents, np.arange(len(self.heads), dtype=np.int32)


def sentence_graph(
    candidates: Mask,
    inference: TreeDecoder,
    *,
    families: Sequence[str],
    constraint: str = "tree",
    spans: Sequence[tuple[int, int]] = (),
) -> SentenceGraph:
    links, size = link_tables.chosen_links(candidates), len(candidates)
    heads, dependents, _ = link_tables.arcs_of(links)
    arcs = Arcs(heads, dependents, np.full(size, -1, np.int32), np.full(size, size, np.int32))
    hard = CONSTRAINTS[constraint](links, inference)
    if spans:
        hard = [exactly_one(span_arcs(links, spans)), *hard]
    return _graph_of(links, arcs, families, hard)


def block_graph(arcs: Arcs, trees: Sequence[Tree], *, families: Sequence[str]) -> SentenceGraph:
    """Build one graph for the projective trees of several sentences; ``links`` are empty."""
    return _graph_of(np.zeros((0, 0), np.int32), arcs, families, [forest(trees)])


def _graph_of(links: Table, arcs: Arcs, names: Sequence[str], hard: Sequence[FactorGroup]) -> SentenceGraph:
    heads, dependents, variables = arcs.ends
    built = tuple(FAMILIES[name](arcs) for name in names)
    groups = [link(variables, np.zeros(len(variables))), *(family.group for family in built), *hard]
    graph = factor_graph(np.full(len(variables), 2), groups)
    return SentenceGraph(links, heads, dependents, built, graph)


def _pairs(
    name: str,
    find: Callable[[Table, Table, Table], tuple[Table, Table]],
    places_of: Callable[[Table], second_order.Places],
    arcs: Arcs,
) -> FamilyFactors:
    variables, words = find(*arcs.ends)
    group = pair(variables, np.zeros(len(words)))
    return FamilyFactors(name, words + np.int32(1), places_of(words), np.arange(len(words)), group)


def _childseq(arcs: Arcs) -> FamilyFactors:
    chains = _with_arcs(link_tables.dependent_chains(*arcs.ends, size=len(arcs.before)))
    steps = step_table(chains.starts)
    scored = np.flatnonzero(steps[:, 3])
    chain, previous, following, _ = steps[scored].T
    # The dependents of each chain between its two boundaries, chains concatenated.
    bounded = np.insert(chains.dependents, chains.starts[:-1], arcs.before[chains.heads])
    ends = chains.starts[1:] + np.arange(1, len(chains.starts))
    bounded = np.insert(bounded, ends, arcs.after[chains.heads])
    begins = chains.starts[:-1] + 2 * np.arange(len(chains.heads))
    heads, sides = chains.heads[chain], chains.sides[chain]
    before, after = bounded[begins[chain] + previous], bounded[begins[chain] + following]
    members = np.stack([heads, before, after], axis=1).astype(np.int32) + np.int32(1)
    group = child_sequence(chains.variables, chains.starts, np.zeros(step_starts(chains.starts)[-1]))
    places = second_order.sequence_places(heads, after, sides, inside=after != arcs.after[heads])
    return FamilyFactors("childseq", members, places, scored, group)


def _valence(arcs: Arcs) -> FamilyFactors:
    chains = _with_arcs(link_tables.dependent_chains(*arcs.ends, size=len(arcs.before)))
    size, sizes = len(chains.heads), second_order.LARGEST_COUNT + 1
    counts = np.tile(np.arange(sizes, dtype=np.int32), size)
    heads, sides = np.repeat(chains.heads, sizes), np.repeat(chains.sides, sizes)
    group = valence(chains.variables, chains.starts, np.zeros((size, sizes)))
    members, places = heads[:, None] + np.int32(1), (2 * counts + sides + 1).astype(np.uint64)
    return FamilyFactors("valence", members, places, np.arange(len(heads)), group)


def _with_arcs(chains: link_tables.Chains) -> link_tables.Chains:
    kept = np.diff(chains.starts) > 0
    starts = np.unique(chains.starts)
    return replace(chains, starts=starts, heads=chains.heads[kept], sides=chains.sides[kept])


FAMILIES: dict[str, Callable[[Arcs], FamilyFactors]] = {
    "grand": partial(_pairs, "grand", link_tables.grandparents, second_order.grand_places),
    "childseq": _childseq,
    "valence": _valence,
    # A factor for each pair of crossing arcs, few after pruning: the grouped factors of thesis 3.4.2 include
    # EXACTLY1 for every pair of words, and messages that count it repeatedly diverge.
    "nocross": partial(
        _pairs, "nocross", link_tables.crossing_pairs, lambda words: np.ones(len(words), dtype=np.uint64)
    ),
}


# Hard constraints (thesis 3.4.4): a tree (PTREE where arcs may not cross, else TREE), or weaker conditions.
CONSTRAINTS: dict[str, Callable[[Table, TreeDecoder], list[FactorGroup]]] = {
    "tree": lambda links, trees: [
        (projective_tree if trees.projective else tree)(links, single_root=trees.single_root)
    ],
    "exactly1": lambda links, _: [exactly_one(link_tables.candidate_heads(links))],
    "exactly1+no2cycle": lambda links, _: [no2cycle(links), exactly_one(link_tables.candidate_heads(links))],
    "atmost1": lambda links, _: [at_most_one(link_tables.candidate_heads(links))],
    "not2": lambda links, _: [not2(links)],
}


@dataclass(frozen=True)
class FactorScorer(HashedWeights):
    """A linear scorer of factors of all families; templates: qsproj.features.second_order."""

    prefix = "factor_"

    @cached_property
    def compiled(self) -> dict[str, second_order.CompiledFamily]:
        """The templates of each family, for sentences encoded for the arc templates of the same name."""
        attributes = compile_templates(ARC_TEMPLATE_SETS[self.template_set]).attributes
        own = second_order.TEMPLATE_SETS[self.template_set]
        return {name: second_order.compile_family(name, own[name], attributes) for name in own}

    def features(self, encoded: EncodedSentence, families: Sequence[FamilyFactors]) -> list[FactorFeatures]:
        features = partial(second_order.factor_features, encoded, buckets=len(self.weights))
        return [features(self.compiled[one.name], one.members, one.places) for one in families]

    def scores(self, features: Sequence[FactorFeatures]) -> list[Floats]:
        return [score_factors(family, self.weights) for family in features]


DAMPING = 0.3  # damping of messages: undamped ones overshoot where factors are strong
Expectations = tuple[Floats, list[Floats]]


def propagate(
    graph: SentenceGraph,
    link_scores: Floats,
    scores: Sequence[Floats],
    *,
    iterations: int,
    maximise: bool = False,
    tolerance: float = 1e-3,
    damping: float = DAMPING,
) -> Beliefs:
    """Pass messages, with scores float64[E] of LINK and float64[F] of each family; hard constraint last."""
    limits = BPOptions(schedule="sequential", max_iterations=iterations, tolerance=tolerance, damping=damping)
    return run(graph.with_scores(link_scores, scores), limits, maximise=maximise)


def arc_log_odds(beliefs: Beliefs) -> Floats:
    """Return the log-odds of every arc, float64[E], where a tree is required by the belief of that factor."""
    last = beliefs.graph.groups[-1]
    if not isinstance(last, Tree | Forest):
        return beliefs.log_ratios
    incoming = beliefs.incoming[-1]
    return incoming + last.propagate(incoming, maximise=beliefs.maximised)


def expectations(
    graph: SentenceGraph, link_scores: Floats, scores: Sequence[Floats], *, iterations: int
) -> tuple[Floats, Expectations]:
    return expected(graph, propagate(graph, link_scores, scores, iterations=iterations))


def expected(graph: SentenceGraph, beliefs: Beliefs) -> tuple[Floats, Expectations]:
    """Return the arcs' log-odds float64[E], and the gradient of Bethe log Z by the scores (eq. 2.18)."""
    log_odds = arc_log_odds(beliefs)
    own = zip(graph.families, beliefs.graph.groups[FIRST_FAMILY:], beliefs.incoming[FIRST_FAMILY:])
    fired = [family.expected(group, incoming) for family, group, incoming in own]
    return log_odds, (probability(log_odds), fired)
