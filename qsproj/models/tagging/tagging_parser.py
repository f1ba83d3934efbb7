"""A parser that infers tags and tree jointly from words alone, by belief propagation.

A tagger, and a first-order parser that reads its tags, leave a few tags and heads for each word; the factor
graph over these has the factors TAG, TRIGRAM, LINK, TAGLINK and PTREE or TREE.

*Source*: thesis 2.2.4, 2.2.5 and 2.5.3.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.factors.booleans import exactly_one, link
from qsproj.bp.factors.tags import tag, tag_link, trigram
from qsproj.bp.factors.trees import projective_tree, tree
from qsproj.bp.graph import FactorGraph, factor_graph, rescored
from qsproj.bp.links import arcs_of, chosen_links
from qsproj.bp.run import BPOptions, Status, probability, run
from qsproj.conventions import ROOT, Floats, Mask, Scores
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_columns, with_probabilities
from qsproj.corpus.sentence import Sentence, check_sentence
from qsproj.errors import SentenceError, check_name
from qsproj.features.atoms import EncodedSentence
from qsproj.features.second_order import arc_places, tag_hashes, tag_link_features
from qsproj.kernels.features.second_order_features import FactorFeatures, score_factors
from qsproj.kernels.features.sparse_gradient import score_rows
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.constraints import ConstrainedInference, Constraints, span_arcs
from qsproj.models.graph.graph_factors import arc_log_odds, candidate_arcs
from qsproj.models.packing import joined, packed_weights, unnested, unpack_weights
from qsproj.models.parser import ArcPosterior, Lesson, Parser, Posterior
from qsproj.models.schema import Archive, Arrays, shaped
from qsproj.models.spec import check, option_field, restored
from qsproj.models.storage import described
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tree_decoder import TreeDecoder

# Order of the groups. The tree comes last, so that every iteration ends with it.
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
    ``candidate_words``, ``candidate_tags`` int32[C]: the root, with the placeholder tag 0; then each word
        with each tag that it may have.
    ``pair_arcs`` int32[P], ``pair_candidates`` int32[P, 2]: for each pair of tags of each arc, the arc, and
        the candidates that are its head and its dependent.
    ``pair_slots`` int64[P]: index of its score in ROOT_TAGLINK or, for an arc between words, TAGLINK.
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
        """Return the graph with scores, natural log; scores of impossible tags are not read."""
        groups = self.graph.groups
        rooted = self.n_root_pairs
        of_root, between = scores.tag_links[:rooted], scores.tag_links[rooted:]
        scored = (
            rescored(groups[LINK], scores.links),
            rescored(groups[TAG], np.where(self.possible, scores.tags, -np.inf)),
            rescored(groups[TRIGRAM], scores.trigrams),
            rescored(groups[ROOT_TAGLINK], of_root, self.pair_slots[:rooted]),
            rescored(groups[TAGLINK], between, self.pair_slots[rooted:]),
            *groups[TREE:],
        )
        return replace(self.graph, groups=scored)


def tagging_graph(
    candidates: Mask,
    possible: Mask,
    inference: TreeDecoder,
    *,
    spans: Sequence[tuple[int, int]] = (),
) -> TaggingGraph:
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
        *([exactly_one(span_arcs(links, spans))] if spans else []),
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
    passing = BPOptions(schedule="sequential", max_iterations=iterations, tolerance=tolerance)
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
    """The graph of a sentence and all inputs of its scores that do not depend on the weights.

    ``encoded``: with the tagger's best tags, which the templates of arcs read. ``tag_scores`` float64[n, K]:
    log-probability of each tag by the tagger. ``tag_links``: features of each pair of tags of each arc.
    """

    encoded: EncodedSentence
    graph: TaggingGraph
    tag_scores: Floats
    tag_links: FactorFeatures


@lru_cache
def trigram_rows(n_tags: int) -> NDArray[np.int32]:
    """Return int32[(K+1)^3, 3]: the weight indices of each trigram, its bigram and its tag."""
    side = n_tags + 1
    codes = np.arange(side**3)
    rows = np.stack([codes, side**3 + codes % side**2, side**3 + side**2 + codes % side], axis=1)
    return rows.astype(np.int32)


def _trigram_weights(n_tags: int) -> int:
    return sum((n_tags + 1) ** length for length in (1, 2, 3))


@dataclass(frozen=True, slots=True, eq=False)
class TaggingWeights:
    """Trained weights of the factors over tags and arcs.

    ``arcs``: of LINK, given the tagger's best tags. ``tag_links`` float32[TAG_LINK_BUCKETS].
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


