"""A parser that infers tags and tree jointly from words alone, by belief propagation.

A tagger, and a first-order parser that reads its tags, leave a few tags and heads for each word; the factor
graph over these has the factors TAG, TRIGRAM, LINK, TAGLINK and PTREE or TREE.

*Source*: thesis 2.2.4, 2.2.5 and 2.5.3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.factors.booleans import exactly_one, link
from qsproj.bp.factors.tags import tag, tag_link, trigram
from qsproj.bp.graph import FactorGroup, factor_graph
from qsproj.bp.links import arcs_of, chosen_links
from qsproj.bp.run import Status
from qsproj.conventions import ROOT, Floats, Mask, Numbers, Rng, Scores, Weights
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
from qsproj.models.constraints import ConstrainedInference, Given, candidate_arcs, span_arcs
from qsproj.models.graph import graph_factors
from qsproj.models.packing import joined, packed_weights, unnested, unpack_weights
from qsproj.models.parser import Parser, TrainingTree
from qsproj.models.schema import Archive, Arrays, shaped
from qsproj.models.spec import CheckedOptions, option_field, restored
from qsproj.models.storage import described
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tree_decoder import TreeDecoder

# The families of a sentence's graph, in their order.
TAG, TRIGRAM, ROOT_TAGLINK, TAGLINK = range(4)
TAG_LINK_BUCKETS = 1 << 20
LEAST_PROBABILITY = 1e-6  # lower bound of the tagger's probabilities in the graph
# Scores (natural log) or expected counts: of arcs float64[E]; and of each family: of the tags of words
# float64[n * K]; of [tag before the last, last tag, tag] float64[(K+1)^3], K being the boundary; of each pair
# of tags of each arc from the root, and between words.
FactorValues = graph_factors.Expectations


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TaggingGraph(graph_factors.SentenceGraph):
    """The candidate arcs of a sentence, the tags its words may have, and the factors over them.

    Variables are the E arcs, then the tags of the words 1..n, of K states each, then the tag of the root, of
    one state. Arcs are listed head after head, so that those from the root come first.

    ``possible`` bool[n, K]: the tags that each word may have, at least one. ``candidate_words``,
    ``candidate_tags`` int32[C]: the root, with placeholder tag 0; then each word with each of its tags.
    ``pair_arcs`` int32[P], ``pair_candidates`` int32[P, 2]: for each pair of tags of each arc, the arc, and
    the candidates that are its head and its dependent.
    """

    possible: Mask
    candidate_words: Numbers
    candidate_tags: Numbers
    pair_arcs: Numbers
    pair_candidates: Numbers

    def split_pairs(self, values: Floats) -> list[Floats]:
        """Split float64[P] into values of pairs with the root, and between words."""
        return np.split(values, [len(self.families[ROOT_TAGLINK].scored)])


def tagging_graph(
    candidates: Mask, possible: Mask, inference: TreeDecoder, *, spans: Sequence[tuple[int, int]] = ()
) -> TaggingGraph:
    n, n_tags = possible.shape
    links = chosen_links(candidates)
    heads, dependents, arcs = arcs_of(links)
    tags = arcs.size + np.arange(n)
    rooted = int(np.count_nonzero(heads == ROOT))
    words, word_tags = np.nonzero(possible)
    pair_arcs, pair_candidates, root_slots, slots = _pairs(heads, dependents, possible)
    root_scores, scores = np.zeros((rooted, 1, n_tags)), np.zeros((arcs.size - rooted, n_tags, n_tags))
    head_tags, dependent_tags = tags[heads[rooted:] - 1], tags[dependents - 1]
    of_root = tag_link(arcs[:rooted], np.full(rooted, arcs.size + n), dependent_tags[:rooted], root_scores)
    families = (
        _family("tag", tag(tags, np.zeros((n, n_tags))), above=np.where(possible, 0.0, -np.inf).reshape(-1)),
        _family("trigram", trigram(tags, np.zeros((n_tags + 1,) * 3))),
        _family("root taglink", of_root, root_slots),
        _family("taglink", tag_link(arcs[rooted:], head_tags, dependent_tags[rooted:], scores), slots),
    )
    groups = [
        link(arcs, np.zeros(arcs.size)),
        *(family.group for family in families),
        *([exactly_one(span_arcs(links, spans))] if spans else []),
        *graph_factors.CONSTRAINTS["tree"](links, inference),
    ]
    return TaggingGraph(
        links,
        heads,
        dependents,
        families,
        factor_graph(np.repeat([2, n_tags, 1], [arcs.size, n, 1]), groups),
        possible=possible,
        candidate_words=np.append(ROOT, words + 1).astype(np.int32),
        candidate_tags=np.append(0, word_tags).astype(np.int32),
        pair_arcs=pair_arcs,
        pair_candidates=pair_candidates,
    )


def _family(
    name: str, group: FactorGroup, scored: NDArray[np.int64] | None = None, *, above: float | Floats = 0.0
) -> graph_factors.FamilyFactors:
    """Return factors without features of their own; by default, all are scored."""
    every = np.arange(group.scores.size) if scored is None else scored
    members = np.zeros((0, 1), np.int32)
    return graph_factors.FamilyFactors(name, members, np.zeros(0, np.uint64), every, group, above)


def _pairs(heads: Numbers, dependents: Numbers, possible: Mask) -> tuple[NDArray[Any], ...]:
    n_tags = possible.shape[1]
    numbers = np.cumsum(possible).reshape(possible.shape)
    rooted = int(np.count_nonzero(heads == ROOT))
    arcs, tags = np.nonzero(possible[dependents[:rooted] - 1])
    from_root = np.stack([np.zeros_like(arcs), numbers[dependents[arcs] - 1, tags]], axis=1)
    of_heads, of_dependents = heads[rooted:] - 1, dependents[rooted:] - 1
    both = possible[of_heads][:, :, None] & possible[of_dependents][:, None, :]
    between, head_tags, dependent_tags = np.nonzero(both)
    ends = numbers[of_heads[between], head_tags], numbers[of_dependents[between], dependent_tags]
    pairs = np.concatenate([from_root, np.stack(ends, axis=1)]).astype(np.int32)
    slots = (between * n_tags + head_tags) * n_tags + dependent_tags
    return np.append(arcs, rooted + between).astype(np.int32), pairs, arcs * n_tags + tags, slots


def observed_values(graph: TaggingGraph, agrees: Mask, tags: Numbers) -> FactorValues:
    """Return 0 or a count for each factor, given the tree's arcs bool[E] and each word's tag int32[n]."""
    n_tags = graph.possible.shape[1]
    right = np.append(True, graph.candidate_tags[1:] == tags[graph.candidate_words[1:] - 1])
    trigrams = np.zeros((n_tags + 1,) * 3)
    bounded = np.concatenate([[n_tags, n_tags], tags, [n_tags]])
    np.add.at(trigrams, (bounded[:-2], bounded[1:-1], bounded[2:]), 1.0)
    fires = agrees[graph.pair_arcs] & right[graph.pair_candidates].all(axis=1)
    pairs = graph.split_pairs(fires.astype(np.float64))
    return agrees.astype(np.float64), [np.eye(n_tags)[tags].reshape(-1), trigrams.reshape(-1), *pairs]


def infer_tags_and_tree(
    graph: TaggingGraph, scores: FactorValues, *, iterations: int, tolerance: float = 1e-3
) -> tuple[Status, Floats, FactorValues]:
    """Pass messages, groups in turn; O(n^3 + n K^3 + A K^2) an iteration for A candidate arcs.

    Returns the log-odds float64[E] of each arc under the tree factor, so that probabilities of the heads of a
    word sum to one; and the gradient of Bethe log Z by the scores (thesis eq. 2.18).
    """
    beliefs = graph_factors.propagate(graph, *scores, iterations=iterations, tolerance=tolerance, damping=0.0)
    return beliefs.status, *graph_factors.expected(graph, beliefs)


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
def trigram_rows(n_tags: int) -> Numbers:
    """Return int32[(K+1)^3, 3]: the weight indices of each trigram, its bigram and its tag."""
    side = n_tags + 1
    codes = np.arange(side**3)
    rows = np.stack([codes, side**3 + codes % side**2, side**3 + side**2 + codes % side], axis=1)
    return rows.astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class TaggingWeights:
    """Trained weights of the factors over tags and arcs.

    ``arcs``: of LINK, given the tagger's best tags. ``tag_links`` float32[TAG_LINK_BUCKETS]. ``trigrams``
    float64[(K+1)^3 + (K+1)^2 + K+1]: of trigrams, bigrams and tags, numbered by :func:`trigram_rows`.
    """

    arcs: ArcScorer
    tag_links: Weights
    trigrams: Floats

    @staticmethod
    def untrained(template_set: str, *, n_tags: int) -> "TaggingWeights":
        tag_links = np.zeros(TAG_LINK_BUCKETS, np.float32)
        trigrams = np.zeros(trigram_rows(n_tags).max() + 1)
        return TaggingWeights(ArcScorer.untrained(template_set), tag_links, trigrams)

    def scores(self, features: TaggingFeatures, arc_scores: Scores) -> FactorValues:
        graph = features.graph
        trigrams = score_rows(trigram_rows(graph.possible.shape[1]), self.trigrams)
        pairs = graph.split_pairs(score_factors(features.tag_links, self.tag_links))
        return arc_scores[graph.heads, graph.dependents], [features.tag_scores.reshape(-1), trigrams, *pairs]

    def to_archive(self) -> Archive:
        header, arrays = self.arcs.to_archive()
        tag_links = packed_weights("tag_link_", self.tag_links)
        return {"arcs": header}, {**arrays, **tag_links, "trigram_weights": self.trigrams}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays, *, n_tags: int) -> "TaggingWeights":
        tag_links = unpack_weights("tag_link_", arrays, np.zeros(TAG_LINK_BUCKETS, dtype=np.float32))
        trigrams = shaped(arrays, "trigram_weights", (sum((n_tags + 1) ** length for length in (1, 2, 3)),))
        return TaggingWeights(ArcScorer.from_archive(header["arcs"], arrays), tag_links, trigrams)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggingOptions(CheckedOptions):
    """Pruning by tagger and first order, and iterations of message passing in training and parsing."""

    iterations: int = option_field(5, least=1)
    arc_threshold: float = option_field(3e-3, least=0.0, most=1.0, within=True)
    tag_threshold: float = option_field(1e-2, least=0.0, most=1.0, within=True)


@dataclass(frozen=True, slots=True, eq=False)
class TagsAndArcs:
    """Beliefs: ``tags`` float64[n, K] in the tagger's order, ``marginals`` float64[n+1, n+1] of arcs."""

    tags: Floats
    marginals: Scores
    status: Status
    inference: TreeDecoder


