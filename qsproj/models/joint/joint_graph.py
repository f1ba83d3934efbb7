"""The factor graph of a sentence pair, built once and scored again whenever the weights change.

The known variables of a pair determine its factors; scores only weight them. Training caches the graphs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.factors.alignment import align_hmm, align_itg, fertility, word_starts
from qsproj.bp.factors.booleans import all_true, any_pair, link
from qsproj.bp.graph import FactorGraph, FactorGroup, checked_scores, factor_graph, rescored
from qsproj.bp.run import Beliefs, BPOptions, Status, log_odds, odds_of, probability, run
from qsproj.conventions import Floats, Numbers, Scores
from qsproj.corpus.sentence import SentencePair
from qsproj.features import joint_templates
from qsproj.features.joint_templates import FERTILITY_BINS, JUMP_SCORES
from qsproj.kernels.features.sparse_gradient import score_rows
from qsproj.models.graph.graph_factors import CONSTRAINTS
from qsproj.models.joint import joint_structure
from qsproj.models.joint.joint_options import Propagation
from qsproj.models.joint.joint_structure import NO_VARIABLE, TRUE_STATE, UNKNOWN, JointStructure, Side, States
from qsproj.models.joint.joint_trees import FamilyScores, TreeScores
from qsproj.models.joint.tag_choices import NEUTRAL, PreparedTags, TagFactors, TagScales, TagScores, no_scores
from qsproj.models.packing import packed_weights, unpack_weights
from qsproj.models.schema import Arrays

# The parts with weights of hashed features, in training order, and their numbers of columns.
LEARNED = {"links": None, "fertility": FERTILITY_BINS, "factors": None, "jumps": JUMP_SCORES}
# The aligner's log-odds are a fixed part of a link's score; its certainties are clipped.
MAX_LINK_LOG_ODDS = 4.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointScores:
    """Natural-log scores of all factors in a pair's graph; or beliefs about them, as probabilities."""

    source: Scores  # float64[m+1, m+1]: arcs; those of an observed tree are not read
    target: Scores  # float64[n+1, n+1]: likewise
    links: Floats  # float64[k]: candidate links
    fertility: Floats  # float64[m + n, B]: by number of links, the last bin open: source, then target words
    factors: Floats  # float64[F]: quasi-synchronous factors
    # float64[A, JUMP_SCORES]: one row for each ALIGNHMM: jumps by width, then no link
    jumps: Floats = field(default_factory=lambda: np.zeros((0, JUMP_SCORES)))
    source_factors: FamilyScores = ()  # float64[F] for each second-order family of the side
    target_factors: FamilyScores = ()  # likewise
    tags: TagScores | None = None  # where there are any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointBeliefs(JointScores):
    """Probabilities by belief propagation, without second-order source factors; jumps as counts."""

    status: Status


def interpolated(first: JointBeliefs, second: JointBeliefs, share: float) -> JointBeliefs:
    """Interpolate two beliefs, the second at weight ``share``; second-order ones are those of the first."""

    def mean(one: Floats, other: Floats) -> Floats:
        return (1.0 - share) * one + share * other

    names = ("source", "target", *LEARNED)
    arrays = {name: mean(getattr(first, name), getattr(second, name)) for name in names}
    status = second.status if second.status is Status.CONTRADICTION else first.status
    tags = first.tags and second.tags and TagScores(*map(mean, first.tags, second.tags))
    return replace(first, **dict[str, Any](arrays), status=status, tags=tags)


