"""The target parser of a joint model, and what parsers say of training trees that they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import NothingToLearnError, counted
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.cross_fitting import cross_fitted_scorers
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.checkpoint import KeptStages
from qsproj.models.graph.graph_training import train_graph_parser
from qsproj.models.joint.joint_cross_fitting import cross_fitted_trees
from qsproj.models.joint.joint_options import MIN_PROBABILITY
from qsproj.models.joint.joint_trees import Parser, TreeScores, first_order_scores, tree_scores
from qsproj.models.tree_inference import reachable
from qsproj.pipelines.bilingual.kept_training import read_target, write_target
from qsproj.pipelines.bilingual.tags import GIVEN, TargetTags


@dataclass(frozen=True, slots=True, eq=False)
class TrainedTarget:
    """What is learned of the target side before the two sides meet.

    ``parser``: trained on all target trees.
    ``scores``: what a parser says of each target sentence that was not trained on it.
    ``unseen``: whether ``parser`` itself was not trained on them either.
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
    tags: TargetTags = GIVEN,
) -> TrainedTarget:
    """Train the target parser of this order, and score each target tree by one that has not seen it.

    Those of the first order prune by ``least_probability``, as
    :class:`~qsproj.models.joint.joint_options.JointOptions` has it. ``tags`` say under which other tags these
    trees are learned from, and arcs are scored, too. With ``stages``, what comes out is kept there, or taken
    from there.
    """
    if len(pairs) < 2:
        raise NothingToLearnError(
            f"found {counted(len(pairs), 'pair')} to learn from, expected two or more with whole target trees"
        )
    if stages is not None and (kept := read_target(stages, rng)) is not None:
        return TrainedTarget(*kept)
    trained = _train_target(
        [pair.target for pair in pairs], tags, rng, training or TrainingOptions(), order, least_probability
    )
    if stages is not None:
        write_target(stages, trained.parser, trained.scores, rng)
    return trained


def _train_target(
    targets: Sequence[Sentence],
    tags: TargetTags,
    rng: np.random.Generator,
    training: TrainingOptions,
    order: int,
    least_probability: float,
) -> TrainedTarget:
    """Do the work of :func:`train_target`."""
    again, choices = tags.true or (), tags.choices or [None] * len(targets)
    if order == 2:
        graph_parser, _ = train_graph_parser([*targets, *again], rng=rng, options=training)
        return TrainedTarget(
            graph_parser,
            cross_fitted_trees(
                targets, graph_parser, rng=rng, options=training, again=again, choices=choices
            ),
        )
    parser, _ = train_arc_parser([*targets, *again], rng=rng, options=training)
    inference = parser.inference
    scorers = cross_fitted_scorers(
        targets,
        rng=rng,
        template_set=parser.scorer.template_set,
        inference=inference,
        options=training,
        again=again,
    )
    held_out: dict[int, TreeScores] = {}
    for i, scorer in scorers:
        held_out[i] = first_order_scores(
            scorer.scores(scorer.features(scorer.encode(targets[i]))),
            inference,
            required=reachable(targets[i].heads, inference),
            least_probability=least_probability,
        ).with_tags(scorer, targets[i], choices[i])
    return TrainedTarget(parser, [held_out[i] for i in range(len(targets))])


def given_target(
    pairs: Sequence[SentencePair], parser: Parser, *, least_probability: float, tags: TargetTags = GIVEN
) -> TrainedTarget:
    """Take a target parser that was not trained on these trees: one that was projected, or of other trees."""
    trees = [reachable(pair.target.heads, parser.inference) for pair in pairs]
    scores = [
        tree_scores(parser, pair.target, required=tree, least_probability=least_probability, choices=own)
        for pair, tree, own in zip(pairs, trees, tags.choices or [None] * len(pairs), strict=True)
    ]
    return TrainedTarget(parser, scores, unseen=True)
