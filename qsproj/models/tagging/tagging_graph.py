"""The factor graph of a sentence whose tags are not known: arcs and tags, and the factors over them.

*Source*: thesis 2.2.4 and 2.2.5 (LINK, TAG, TRIGRAM, TAGLINK, PTREE or TREE).
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.beliefs import probability
from qsproj.bp.factors.booleans import link
from qsproj.bp.factors.tags import tag, tag_link, trigram
from qsproj.bp.factors.trees import projective_tree, tree
from qsproj.bp.graph import FactorGraph, factor_graph
from qsproj.bp.group import rescored
from qsproj.bp.links import arcs_of, chosen_links
from qsproj.bp.options import Passing
from qsproj.bp.run import run
from qsproj.bp.status import Status
from qsproj.conventions import ROOT, Floats, Mask, Scores
from qsproj.features.atoms import EncodedSentence
from qsproj.kernels.features.second_order_features import FactorFeatures, score_factors
from qsproj.kernels.features.sparse_gradient import score_rows
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.graph.graph_factors import arc_log_odds
from qsproj.models.packing import packed_weights, unpack_weights
from qsproj.models.schema import Archive, Arrays, shaped
from qsproj.models.tree_inference import TreeInference

# Where groups stand. The tree comes last, and so has the last word in every iteration.
LINK, TAG, TRIGRAM, ROOT_TAGLINK, TAGLINK, TREE = range(6)

Numbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class FactorValues:
    """A number for each factor and state of its tags: scores (natural log), or expected counts.

    ``links`` float64[E]: each arc. ``tags`` float64[n, K]: each tag of each word. ``trigrams`` float64[K+1,
    K+1, K+1]: [tag before the last, last tag, tag], K being the boundary. ``tag_links`` float64[P]: each arc
    with each pair of tags of its words.
    """

    links: Floats
    tags: Floats
    trigrams: Floats
    tag_links: Floats


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TaggingGraph:
    """The candidate arcs of a sentence, the tags its words may have, and the factors over them.

    Variables are the E arcs, then the tags of the words 1..n, of K states each, then the tag of the root, of
    one state. Arcs are listed head after head, so that those from the root come first.

    ``heads``, ``dependents`` int32[E]: the ends of each arc.
    ``possible`` bool[n, K]: the tags that each word may have, at least one.
    ``candidate_words``, ``candidate_tags`` int32[C]: the root, with tag 0 which means nothing; then each word
        with each tag that it may have.
    ``pair_arcs`` int32[P], ``pair_candidates`` int32[P, 2]: for each pair of tags of each arc, the arc, and
        the candidates that are its head and its dependent.
    ``pair_slots`` int64[P]: the place of its score in ROOT_TAGLINK or, for an arc between words, TAGLINK.
    ``graph``: groups in the order above; all scores zero.
    """

    heads: Numbers
    dependents: Numbers
    possible: Mask
    candidate_words: Numbers
    candidate_tags: Numbers
    pair_arcs: Numbers
    pair_candidates: Numbers
    pair_slots: NDArray[np.int64]
    graph: FactorGraph

    @property
    def n_root_pairs(self) -> int:
        return int(np.searchsorted(self.pair_arcs, np.count_nonzero(self.heads == ROOT)))

    def with_scores(self, scores: FactorValues) -> FactorGraph:
        """Return the graph with scores, natural log; those of tags that a word may not have are not read."""
        groups = self.graph.groups
        rooted = self.n_root_pairs
        of_root, between = scores.tag_links[:rooted], scores.tag_links[rooted:]
        scored = (
            rescored(groups[LINK], scores.links),
            rescored(groups[TAG], np.where(self.possible, scores.tags, -np.inf)),
            rescored(groups[TRIGRAM], scores.trigrams),
            rescored(groups[ROOT_TAGLINK], of_root, self.pair_slots[:rooted]),
            rescored(groups[TAGLINK], between, self.pair_slots[rooted:]),
            groups[TREE],
        )
        return replace(self.graph, groups=scored)


def tagging_graph(candidates: Mask, possible: Mask, inference: TreeInference) -> TaggingGraph:
    """Lay out the factors over arcs bool[n+1, n+1], with a tree among them, and tags bool[n, K], K >= 2."""
    n, n_tags = possible.shape
    links = chosen_links(candidates)
    heads, dependents, arcs = arcs_of(links)
    tags = arcs.size + np.arange(n)
    root_tag = arcs.size + n
    rooted = int(np.count_nonzero(heads == ROOT))
    make_tree = projective_tree if inference.projective else tree
    groups = [
        link(arcs, np.zeros(arcs.size)),
        tag(tags, np.zeros((n, n_tags))),
        trigram(tags, np.zeros((n_tags + 1, n_tags + 1, n_tags + 1))),
        tag_link(
            arcs[:rooted],
            np.full(rooted, root_tag),
            tags[dependents[:rooted] - 1],
            np.zeros((rooted, 1, n_tags)),
        ),
        tag_link(
            arcs[rooted:],
            tags[heads[rooted:] - 1],
            tags[dependents[rooted:] - 1],
            np.zeros((arcs.size - rooted, n_tags, n_tags)),
        ),
        make_tree(links, single_root=inference.single_root),
    ]
    states = np.repeat([2, n_tags, 1], [arcs.size, n, 1])
    words, word_tags = np.nonzero(possible)
    pair_arcs, pair_candidates, pair_slots = _pairs(heads, dependents, possible)
    return TaggingGraph(
        heads=heads,
        dependents=dependents,
        possible=possible,
        candidate_words=np.append(ROOT, words + 1).astype(np.int32),
        candidate_tags=np.append(0, word_tags).astype(np.int32),
        pair_arcs=pair_arcs,
        pair_candidates=pair_candidates,
        pair_slots=pair_slots,
        graph=factor_graph(states, groups),
    )


def _pairs(heads: Numbers, dependents: Numbers, possible: Mask) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
    """Return arc, candidates and slot of each pair of possible tags of each arc, arc after arc."""
    n_tags = possible.shape[1]
    numbers = np.cumsum(possible).reshape(possible.shape)
    rooted = int(np.count_nonzero(heads == ROOT))
    arcs, tags = np.nonzero(possible[dependents[:rooted] - 1])
    from_root = np.stack([np.zeros_like(arcs), numbers[dependents[arcs] - 1, tags]], axis=1)
    between, head_tags, dependent_tags = np.nonzero(
        possible[heads[rooted:] - 1][:, :, None] & possible[dependents[rooted:] - 1][:, None, :]
    )
    of_words = np.stack(
        [
            numbers[heads[rooted + between] - 1, head_tags],
            numbers[dependents[rooted + between] - 1, dependent_tags],
        ],
        axis=1,
    )
    slots = np.append(arcs * n_tags + tags, (between * n_tags + head_tags) * n_tags + dependent_tags)
    return (
        np.append(arcs, rooted + between).astype(np.int32),
        np.concatenate([from_root, of_words]).astype(np.int32),
        slots.astype(np.int64),
    )


def observed_values(graph: TaggingGraph, agrees: Mask, tags: Numbers) -> FactorValues:
    """Return 0 or a count for each factor, given the tree's arcs bool[E] and each word's tag int32[n]."""
    n, n_tags = graph.possible.shape
    right = np.append(True, graph.candidate_tags[1:] == tags[graph.candidate_words[1:] - 1])
    trigrams = np.zeros((n_tags + 1,) * 3)
    bounded = np.concatenate([[n_tags, n_tags], tags, [n_tags]])
    np.add.at(trigrams, (bounded[:-2], bounded[1:-1], bounded[2:]), 1.0)
    one_hot = np.zeros((n, n_tags))
    one_hot[np.arange(n), tags] = 1.0
    fires = agrees[graph.pair_arcs] & right[graph.pair_candidates].all(axis=1)
    return FactorValues(agrees.astype(np.float64), one_hot, trigrams, fires.astype(np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class TaggingBeliefs:
    """Beliefs about arcs and tags.

    ``log_odds`` float64[E]: of each arc under the tree factor: probabilities of the heads of a word sum to
    one. ``expected``: the gradient of Bethe log Z by the scores (thesis eq. 2.18).
    """

    log_odds: Floats
    expected: FactorValues
    status: Status


def infer_tags_and_tree(
    graph: TaggingGraph, scores: FactorValues, *, iterations: int, tolerance: float = 1e-3
) -> TaggingBeliefs:
    """Pass messages, groups in turn; O(n^3 + n K^3 + A K^2) an iteration for A candidate arcs."""
    passing = Passing(schedule="sequential", max_iterations=iterations, tolerance=tolerance)
    beliefs = run(graph.with_scores(scores), passing)
    groups, incoming = beliefs.graph.groups, beliefs.incoming
    log_odds = arc_log_odds(beliefs)
    rooted = graph.n_root_pairs
    tag_links = [
        groups[index].expected(incoming[index]).reshape(-1)[graph.pair_slots[pairs]]
        for index, pairs in ((ROOT_TAGLINK, slice(None, rooted)), (TAGLINK, slice(rooted, None)))
    ]
    expected = FactorValues(
        probability(log_odds),
        groups[TAG].expected(incoming[TAG]),
        groups[TRIGRAM].expected(incoming[TRIGRAM]),
        np.concatenate(tag_links),
    )
    return TaggingBeliefs(log_odds, expected, beliefs.status)


TAG_LINK_BUCKETS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class TaggingFeatures:
    """The graph of a sentence and all that its scores are computed from, whatever the weights.

    ``encoded``: with the tagger's best tags, which the templates of arcs read. ``tag_scores`` float64[n, K]:
    log-probability of each tag by the tagger. ``tag_links``: features of each pair of tags of each arc.
    """

    encoded: EncodedSentence
    graph: TaggingGraph
    tag_scores: Floats
    tag_links: FactorFeatures


@lru_cache
def trigram_rows(n_tags: int) -> NDArray[np.int32]:
    """Return int32[(K+1)^3, 3]: for each trigram the numbers of its own weight, its bigram's, its tag's."""
    side = n_tags + 1
    codes = np.arange(side**3)
    rows = np.stack([codes, side**3 + codes % side**2, side**3 + side**2 + codes % side], axis=1)
    return rows.astype(np.int32)


def _trigram_weights(n_tags: int) -> int:
    return sum((n_tags + 1) ** length for length in (1, 2, 3))


@dataclass(frozen=True, slots=True, eq=False)
class TaggingWeights:
    """Learned weights of the factors over tags and arcs.

    ``arcs``: of LINK, the tagger's best tags taken as given. ``tag_links`` float32[TAG_LINK_BUCKETS].
    ``trigrams`` float64[(K+1)^3 + (K+1)^2 + K+1]: of trigrams, bigrams and single tags, as
    :func:`trigram_rows` numbers them.
    """

    arcs: ArcScorer
    tag_links: NDArray[np.float32]
    trigrams: Floats

    @staticmethod
    def untrained(template_set: str, *, n_tags: int) -> "TaggingWeights":
        return TaggingWeights(
            ArcScorer.untrained(template_set),
            np.zeros(TAG_LINK_BUCKETS, dtype=np.float32),
            np.zeros(_trigram_weights(n_tags)),
        )

    def scores(self, features: TaggingFeatures, arc_scores: Scores) -> FactorValues:
        """Return scores of all factors, given those of all arcs float64[n+1, n+1]."""
        graph = features.graph
        n_tags = graph.possible.shape[1]
        return FactorValues(
            arc_scores[graph.heads, graph.dependents],
            features.tag_scores,
            score_rows(trigram_rows(n_tags), self.trigrams).reshape((n_tags + 1,) * 3),
            score_factors(features.tag_links, self.tag_links),
        )

    def to_archive(self) -> Archive:
        header, arrays = self.arcs.to_archive()
        tag_links = packed_weights("tag_link_", self.tag_links)
        return {"arcs": header}, {**arrays, **tag_links, "trigram_weights": self.trigrams}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays, *, n_tags: int) -> "TaggingWeights":
        tag_links = unpack_weights("tag_link_", arrays, np.zeros(TAG_LINK_BUCKETS, dtype=np.float32))
        return TaggingWeights(
            ArcScorer.from_archive(header["arcs"], arrays),
            tag_links,
            shaped(arrays, "trigram_weights", (_trigram_weights(n_tags),)),
        )