@dataclass(frozen=True, slots=True, eq=False)
class JointGraph:
    """The factors of a pair, given its known variables, as :func:`joint_graph` builds them."""

    structure: JointStructure
    known: States  # int8[V]: from `known_states`
    # int64[f]: the quasi-synchronous factors that fire in any case, and those of each group of ``factors``
    joining: tuple[NDArray[np.int64], ...]
    tags: TagFactors | None  # None where all tags are certain
    free: Sequence[Side]  # the sides whose arcs are all unknown
    parts: Mapping[str, slice]  # the slice of groups of each part
    graph: FactorGraph  # all scores zero

    def with_scores(self, scores: JointScores) -> FactorGraph:
        """Return the factor graph with these scores; ValueError for NaN."""
        groups = list(self.graph.groups)
        states = self.known[self.structure.link_variables]
        links = np.where(states == joint_structure.FALSE_STATE, -np.inf, scores.links)
        unary = [np.where(states == TRUE_STATE, np.inf, links)]
        for name in ("source", "target"):
            side = getattr(self.structure, name)
            if side in self.free:
                unary.append(getattr(scores, name)[side.arcs != NO_VARIABLE])
                own = zip(side.families, getattr(scores, f"{name}_factors"), strict=True)
                groups[self.parts[f"{name} families"]] = [family.with_scores(one) for family, one in own]
        joined = np.concatenate(unary)
        if np.isnan(joined).any():
            raise ValueError("a score is NaN; NaN often comes from weights that diverged in training")
        groups[0] = rescored(groups[0], joined)
        if self.tags is not None and scores.tags is not None:
            groups[self.parts["tags"]] = self.tags.groups(scores.tags)
        joining = [scores.factors[chosen] for chosen in self.joining[1:]]
        rest = {"fertility": [scores.fertility], "jumps": list(scores.jumps), "factors": joining}
        for name, arrays in rest.items():
            both = zip(groups[self.parts[name]], arrays, strict=True)
            groups[self.parts[name]] = [
                rescored(group, checked_scores(own, group.scores.shape, name)) for group, own in both
            ]
        return replace(self.graph, groups=tuple(groups))


def joint_graph(structure: JointStructure, known: States) -> JointGraph:
    """Build the factors of a pair over the variables unknown in ``known`` int8[V]."""
    fixed, *reduced = joint_structure.free_rows(structure.rows, known)
    joining = [(chosen, variables) for chosen, variables in reduced if len(chosen)]
    tags = None if structure.tags is None else TagFactors(structure.tags, known)
    m, n = (len(side.arcs) - 1 for side in (structure.source, structure.target))
    fertile = np.concatenate([structure.links[:, 0], structure.links[:, 1] + m])
    unknown, sides = known == UNKNOWN, (structure.source, structure.target)
    free = [side for side in sides if side.trees and unknown[side.arcs[side.arcs != NO_VARIABLE]].all()]
    arcs = [side.arcs[side.arcs != NO_VARIABLE] for side in free]
    edges = np.concatenate([structure.link_variables, *arcs])
    trees = [group for side in free if side.trees for group in CONSTRAINTS["tree"](side.arcs, side.trees)]
    families = [[family.group for family in side.families if side in free] for side in sides]
    fertilities = fertility(np.tile(structure.link_variables, 2), fertile, np.zeros((m + n, FERTILITY_BINS)))
    # In the order in which they send messages.
    parts: dict[str, list[FactorGroup]] = {
        "sides": [link(edges, np.zeros(len(edges))), *trees],
        "source families": families[0],
        "target families": families[1],
        "tags": [] if tags is None else tags.groups(no_scores(tags.tags)),
        # SOURCEFERT and TARGETFERT: source words, then target words.
        "fertility": [fertilities],
        "jumps": _align_hmms(structure),
        "hard": _hard_constraints(structure, known),
        "factors": [all_true(variables, np.zeros(len(chosen))) for chosen, variables in joining],
    }
    ends = np.cumsum([0, *map(len, parts.values())]).tolist()
    slices = dict(zip(parts, map(slice, ends[:-1], ends[1:]), strict=True))
    graph = factor_graph(structure.states, list(chain(*parts.values())))
    chosen = fixed[0], *(chosen for chosen, _ in joining)
    return JointGraph(structure, known, chosen, tags, free, slices, graph)


def _hard_constraints(structure: JointStructure, known: States) -> list[FactorGroup]:
    groups: list[FactorGroup] = []
    undecided = known[structure.results] == UNKNOWN
    if undecided.any():
        groups.append(any_pair(structure.results[undecided], structure.pairs[undecided]))
    if structure.align_itg:
        groups.append(align_itg(structure.link_variables, *structure.links.T))
    if structure.synchronous:
        groups += joint_structure.synchronous_groups(structure, known)
    return groups


