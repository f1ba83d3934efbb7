"""A parser that is given words alone and infers their tags and the tree together, by belief propagation.

A tagger and a first-order parser that reads its tags leave a few tags for each word and a few heads; over
these lies a factor graph of TAG, TRIGRAM, LINK, TAGLINK and PTREE or TREE.

*Source*: thesis 2.2.4, 2.2.5 and 2.5.3.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from qsproj.bp.status import Status
from qsproj.conventions import Floats, Mask, Scores
from qsproj.corpus.editing import with_columns, with_probabilities
from qsproj.corpus.sentence import Sentence, check_sentence
from qsproj.errors import unknown_name
from qsproj.features.atoms import EncodedSentence
from qsproj.features.second_order import arc_places, tag_hashes, tag_link_features
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.graph.graph_factors import candidate_arcs
from qsproj.models.packing import joined, unnested
from qsproj.models.schema import Archive, Arrays
from qsproj.models.spec import check, restored, told
from qsproj.models.storage import Stored, described
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagging_graph import (
    TAG_LINK_BUCKETS,
    TaggingFeatures,
    TaggingWeights,
    infer_tags_and_tree,
    tagging_graph,
)
from qsproj.models.tree_inference import TreeInference

# Tags and arcs are chosen by what is believed of each; the best assignment of all together is not searched.
DECODERS = ("mbr",)
# The tagger's probabilities below this are all the same to the graph.
LEAST_PROBABILITY = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggingOptions:
    """The shape of the graphs, and how long messages are passed.

    ``iterations``: of belief propagation, as many in training as in parsing. ``arc_threshold``: an arc whose
    first-order probability is below it is no candidate, unless the best tree has it. ``tag_threshold``: a tag
    to which the tagger gives less is not possible, unless it is its best.
    """

    iterations: int = told(5, least=1)
    arc_threshold: float = told(3e-3, least=0.0, most=1.0, within=True)
    tag_threshold: float = told(1e-2, least=0.0, most=1.0, within=True)

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True, eq=False)
class TagsAndArcs:
    """Beliefs about the tags and arcs of a sentence.

    ``tags`` float64[n, K]: probability of each tag, as the tagger lists them. ``arcs`` float64[n+1, n+1]: of
    each arc; columns 1..n sum to one. After a contradiction, tagger and first-order parser are believed.
    """

    tags: Floats
    arcs: Scores
    status: Status


@dataclass(frozen=True)
class TaggingParser(Stored):
    """A trained parser of words alone.

    ``base``: the first-order parser that reads the tagger's tags; it prunes and labels. ``weights``: of the
    graph's factors.
    """

    tagger: Tagger
    base: ArcParser
    weights: TaggingWeights
    options: TaggingOptions

    @property
    def inference(self) -> TreeInference:
        return self.base.inference

    def arc_probabilities(self, sentence: Sentence) -> Scores:
        """Return the believed probability of every arc, float64[n+1, n+1]; columns 1..n sum to one."""
        return self.beliefs(sentence).arcs

    def beliefs(self, sentence: Sentence) -> TagsAndArcs:
        """Return what is believed of the sentence; of its columns only FORM is read."""
        check_sentence(sentence)
        encoded = self.base.scorer.encode(self.tagger.tag(sentence))
        distribution = self.tagger.tag_distribution(sentence)
        first_order = self.base.scorer.scores(self.base.scorer.features(encoded))
        marginals = self.inference.infer(first_order)[1]
        features = self.features(encoded, distribution, marginals)
        arc_scores = self.weights.arcs.scores(self.weights.arcs.features(encoded))
        graph = features.graph
        found = infer_tags_and_tree(
            graph, self.weights.scores(features, arc_scores), iterations=self.options.iterations
        )
        if found.status is Status.CONTRADICTION:
            return TagsAndArcs(distribution, marginals, found.status)
        arcs = np.zeros_like(marginals)
        arcs[graph.heads, graph.dependents] = found.expected.links
        return TagsAndArcs(found.expected.tags, arcs, found.status)

    def features(
        self,
        encoded: EncodedSentence,
        distribution: Floats,
        marginals: Scores,
        *,
        required_arcs: Mask | None = None,
        required_tags: Mask | None = None,
    ) -> TaggingFeatures:
        """Prune and lay out the graph of a sentence.

        ``distribution`` float64[n, K], ``marginals`` float64[n+1, n+1]: of tags and arcs by tagger and first
        order. ``required_arcs``, ``required_tags`` bool of these shapes: what must not be pruned away, in
        training.
        """
        candidates = candidate_arcs(marginals, self.inference, threshold=self.options.arc_threshold)
        possible = distribution >= self.options.tag_threshold
        possible[np.arange(len(possible)), distribution.argmax(axis=1)] = True
        if required_arcs is not None:
            candidates |= required_arcs
        if required_tags is not None:
            possible |= required_tags
        attributes, tags = self.base.scorer.templates.attributes, self.tagger.tags
        graph = tagging_graph(candidates, possible, self.inference)
        pairs = tag_link_features(
            encoded,
            attributes,
            (graph.candidate_words, tag_hashes(tags)[graph.candidate_tags]),
            graph.pair_candidates,
            arc_places(graph.heads[graph.pair_arcs], graph.dependents[graph.pair_arcs]),
            buckets=TAG_LINK_BUCKETS,
        )
        return TaggingFeatures(encoded, graph, np.log(np.maximum(distribution, LEAST_PROBABILITY)), pairs)

    def parse(self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Return the sentence with UPOS, heads and relations; with ``confidence``, their chances in MISC.

        Each tag is the most probable one, and the tree that of most expected right heads. The chances are
        ``ArcProb=`` and ``UposProb=``.
        """
        if decode not in DECODERS:
            raise unknown_name("decoder of a parser that tags", decode, list(DECODERS))
        believed = self.beliefs(sentence)
        tags = believed.tags.argmax(axis=1)
        heads = self.inference.most_right(believed.arcs)
        tagged = with_columns(sentence, upos=[self.tagger.tags[tag] for tag in tags.tolist()])
        parsed = self.base.attached(tagged, heads, probabilities=believed.arcs if confidence else None)
        return with_probabilities(parsed, "UposProb", believed.tags.max(axis=1)) if confidence else parsed

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
