"""The first-order parser with hidden clusters: cluster scores, exact tree inference, and training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from qsproj.conventions import Floats, Hashes, Heads, Rng, Scores, Weights
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, check_name
from qsproj.kernels.features.arc_features import NEGLIGIBLE, ArcFeatures, gather_clusters, score_clusters
from qsproj.models.arc import arc_scorer
from qsproj.models.arc.arc_learners import scorer_score
from qsproj.models.arc.arc_parser import FirstOrderParser, parts_from
from qsproj.models.arc.arc_training import annotated_examples, fine_tuned_labeller, finished, prepare
from qsproj.models.arc.training_options import TrainingOptions, TrainingReport
from qsproj.models.constraints import Given
from qsproj.models.parser import ArcPosterior, Posterior, TrainingTree, trees_of
from qsproj.models.schema import Archive, Arrays, check_cells, checked, whole
from qsproj.models.tree_decoder import DECODERS, MAX_Z, TreeDecoder
from qsproj.training.loop import learn
from qsproj.training.objectives import Objective
from qsproj.training.optimiser import SparseOptimiser

MOST_CLUSTERS = 64
DEVIATION = 0.01  # standard deviation of the initial weights, drawn from a normal distribution
MORE_EPOCHS = 3  # of fine-tuning
_TRAINING = "training arcs in clusters"


@dataclass(frozen=True)
class ClusterScorer(arc_scorer.ArcWeights):
    """Sums of ``weights`` float32[buckets, C] of an arc's features (Smith and Smith 2007, 5.1, eq. 18)."""

    @property
    def clusters(self) -> int:
        return int(self.weights.shape[1])

    def cluster_scores(self, features: ArcFeatures) -> Floats:
        """Return the score of every arc in every cluster, float64[n+1, n+1, C], natural log."""
        size = len(features.tags)
        scores = np.zeros((size, size, self.clusters))
        score_clusters(features, self.weights.reshape(-1), scores)
        return scores

    def scores(self, features: ArcFeatures) -> Scores:
        return summed_out(self.cluster_scores(features))[0]

    def to_archive(self) -> Archive:
        header, arrays = super().to_archive()
        return {**header, "clusters": self.clusters}, arrays

    @classmethod
    def zeros(cls, header: dict[str, Any]) -> Weights:
        checked(header, {"clusters": whole(1, MOST_CLUSTERS)})
        check_cells(header["buckets"], header["clusters"])
        return arc_scorer.zero_weights(header["buckets"], header["clusters"])


def random_start(
    template_set: str, clusters: int, support: Hashes, rng: Rng, *, deviation: float = DEVIATION
) -> ClusterScorer:
    """Return random weights for the features in ``support`` uint64[buckets / 64], else zero."""
    weights = arc_scorer.zero_weights(64 * len(support), clusters)
    drawn = np.flatnonzero(np.unpackbits(support.view(np.uint8), bitorder="little"))
    weights[drawn] = deviation * rng.standard_normal((len(drawn), clusters))
    return ClusterScorer(template_set, weights)


def summed_out(scores: Floats) -> tuple[Scores, Floats]:
    """Sum finite log scores float64[n+1, n+1, C] over clusters; also return the chances of each."""
    most = scores.max(axis=2, keepdims=True)
    chances = np.exp(scores - most)
    sums = chances.sum(axis=2, keepdims=True)
    chances /= sums
    return (most + np.log(sums))[:, :, 0], chances


class ClusterTrainer(arc_scorer.ArcLearner[Objective, ClusterScorer, SparseOptimiser]):
    """Learns by any objective of arc scores: the tree does not change the probabilities of clusters."""

    def gather(self, example: arc_scorer.ArcExample, *, negligible: float = NEGLIGIBLE) -> float:
        features = self.live.features(example.encoded)
        scores, chances = summed_out(self.live.cluster_scores(features))
        loss, slopes = example.objective.value_and_gradient(scores)
        self.rule.gather(gather_clusters, features, slopes, chances, self.support, negligible)
        return loss

    def step(self, example: arc_scorer.ArcExample) -> float:
        loss = self.gather(example)
        self.rule.step()
        return loss


