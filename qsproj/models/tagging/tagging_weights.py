"""Weights of the factors over tags and arcs, and a sentence made ready to be scored by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.features.atoms import EncodedSentence
from qsproj.features.second_order import arc_places, tag_hashes, tag_link_features
from qsproj.kernels.features.second_order_features import FactorFeatures, score_factors
from qsproj.kernels.features.sparse_gradient import score_rows
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.packing import packed_weights, unpack_weights
from qsproj.models.schema import shaped
from qsproj.models.tagging.tagging_graph import FactorValues, TaggingGraph

TAG_LINK_BUCKETS = 1 << 20
# The tagger's probabilities below this are all the same to the graph.
LEAST_PROBABILITY = 1e-6

Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TaggingFeatures:
    """The graph of a sentence and all that its scores are computed from, whatever the weights.

    ``encoded``: with the tagger's best tags, which the templates of arcs read.
    ``tag_scores`` float64[n, K]: log-probability of each tag by the tagger.
    ``tag_links``: of each pair of tags of each arc.
    """

    encoded: EncodedSentence
    graph: TaggingGraph
    tag_scores: Weights
    tag_links: FactorFeatures


def tagging_features(
    encoded: EncodedSentence,
    graph: TaggingGraph,
    distribution: Weights,
    *,
    attributes: tuple[str, ...],
    tags: tuple[str, ...],
) -> TaggingFeatures:
    """Make a sentence ready.

    ``distribution`` float64[n, K]: probability of each of the K ``tags`` by the tagger.
    """
    heads, dependents = graph.heads[graph.pair_arcs], graph.dependents[graph.pair_arcs]
    pairs = tag_link_features(
        encoded,
        attributes,
        (graph.candidate_words, tag_hashes(tags)[graph.candidate_tags]),
        graph.pair_candidates,
        arc_places(heads, dependents),
        buckets=TAG_LINK_BUCKETS,
    )
    return TaggingFeatures(encoded, graph, np.log(np.maximum(distribution, LEAST_PROBABILITY)), pairs)


@lru_cache
def trigram_rows(n_tags: int) -> NDArray[np.int32]:
    """Return int32[(K+1)^3, 3]: for each trigram the numbers of its own weight, its bigram's, its tag's."""
    side = n_tags + 1
    codes = np.arange(side**3)
    rows = np.stack([codes, side**3 + codes % side**2, side**3 + side**2 + codes % side], axis=1)
    return rows.astype(np.int32)


def _trigram_weights(n_tags: int) -> int:
    """Return how many weights trigrams, bigrams and tags have."""
    return sum((n_tags + 1) ** length for length in (1, 2, 3))


@dataclass(frozen=True, slots=True, eq=False)
class TaggingWeights:
    """What the factors over tags and arcs have learned.

    ``arcs``: of LINK, the tagger's best tags taken as given.
    ``tag_links`` float32[TAG_LINK_BUCKETS]: of the templates in :mod:`qsproj.features.second_order`.
    ``trigrams`` float64[(K+1)^3 + (K+1)^2 + K+1]: of trigrams, bigrams and single tags, as
        :func:`trigram_rows` numbers them.
    """

    arcs: ArcScorer
    tag_links: NDArray[np.float32]
    trigrams: Weights

    @staticmethod
    def untrained(template_set: str, *, n_tags: int) -> TaggingWeights:
        """Return weights that are all zero: tags are then the tagger's, and all candidate arcs equal."""
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

    def to_archive(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return header and arrays; only weights that are not zero are kept of hashed ones."""
        header, arrays = self.arcs.to_archive()
        tag_links = packed_weights("tag_link_", self.tag_links)
        return {"arcs": header}, {**arrays, **tag_links, "trigram_weights": self.trigrams}

    @staticmethod
    def from_archive(
        header: dict[str, Any], arrays: Mapping[str, NDArray[Any]], *, n_tags: int
    ) -> TaggingWeights:
        """Rebuild what :meth:`to_archive` gave."""
        tag_links = unpack_weights("tag_link_", arrays, np.zeros(TAG_LINK_BUCKETS, dtype=np.float32))
        return TaggingWeights(
            ArcScorer.from_archive(header["arcs"], arrays),
            tag_links,
            shaped(arrays, "trigram_weights", (_trigram_weights(n_tags),)),
        )
