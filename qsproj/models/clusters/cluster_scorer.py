"""Scores of arcs in hidden clusters from hashed features: the weights, and the trainer that learns them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.corpus.sentence import Sentence
from qsproj.features.arc_templates import TEMPLATE_SETS
from qsproj.features.atoms import EncodedSentence
from qsproj.kernels.features.arc_features import NEGLIGIBLE, ArcFeatures
from qsproj.kernels.features.cluster_features import gather_clusters, score_clusters
from qsproj.models.arc.arc_scorer import ArcExample, ArcWeights, ignored_in
from qsproj.models.arc.hashed_weights import HASH_BITS, aligned_weights, zero_weights
from qsproj.models.packing import unpack_weights
from qsproj.models.schema import buckets, check_cells, checked, one_of, whole
from qsproj.training.loop import Trainer
from qsproj.training.optimiser import Rule

MOST_CLUSTERS = 64
# Of the normal distribution that the weights of a start are drawn from.
DEVIATION = 0.01


@dataclass(frozen=True)
class ClusterScorer(ArcWeights):
    """The score of an arc in a cluster is the sum of the weights that its features have there.

    Attributes
    ----------
    weights : float32[buckets, C]
        A row of weights for each hash bucket, one for each cluster.

    *Source*: Smith and Smith 2007, 5.1, eq. 18.
    """

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return int(self.weights.shape[1])

    def cluster_scores(self, features: ArcFeatures) -> NDArray[np.float64]:
        """Return the score of every arc in every cluster, float64[n+1, n+1, C], natural log."""
        size = len(features.tags)
        scores = np.zeros((size, size, self.clusters))
        score_clusters(features, self.weights.reshape(-1), scores)
        return scores

    def scores(self, features: ArcFeatures) -> Scores:
        """Return arc scores float64[n+1, n+1], natural log: sums over clusters."""
        return summed_out(self.cluster_scores(features))[0]

    def to_archive(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return header and arrays; only rows that are not all zero are kept."""
        header, arrays = super().to_archive()
        return {**header, "clusters": self.clusters}, arrays

    @classmethod
    def from_archive(cls, header: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> ClusterScorer:
        """Rebuild what :meth:`to_archive` gave."""
        checked(
            header,
            {
                "template_set": one_of(TEMPLATE_SETS),
                "buckets": buckets,
                "clusters": whole(1, MOST_CLUSTERS),
            },
        )
        check_cells(header["buckets"], header["clusters"])
        rows = zero_rows(header["buckets"], header["clusters"])
        return cls(header["template_set"], unpack_weights(cls.prefix, arrays, rows), ignored_in(header))


def zero_rows(buckets: int, clusters: int) -> NDArray[np.float32]:
    """Return zeros float32[buckets, clusters]."""
    return zero_weights(buckets * clusters).reshape(buckets, clusters)


def random_start(
    template_set: str,
    clusters: int,
    support: NDArray[np.uint64],
    rng: np.random.Generator,
    *,
    deviation: float = DEVIATION,
    hash_bits: int = HASH_BITS,
) -> ClusterScorer:
    """Return a scorer whose clusters differ by chance: were they alike, they would stay so.

    Parameters
    ----------
    clusters : int
        1 to MOST_CLUSTERS.
    support : uint64[buckets / 64]
        The features whose weights are drawn, as of
        :func:`~qsproj.models.arc.arc_scorer.supported_buckets`; those of others are zero.
    deviation : float
        Standard deviation of the weights.
    """
    weights = zero_rows(1 << hash_bits, clusters)
    drawn = np.flatnonzero(np.unpackbits(support.view(np.uint8), bitorder="little"))
    weights[drawn] = deviation * rng.standard_normal((len(drawn), clusters))
    return ClusterScorer(template_set, weights)


def summed_out(scores: NDArray[np.float64]) -> tuple[Scores, NDArray[np.float64]]:
    """Sum over the clusters of each arc.

    Parameters
    ----------
    scores : float64[n+1, n+1, C]
        Natural log, finite.

    Returns
    -------
    scores : float64[n+1, n+1]
        Natural log of the sum of the exponentials.
    chances : float64[n+1, n+1, C]
        Probability of each cluster where the tree has the arc.

    *Source*: Smith and Smith 2007, eq. 18: given the tree, clusters of arcs are independent.
    """
    most = scores.max(axis=2, keepdims=True)
    chances = np.exp(scores - most)
    sums = chances.sum(axis=2, keepdims=True)
    chances /= sums
    return (most + np.log(sums))[:, :, 0], chances


class ClusterTrainer(Trainer[ArcExample, ClusterScorer]):
    """Learns the weights of arcs in clusters by gradients, one sentence a step. Mutable; final.

    The gradient of a sentence is what is expected under the model, less what is expected where its tree is
    known. The clusters of an arc are as probable in one as in the other, so both differ by the arcs alone:
    any objective of arc scores can be learned.

    Parameters
    ----------
    start : ClusterScorer
        Where learning starts; not changed.
    support : uint64[buckets / 64]
        The features that exist.
    rule : callable
        Makes the optimiser of the weights, in one row.
    """

    def __init__(self, start: ClusterScorer, support: NDArray[np.uint64], *, rule: Rule) -> None:
        weights = aligned_weights(start.weights.reshape(-1))
        self.support = support
        self.rule = rule(weights)
        self._live = ClusterScorer(start.template_set, weights.reshape(start.weights.shape))

    def encode(self, sentence: Sentence) -> EncodedSentence:
        """Hash what the templates ask of a sentence."""
        return self._live.encode(sentence)

    def gather(self, example: ArcExample, *, negligible: float = NEGLIGIBLE) -> float:
        """Add the gradient of one sentence; return its loss."""
        features = self._live.features(example.encoded)
        scores, chances = summed_out(self._live.cluster_scores(features))
        loss, slopes = example.objective.value_and_gradient(scores)
        self.rule.gather(gather_clusters, features, slopes, chances, self.support, negligible)
        return loss

    def step(self, example: ArcExample) -> float:
        """Learn from one sentence; return its loss before the step."""
        loss = self.gather(example)
        self.rule.step()
        return loss

    def regularise(self) -> None:
        """Shrink the weights; once after each epoch."""
        self.rule.regularise()

    def averaged(self) -> ClusterScorer:
        """Return a scorer with the mean of the weights after every step so far."""
        mean = aligned_weights(self.rule.mean()).reshape(self._live.weights.shape)
        return ClusterScorer(self._live.template_set, mean)