@dataclass(frozen=True)
class ClusterParser(FirstOrderParser[ClusterScorer]):
    """A first-order parser with a hidden cluster for each arc (Smith and Smith 2007, 5; thesis 3.2.5)."""

    def cluster_scores(self, sentence: Sentence) -> Floats:
        return self.scorer.cluster_scores(self.scorer.features(self.encode(sentence)))

    def scores(self, sentence: Sentence) -> Scores:
        return summed_out(self.cluster_scores(sentence))[0]

    def posterior(self, sentence: Sentence, given: Given = None) -> Posterior:
        return ArcPosterior(self.constrained(sentence, given).infer(self.scores(sentence))[1])

    def heads(
        self, cluster_scores: Floats, *, decode: str = "mbr", inference: TreeDecoder | None = None
    ) -> Heads:
        """Return the best tree; ``decode``: also ``max-z``, the most probable one with its clusters."""
        inference = inference or self.inference
        if decode == MAX_Z:
            return inference.decode(cluster_scores.max(axis=2), "map")
        check_name("decoder", decode, (*DECODERS, MAX_Z))
        return inference.decode(summed_out(cluster_scores)[0], decode)

    def parsed(self, sentence: Sentence, *, decode: str, confidence: bool, given: Given) -> Sentence:
        scores, inference = self.cluster_scores(sentence), self.constrained(sentence, given)
        marginals = inference.infer(summed_out(scores)[0])[1] if confidence else None
        heads = self.heads(scores, decode=decode, inference=inference)
        return self.attached(sentence, heads, probabilities=marginals, given=given)

    def fine_tuned(self, trees: Sequence[TrainingTree], *, rng: Rng) -> "ClusterParser":
        usable, made = annotated_examples(self, trees_of(trees))
        examples = [example for example in made if example]
        encoded = ((self.scorer.encode(one), one.heads) for one in usable)
        support = arc_scorer.supported_by(self.scorer.template_set, encoded, cutoff=1, criterion="trees")
        trainer = ClusterTrainer(self.scorer, support, rule=TrainingOptions(l2=0.0).rule())
        scorer, _ = learn(trainer, examples, epochs=MORE_EPOCHS, rng=rng, description=_TRAINING)
        return replace(self, scorer=scorer, labeller=fine_tuned_labeller(self, usable, rng=rng))

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        return {**FirstOrderParser.described(header), "clusters": header["scorer"]["clusters"]}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "ClusterParser":
        return ClusterParser(*parts_from(header, arrays, ClusterScorer))


def train_cluster_parser(
    sentences: Sequence[Sentence],
    *,
    rng: Rng,
    dev: Sequence[Sentence] = (),
    options: TrainingOptions,
    weights: Sequence[float] | None = None,
    unlabelled: Sequence[Sentence] = (),
) -> tuple[ClusterParser, TrainingReport]:
    """Train a parser with hidden clusters of arcs by the likelihood of the trees alone.

    Penalties are divided by the number of clusters: with equal clusters, every step equals that of training
    without. The rest is as for :func:`~qsproj.models.arc.arc_training.train_arc_parser`.
    """
    if not 1 <= options.clusters <= MOST_CLUSTERS:
        raise UsageError(f"found {options.clusters} clusters, expected 1 to {MOST_CLUSTERS}")
    prepared = prepare(sentences, options=options, weights=weights, unlabelled=unlabelled)
    examples = cast(list[arc_scorer.ArcExample], prepared.examples)
    pairs = zip(examples, prepared.sentences, strict=False)
    known = ((example.encoded, sentence.heads) for example, sentence in pairs)
    templates = prepared.start.template_set
    support = prepared.support & arc_scorer.supported_by(templates, known, cutoff=1, criterion="trees")
    start = random_start(templates, options.clusters, support, rng)
    shared = replace(options, l2=options.l2 / options.clusters, l1=options.l1 / options.clusters)
    trainer = ClusterTrainer(start, prepared.support, rule=shared.rule())
    score, epochs = scorer_score(prepared.readable(dev), start.encode, prepared.inference), options.epochs
    scorer, records = learn(trainer, examples, epochs=epochs, rng=rng, score=score, description=_TRAINING)
    return finished(ClusterParser, scorer, prepared, records, rng=rng)