# Tags and arcs are decoded by their beliefs; there is no search for the best joint assignment.
DECODERS = ("mbr",)
# Lower bound of the tagger's probabilities in the graph.
LEAST_PROBABILITY = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggingOptions:
    """Pruning by tagger and first order, and iterations of message passing in training and parsing."""

    iterations: int = option_field(5, least=1)
    arc_threshold: float = option_field(3e-3, least=0.0, most=1.0, within=True)
    tag_threshold: float = option_field(1e-2, least=0.0, most=1.0, within=True)

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True, eq=False)
class TagsAndArcs:
    """Beliefs: ``tags`` float64[n, K] in the tagger's order, ``arcs`` float64[n+1, n+1]."""

    tags: Floats
    arcs: Scores
    status: Status


@dataclass(frozen=True)
class TaggingParser(Parser):
    """A parser of words alone; ``base``: the first order over the tagger's tags, which prunes and labels."""

    tagger: Tagger
    base: ArcParser
    weights: TaggingWeights
    options: TaggingOptions
    refuses_training = None

    @property
    def inference(self) -> TreeDecoder:
        return self.base.inference

    @property
    def reads(self) -> tuple[str, ...]:
        return ("forms",)

    @property
    def ignored(self) -> tuple[str, ...]:
        return self.base.ignored

    @property
    def word_tagger(self) -> Tagger:
        return self.tagger

    def posterior(self, sentence: Sentence, given: Constraints | None = None) -> Posterior:
        return ArcPosterior(self.beliefs(sentence, given).arcs)

    def beliefs(self, sentence: Sentence, given: Constraints | None = None) -> TagsAndArcs:
        return self._beliefs(sentence, given)[0]

    def _beliefs(self, sentence: Sentence, given: Constraints | None) -> tuple[TagsAndArcs, TreeDecoder]:
        check_sentence(sentence)
        tagged = self.tagger.tag(sentence)
        distribution = self.tagger.tag_distribution(sentence)
        if given is not None:
            known = self._known_tags(given)
            distribution = distribution.copy()
            for word, tag in known.items():
                distribution[word] = np.arange(len(self.tagger.tags)) == tag
            upos = [
                self.tagger.tags[known[word]] if word in known else tag
                for word, tag in enumerate(tagged.upos)
            ]
            tagged = with_columns(tagged, upos=upos)
        inference = self.base.constrained(tagged, given)
        encoded = self.base.scorer.encode(tagged)
        first_order = self.base.scorer.scores(self.base.scorer.features(encoded))
        marginals = inference.infer(first_order)[1]
        spans = () if given is None else given.spans
        features = self.features(encoded, distribution, marginals, inference=inference, spans=spans)
        arc_scores = self.weights.arcs.scores(self.weights.arcs.features(encoded))
        if isinstance(inference, ConstrainedInference):
            arc_scores = arc_scores + inference.evidence
        graph = features.graph
        found = infer_tags_and_tree(
            graph, self.weights.scores(features, arc_scores), iterations=self.options.iterations
        )
        if found.status is Status.CONTRADICTION:
            return TagsAndArcs(distribution, marginals, found.status), inference
        arcs = np.zeros_like(marginals)
        arcs[graph.heads, graph.dependents] = found.expected.links
        return TagsAndArcs(found.expected.tags, arcs, found.status), inference

    def _known_tags(self, given: Constraints) -> dict[int, int]:
        known = {}
        for word, own in enumerate(given.tags):
            if own == UNSPECIFIED:
                continue
            if own not in self.tagger.tags:
                raise SentenceError(
                    found=f"the tag {own}, which is to be kept",
                    expected=f"one that the model knows: {', '.join(self.tagger.tags)}",
                    remedy="change it, or put _ in its place",
                    word=word + 1,
                )
            known[word] = self.tagger.tags.index(own)
        return known

    def features(
        self,
        encoded: EncodedSentence,
        distribution: Floats,
        marginals: Scores,
        *,
        required_arcs: Mask | None = None,
        required_tags: Mask | None = None,
        inference: TreeDecoder | None = None,
        spans: Sequence[tuple[int, int]] = (),
    ) -> TaggingFeatures:
        """Prune and build the graph of a sentence, given distributions of tags and arcs.

        ``required_arcs``, ``required_tags`` bool[n+1, n+1], bool[n, K]: exempt from pruning, in training.
        ``inference``, ``spans``: the trees to choose from, where they are constrained.
        """
        inference = inference or self.inference
        candidates = candidate_arcs(marginals, inference, threshold=self.options.arc_threshold)
        possible = distribution >= self.options.tag_threshold
        possible[np.arange(len(possible)), distribution.argmax(axis=1)] = True
        if required_arcs is not None:
            candidates |= required_arcs
        if required_tags is not None:
            possible |= required_tags
        attributes, tags = self.base.scorer.templates.attributes, self.tagger.tags
        graph = tagging_graph(candidates, possible, inference, spans=spans)
        pairs = tag_link_features(
            encoded,
            attributes,
            (graph.candidate_words, tag_hashes(tags)[graph.candidate_tags]),
            graph.pair_candidates,
            arc_places(graph.heads[graph.pair_arcs], graph.dependents[graph.pair_arcs]),
            buckets=TAG_LINK_BUCKETS,
        )
        return TaggingFeatures(encoded, graph, np.log(np.maximum(distribution, LEAST_PROBABILITY)), pairs)

    def parsed(
        self, sentence: Sentence, *, decode: str, confidence: bool, given: Constraints | None
    ) -> Sentence:
        """Return the sentence with UPOS, heads and relations; ``confidence`` also puts ``UposProb=`` in MISC.

        Each tag is the most probable one, and the tree the one with most expected right heads.
        """
        check_name("decoder of a parser that tags", decode, DECODERS)
        believed, inference = self._beliefs(sentence, given)
        tags = believed.tags.argmax(axis=1)
        heads = inference.most_right(believed.arcs)
        tagged = with_columns(sentence, upos=[self.tagger.tags[tag] for tag in tags.tolist()])
        chances = believed.arcs if confidence else None
        parsed = self.base.attached(tagged, heads, probabilities=chances, given=given)
        return with_probabilities(parsed, "UposProb", believed.tags.max(axis=1)) if confidence else parsed

    def fine_tuned(self, trees: Sequence[Lesson], *, rng: np.random.Generator) -> "TaggingParser":
        return replace(self, base=self.base.fine_tuned(trees, rng=rng))

    def cut(self, text: str) -> Iterator[Sentence]:
        return self.tagger.cut(text)

    def to_archive(self) -> Archive:
        parts = {name: (f"{name}_", getattr(self, name)) for name in ("tagger", "base", "weights")}
        header, arrays = joined(parts)
        return {**header, "options": asdict(self.options)}, arrays

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "tagger": described("tagger", header["tagger"]),
            "parser": described("arc-parser", header["base"]),
        }

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "TaggingParser":
        tagger = Tagger.from_archive(header["tagger"], unnested("tagger_", arrays))
        own = unnested("weights_", arrays)
        return TaggingParser(
            tagger,
            ArcParser.from_archive(header["base"], unnested("base_", arrays)),
            TaggingWeights.from_archive(header["weights"], own, n_tags=len(tagger.tags)),
            restored(TaggingOptions(), header["options"]),
        )
