"""The target parser of a joint model, and what parsers say of training trees that they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import NothingToLearnError, counted
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.cross_fitting import cross_fitted_scores
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.epoch_keeping import KeptStages
from qsproj.models.graph.graph_training import train_graph_parser
from qsproj.models.joint.joint_cross_fitting import cross_fitted_trees
from qsproj.models.joint.joint_options import MIN_PROBABILITY
from qsproj.models.joint.joint_trees import Parser, TreeScores, first_order_scores, tree_scores
from qsproj.models.tree_inference import reachable
from qsproj.pipelines.bilingual.kept_training import read_target, write_target


@dataclass(frozen=True, slots=True, eq=False)
class TrainedTarget:
    """What is learned of the target side before the two sides meet.

    Attributes
    ----------
    parser : ArcParser or GraphParser
        Trained on all target trees.
    scores : list of TreeScores
        What a parser says of each target sentence that was not trained on it.
    unseen : bool
        Whether ``parser`` itself was not trained on them either.
    """

    parser: Parser
    scores: list[TreeScores]
    unseen: bool = False


def train_target(
    pairs: Sequence[SentencePair],
    *,
    rng: np.random.Generator,
    training: TrainingOptions | None = None,
    order: int = 1,
    least_probability: float = MIN_PROBABILITY,
    stages: KeptStages | None = None,
) -> TrainedTarget:
    """Train the target parser of this order, and score each target tree by one that has not seen it.

    Those of the first order prune by ``least_probability``, as
    :class:`~qsproj.models.joint.joint_options.JointOptions` has it. With ``stages``, what comes out is kept
    there, or taken from there.

    Raises
    ------
    UsageError
        When there are fewer than two pairs.
    DataError
        When what was kept is damaged, or of other pairs or options.
    """
    if len(pairs) < 2:
        raise NothingToLearnError(
            f"found {counted(len(pairs), 'pair')} to learn from, expected two or more with whole target trees"
        )
    if stages is not None and (kept := read_target(stages, rng)) is not None:
        return TrainedTarget(*kept)
    trained = _train_target(
        [pair.target for pair in pairs], rng, training or TrainingOptions(), order, least_probability
    )
    if stages is not None:
        write_target(stages, trained.parser, trained.scores, rng)
    return trained


def _train_target(
    targets: Sequence[Sentence],
    rng: np.random.Generator,
    training: TrainingOptions,
    order: int,
    least_probability: float,
) -> TrainedTarget:
    """Do the work of :func:`train_target`."""
    if order == 2:
        graph_parser, _ = train_graph_parser(targets, rng=rng, options=training)
        return TrainedTarget(
            graph_parser, cross_fitted_trees(targets, graph_parser, rng=rng, options=training)
        )
    parser, _ = train_arc_parser(targets, rng=rng, options=training)
    scores = cross_fitted_scores(
        targets,
        rng=rng,
        template_set=parser.scorer.template_set,
        inference=parser.inference,
        options=training,
    )
    trees = [reachable(sentence.heads, parser.inference) for sentence in targets]
    held_out = [
        first_order_scores(own, parser.inference, required=tree, least_probability=least_probability)
        for own, tree in zip(scores, trees, strict=True)
    ]
    return TrainedTarget(parser, held_out)


def given_target(pairs: Sequence[SentencePair], parser: Parser, *, least_probability: float) -> TrainedTarget:
    """Take a target parser that was not trained on these trees: one that was projected, or of other trees.

    Parameters
    ----------
    pairs : sequence of SentencePair
        With whole target trees.
    parser : ArcParser or GraphParser
    least_probability : float
        As of :class:`~qsproj.models.joint.joint_options.JointOptions`.
    """
    trees = [reachable(pair.target.heads, parser.inference) for pair in pairs]
    scores = [
        tree_scores(parser, pair.target, required=tree, least_probability=least_probability)
        for pair, tree in zip(pairs, trees, strict=True)
    ]
    return TrainedTarget(parser, scores, unseen=True)