def _align_hmms(structure: JointStructure) -> list[FactorGroup]:
    groups: list[FactorGroup] = []
    for name in structure.align_hmms:
        sides = structure.target, structure.source
        words, positions = structure.links[:, 1], structure.links[:, 0]
        if name == "SOURCEHMM":
            sides, words, positions = sides[::-1], positions, words
        n, n_positions = (len(side.arcs) - 1 for side in sides)
        order = np.argsort(words, kind="stable")
        links = structure.link_variables[order], word_starts(words, n), positions[order]
        groups.append(align_hmm(*links, np.zeros(JUMP_SCORES), n_source=n_positions))
    return groups


def infer_jointly(
    structure: JointStructure, scores: JointScores, known: States, propagation: Propagation
) -> JointBeliefs:
    """Build the graph of a pair over the variables unknown in ``known`` int8[V], and propagate beliefs."""
    return pass_messages(joint_graph(structure, known), scores, propagation)


def pass_messages(graph: JointGraph, scores: JointScores, propagation: Propagation) -> JointBeliefs:
    """Run belief propagation on a graph; return the probability of each variable and factor."""
    structure, known = graph.structure, graph.known
    beliefs = run(graph.with_scores(scores), BPOptions(schedule="sequential", **asdict(propagation)))
    factors = np.zeros(len(structure.rows))
    factors[graph.joining[0]] = 1.0
    for chosen, firing in zip(graph.joining[1:], _expected(graph, "factors", beliefs), strict=True):
        factors[chosen] = firing
    tags = None
    if graph.tags is not None:
        of_arcs = _probabilities(beliefs, graph.tags.tags.arcs, known)
        of_links = probability(log_odds(beliefs, graph.tags.tags.links))
        tags = graph.tags.expected(_expected(graph, "tags", beliefs), of_arcs, of_links)
    return JointBeliefs(
        source=_arc_probabilities(structure.source, beliefs, known),
        target=_arc_probabilities(structure.target, beliefs, known),
        links=probability(log_odds(beliefs, structure.link_variables)),
        fertility=_expected(graph, "fertility", beliefs)[0],
        factors=factors,
        status=beliefs.status,
        jumps=np.array(_expected(graph, "jumps", beliefs)).reshape(-1, JUMP_SCORES),
        target_factors=_second_order(graph, beliefs),
        tags=tags,
    )


def _expected(graph: JointGraph, name: str, beliefs: Beliefs) -> list[Floats]:
    part = graph.parts[name]
    heard = zip(beliefs.graph.groups[part], beliefs.incoming[part], strict=True)
    return [group.expected(incoming) for group, incoming in heard]


def _second_order(graph: JointGraph, beliefs: Beliefs) -> FamilyScores:
    target, part = graph.structure.target, graph.parts["target families"]
    if target.trees is None:
        return ()
    groups, incoming = beliefs.graph.groups[part], beliefs.incoming[part]
    if target not in graph.free:
        # All of their arcs are known: 1 for factors that fire.
        groups = tuple(family.group for family in target.families)
        true = (graph.known[group.edges] == TRUE_STATE for group in groups)
        incoming = tuple(np.where(one, np.inf, -np.inf) for one in true)
    heard = zip(target.families, groups, incoming, strict=True)
    return tuple(family.expected(group, own) for family, group, own in heard)


def _arc_probabilities(side: Side, beliefs: Beliefs, known: States) -> Scores:
    chances = np.zeros(side.arcs.shape)
    arcs = side.arcs != NO_VARIABLE
    chances[arcs] = _probabilities(beliefs, side.arcs[arcs], known)
    return chances


