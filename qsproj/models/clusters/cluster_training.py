"""Training of the first-order parser with hidden clusters, from treebanks whole or partial."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.features.atoms import without_columns
from qsproj.features.label_templates import IN_TREE
from qsproj.models.arc.arc_examples import right_heads
from qsproj.models.arc.arc_scorer import ArcExample
from qsproj.models.arc.arc_training import Prepared, prepare
from qsproj.models.arc.feature_selection import supported_by
from qsproj.models.arc.labeller import train_labeller
from qsproj.models.arc.training_options import TrainingOptions, TrainingReport
from qsproj.models.clusters.cluster_parser import (
    MOST_CLUSTERS,
    ClusterParser,
    ClusterScorer,
    ClusterTrainer,
    random_start,
)
from qsproj.models.tree_inference import TreeInference
from qsproj.training.loop import EpochRecord, learn


def train_cluster_parser(
    sentences: Sequence[Sentence],
    *,
    rng: np.random.Generator,
    dev: Sequence[Sentence] = (),
    options: TrainingOptions,
    weights: Sequence[float] | None = None,
    unlabelled: Sequence[Sentence] = (),
) -> tuple[ClusterParser, TrainingReport]:
    """Train a parser whose arcs have hidden clusters, by the likelihood of the trees alone.

    Penalties are divided by the number of clusters: where all clusters are alike, this is training by
    likelihood, step by step.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the weights to start from, then orders the sentences of each epoch.
    options : TrainingOptions
        With the objective ``hidden``.

    Others, and errors, as of :func:`~qsproj.models.arc.arc_training.train_arc_parser`.
    """
    if not 1 <= options.clusters <= MOST_CLUSTERS:
        raise UsageError(f"found {options.clusters} clusters, expected 1 to {MOST_CLUSTERS}")
    prepared = prepare(sentences, options=options, weights=weights, unlabelled=unlabelled)
    dev = [without_columns(sentence, prepared.ignored) for sentence in dev]
    scorer, records = train_cluster_scorer(prepared, rng=rng, dev=dev, options=options)
    labeller = train_labeller(
        prepared.sentences,
        rng=rng,
        template_set=f"{prepared.template_set}{IN_TREE}",
        ignored=prepared.ignored,
    )
    report = TrainingReport(tuple(records), prepared.skipped)
    return ClusterParser(replace(scorer, ignored=prepared.ignored), labeller, prepared.inference), report


def train_cluster_scorer(
    prepared: Prepared, *, rng: np.random.Generator, dev: Sequence[Sentence], options: TrainingOptions
) -> tuple[ClusterScorer, list[EpochRecord]]:
    """Learn the weights of arcs in clusters from prepared sentences."""
    examples = [lesson for lesson in prepared.lessons if isinstance(lesson, ArcExample)]
    known = zip(examples, prepared.sentences, strict=False)
    in_trees = supported_by(
        prepared.template_set,
        ((example.encoded, sentence.heads) for example, sentence in known),
        cutoff=1,
        criterion="trees",
    )
    start = random_start(prepared.template_set, options.clusters, in_trees & prepared.support, rng)
    shared = replace(options, l2=options.l2 / options.clusters, l1=options.l1 / options.clusters)
    trainer = ClusterTrainer(start, prepared.support, rule=shared.rule())
    return learn(
        trainer,
        examples,
        epochs=options.epochs,
        rng=rng,
        score=dev_score(dev, trainer, prepared.inference),
        description="training arcs in clusters",
    )


def dev_score(
    dev: Sequence[Sentence], trainer: ClusterTrainer, inference: TreeInference
) -> Callable[[ClusterScorer], float] | None:
    """Return what scores weights by right heads on held-out trees; None where there are none."""
    if not dev:
        return None
    encoded = [trainer.encode(sentence) for sentence in dev]

    def score(scorer: ClusterScorer) -> float:
        matrices = (scorer.scores(scorer.features(one)) for one in encoded)
        return right_heads(dev, (inference.decode(matrix, "mbr") for matrix in matrices))

    return score
