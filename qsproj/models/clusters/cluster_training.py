"""Training of the first-order parser with hidden clusters, from treebanks whole or partial."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.models.arc.arc_examples import scorer_score
from qsproj.models.arc.arc_scorer import ArcExample, supported_by
from qsproj.models.arc.arc_training import finished, prepare
from qsproj.models.arc.residual import annotated_examples, fine_tuned_labeller
from qsproj.models.arc.training_options import TrainingOptions, TrainingReport
from qsproj.models.clusters import cluster_parser
from qsproj.training.loop import learn


def train_cluster_parser(
    sentences: Sequence[Sentence],
    *,
    rng: np.random.Generator,
    dev: Sequence[Sentence] = (),
    options: TrainingOptions,
    weights: Sequence[float] | None = None,
    unlabelled: Sequence[Sentence] = (),
) -> tuple[cluster_parser.ClusterParser, TrainingReport]:
    """Train a parser with hidden clusters of arcs by the likelihood of the trees alone.

    Penalties are divided by the number of clusters: with equal clusters, every step equals that of training
    without. The rest is as for :func:`~qsproj.models.arc.arc_training.train_arc_parser`.
    """
    if not 1 <= options.clusters <= cluster_parser.MOST_CLUSTERS:
        raise UsageError(f"found {options.clusters} clusters, expected 1 to {cluster_parser.MOST_CLUSTERS}")
    prepared = prepare(sentences, options=options, weights=weights, unlabelled=unlabelled)
    examples = [lesson for lesson in prepared.lessons if isinstance(lesson, ArcExample)]
    known = zip(examples, prepared.sentences, strict=False)
    in_trees = supported_by(
        prepared.template_set,
        ((example.encoded, sentence.heads) for example, sentence in known),
        cutoff=1,
        criterion="trees",
    )
    support = in_trees & prepared.support
    start = cluster_parser.random_start(prepared.template_set, options.clusters, support, rng)
    shared = replace(options, l2=options.l2 / options.clusters, l1=options.l1 / options.clusters)
    trainer = cluster_parser.ClusterTrainer(start, prepared.support, rule=shared.rule())
    scorer, records = learn(
        trainer,
        examples,
        epochs=options.epochs,
        rng=rng,
        score=scorer_score(prepared.readable(dev), trainer.live.encode, prepared.inference),
        description="training arcs in clusters",
    )
    return finished(cluster_parser.ClusterParser, scorer, prepared, records, rng=rng)


MORE_EPOCHS = 3


def fine_tuned_clusters(
    parser: cluster_parser.ClusterParser, trees: Sequence[Sentence], *, rng: np.random.Generator
) -> cluster_parser.ClusterParser:
    usable, examples = annotated_examples(parser, trees)
    encoded = ((parser.scorer.encode(one), one.heads) for one in usable)
    support = supported_by(parser.scorer.template_set, encoded, cutoff=1, criterion="trees")
    options = TrainingOptions(l2=0.0)
    trainer = cluster_parser.ClusterTrainer(parser.scorer, support, rule=options.rule())
    scorer, _ = learn(trainer, examples, epochs=MORE_EPOCHS, rng=rng, description="training arcs in clusters")
    scorer = replace(parser.scorer, weights=scorer.weights)
    return replace(parser, scorer=scorer, labeller=fine_tuned_labeller(parser, usable, rng=rng))