def _probabilities(beliefs: Beliefs, variables: Numbers, known: States) -> Floats:
    states = known[variables]
    return np.where(states == UNKNOWN, probability(log_odds(beliefs, variables)), states == TRUE_STATE)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PreparedPair:
    """The graph of a pair with the features of its factors: all that does not depend on the weights."""

    structure: JointStructure
    source: Scores  # as in JointScores, as log-probabilities of each word's heads
    target: Scores  # likewise
    prior: Floats  # float64[k]: the aligner's log-odds of each link
    buckets: Mapping[str, Numbers]  # features int32[rows, T] of each part in LEARNED
    source_factors: FamilyScores = ()  # as in JointScores
    target_factors: FamilyScores = ()  # as in JointScores
    tags: PreparedTags | None = None
    source_relations: tuple[str, ...] | None = None  # of observed trees


def prepare_pair(
    pair: SentencePair, sides: Sequence[Side], scores: Sequence[TreeScores], *, families: tuple[str, ...]
) -> PreparedPair:
    """Build the graph of a pair, hash its features, and copy its aligner's probabilities."""
    (source, target), (source_scores, target_scores) = sides, scores
    first = 1 + max(joint_structure.ALWAYS_TRUE, int(source.arcs.max()), int(target.arcs.max()))
    links = pair.alignment.links
    structure = joint_structure.joint_structure(source, target, links, first, families=families)
    words = joint_templates.word_hashes(pair.source), joint_templates.word_hashes(pair.target)
    odds = odds_of(joint_templates.link_posteriors(pair.alignment))
    named = zip(words, ("SOURCEFERT", "TARGETFERT"), strict=True)
    fertilities = [joint_templates.fertility_buckets(own.tags, side=name) for own, name in named]
    return PreparedPair(
        structure=structure,
        source=_head_log_probabilities(source_scores.links),
        target=_head_log_probabilities(target_scores.links),
        source_factors=source_scores.factors if source.families else (),
        target_factors=target_scores.factors,
        prior=np.clip(odds, -MAX_LINK_LOG_ODDS, MAX_LINK_LOG_ODDS),
        buckets={
            "links": joint_templates.link_buckets(pair, *words),
            "fertility": np.concatenate(fertilities),
            "factors": joint_templates.factor_buckets(structure.families, structure.words, *words),
            "jumps": joint_templates.jump_buckets(structure.align_hmms),
        },
    )


def _head_log_probabilities(scores: Scores) -> Scores:
    """Shift each word's scores to log-probabilities of its heads; tree posteriors do not change."""
    own = scores.copy()
    np.fill_diagonal(own, -np.inf)
    own[:, 0] = 0.0
    top = own.max(axis=0)
    shifted: Scores = own - top - np.log(np.exp(own - top).sum(axis=0))
    # Not read; a scale of 0 would make NaN of -inf.
    np.fill_diagonal(shifted, 0.0)
    return shifted


@dataclass(frozen=True, slots=True, eq=False)
class JointWeights:
    """Learned weights: float64[2**HASH_BITS] of :mod:`qsproj.features.joint_templates`, and scales."""

    weights: Floats
    target_scale: float = 1.0  # multiplies all scores of the target parser
    aligner_scale: float = 1.0  # of the aligner's log-odds of links; 0: all candidates alike
    tag_scales: TagScales = NEUTRAL  # of the parts of PreparedTags

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return packed_weights("joint_", self.weights)

    @staticmethod
    def from_arrays(arrays: Arrays, **scales: Any) -> "JointWeights":
        weights = unpack_weights("joint_", arrays, np.zeros(1 << joint_templates.HASH_BITS))
        return JointWeights(weights, **scales)

    @staticmethod
    def untrained() -> "JointWeights":
        return JointWeights(np.zeros(1 << joint_templates.HASH_BITS))

    def scores(self, pair: PreparedPair) -> JointScores:
        learned = {
            name: score_rows(rows, self.weights).reshape((-1, columns) if (columns := LEARNED[name]) else -1)
            for name, rows in pair.buckets.items()
        }
        learned["links"] += self.aligner_scale * pair.prior
        return JointScores(
            source=pair.source,
            target=self.target_scale * pair.target,
            **learned,
            source_factors=pair.source_factors,
            target_factors=tuple(self.target_scale * scores for scores in pair.target_factors),
            tags=None if pair.tags is None else pair.tags.scores(self.tag_scales, self.weights),
        )