@dataclass(frozen=True)
class TaggingParser(Parser):
    """A parser of words alone; ``base``: the first order over the tagger's tags, which prunes and labels."""

    tagger: Tagger
    base: ArcParser
    weights: TaggingWeights
    options: TaggingOptions
    refuses_training = None
    reads = ("forms",)

    @property
    def inference(self) -> TreeDecoder:
        return self.base.inference

    @property
    def word_tagger(self) -> Tagger:
        return self.tagger

    def posterior(self, sentence: Sentence, given: Given = None) -> TagsAndArcs:
        check_sentence(sentence)
        tagged = self.tagger.tag(sentence)
        distribution = self.tagger.tag_distribution(sentence)
        if given is not None:
            for word, own in enumerate(given.tags):
                if own in self.tagger.tags:
                    distribution[word] = np.arange(len(self.tagger.tags)) == self.tagger.tags.index(own)
                elif own != UNSPECIFIED:
                    found = f"the tag {own}, which is to be kept"
                    expected = f"one that the model knows: {', '.join(self.tagger.tags)}"
                    remedy = "change it, or put _ in its place"
                    raise SentenceError(found=found, expected=expected, remedy=remedy, word=word + 1)
            rows = zip(given.tags, tagged.upos, strict=True)
            tagged = with_columns(tagged, upos=[tag if own == UNSPECIFIED else own for own, tag in rows])
        inference = self.base.constrained(tagged, given)
        encoded = self.base.scorer.encode(tagged)
        marginals = inference.infer(self.base.scorer.scores(self.base.scorer.features(encoded)))[1]
        spans = () if given is None else given.spans
        features = self.features(encoded, distribution, marginals, inference=inference, spans=spans)
        arc_scores = self.weights.arcs.scores(self.weights.arcs.features(encoded))
        if isinstance(inference, ConstrainedInference):
            arc_scores = arc_scores + inference.evidence
        graph = features.graph
        scores = self.weights.scores(features, arc_scores)
        status, _, (links, families) = infer_tags_and_tree(graph, scores, iterations=self.options.iterations)
        if status is Status.CONTRADICTION:
            return TagsAndArcs(distribution, marginals, status, inference)
        arcs = np.zeros_like(marginals)
        arcs[graph.heads, graph.dependents] = links
        return TagsAndArcs(families[TAG].reshape(distribution.shape), arcs, status, inference)

    def features(
        self,
        encoded: EncodedSentence,
        distribution: Floats,
        marginals: Scores,
        *,
        required: tuple[Mask, Mask] | None = None,
        inference: TreeDecoder | None = None,
        spans: Sequence[tuple[int, int]] = (),
    ) -> TaggingFeatures:
        """Prune and build the graph of a sentence, given distributions of tags and arcs.

        ``required``: arcs bool[n+1, n+1] and tags bool[n, K] that are exempt from pruning, in training.
        ``inference``, ``spans``: the trees to choose from, where they are constrained.
        """
        inference = inference or self.inference
        candidates = candidate_arcs(marginals, inference, threshold=self.options.arc_threshold)
        possible = distribution >= self.options.tag_threshold
        possible[np.arange(len(possible)), distribution.argmax(axis=1)] = True
        if required is not None:
            candidates, possible = candidates | required[0], possible | required[1]
        attributes, tags = self.base.scorer.templates.attributes, self.tagger.tags
        graph = tagging_graph(candidates, possible, inference, spans=spans)
        words = graph.candidate_words, tag_hashes(tags)[graph.candidate_tags]
        places = arc_places(graph.heads[graph.pair_arcs], graph.dependents[graph.pair_arcs])
        pairs = tag_link_features(
            encoded, attributes, words, graph.pair_candidates, places, buckets=TAG_LINK_BUCKETS
        )
        return TaggingFeatures(encoded, graph, np.log(np.maximum(distribution, LEAST_PROBABILITY)), pairs)

    def parsed(self, sentence: Sentence, *, decode: str, confidence: bool, given: Given) -> Sentence:
        """Return the sentence with the likeliest tags and the tree of highest expected accuracy."""
        # There is no search for the best joint assignment.
        check_name("decoder", decode, ("mbr",))
        believed = self.posterior(sentence, given)
        best = believed.tags.argmax(axis=1).tolist()
        heads = believed.inference.most_right(believed.marginals)
        tagged = with_columns(sentence, upos=[self.tagger.tags[tag] for tag in best])
        chances = believed.marginals if confidence else None
        parsed = self.base.attached(tagged, heads, probabilities=chances, given=given)
        return with_probabilities(parsed, "UposProb", believed.tags.max(axis=1)) if confidence else parsed

    def fine_tuned(self, trees: Sequence[TrainingTree], *, rng: Rng) -> "TaggingParser":
        return replace(self, base=self.base.fine_tuned(trees, rng=rng))

    def to_archive(self) -> Archive:
        parts = {name: (f"{name}_", getattr(self, name)) for name in ("tagger", "base", "weights")}
        header, arrays = joined(parts)
        return {**header, "options": asdict(self.options)}, arrays

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        base = described("arc-parser", header["base"])
        return {"tagger": described("tagger", header["tagger"]), "parser": base}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "TaggingParser":
        tagger = Tagger.from_archive(header["tagger"], unnested("tagger_", arrays))
        base = ArcParser.from_archive(header["base"], unnested("base_", arrays))
        own = unnested("weights_", arrays)
        weights = TaggingWeights.from_archive(header["weights"], own, n_tags=len(tagger.tags))
        return TaggingParser(tagger, base, weights, restored(TaggingOptions(), header["options"]))
