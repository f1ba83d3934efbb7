"""Training of the joint model in which the target parser's weights move too.

What is learned is added to the target parser: in training, to the scores of one that has not seen the
sentence (:func:`~qsproj.models.arc.cross_fitting.cross_fitted_scores`); in parsing, to those of the one that
has seen all. L2 pulls it to zero, so the target weights stay near where monolingual training left them.

*Source*: thesis 4.7.3, where alignment, bilingual and target weights are learned together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from qsproj.bp.status import Status
from qsproj.conventions import Scores
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer, ArcTrainer, supported_buckets, zero_weights
from qsproj.models.joint.joint_training import JointExample, JointTrainer, JointTrainingOptions
from qsproj.models.joint.joint_weights import JointWeights
from qsproj.models.tree_inference import TreeInference
from qsproj.training.loop import EpochRecord, run_epochs

TARGET_RATE = 0.05
TARGET_L2 = 150.0
LEAST_SCALE = 0.01


@dataclass(frozen=True, slots=True)
class Together:
    """The loss of a pair by what is added to its target scores; asking for it teaches the joint weights.

    Attributes
    ----------
    trainer : JointTrainer
        Takes a step of its own each time.
    example : JointExample
    """

    trainer: JointTrainer
    example: JointExample

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        """Return loss and gradient; see :meth:`JointTrainer.step_above`."""
        return self.trainer.step_above(self.example, scores)


def train_target_jointly(
    examples: Sequence[JointExample],
    sentences: Sequence[Sentence],
    target: ArcParser,
    *,
    rng: np.random.Generator,
    source_trees: TreeInference,
    options: JointTrainingOptions,
) -> tuple[ArcParser, JointWeights, list[EpochRecord], Counter[Status]]:
    """Learn joint weights and move the target parser's.

    Parameters
    ----------
    examples : sequence of JointExample
        Their target scores are of parsers that have not seen the sentence.
    sentences : sequence of Sentence
        The target sentences of the examples.
    target : ArcParser
        Trained on all of them; not changed.
    rng : numpy.random.Generator
        Orders the pairs.
    source_trees : TreeInference
    options : JointTrainingOptions
        For the joint weights; what is added to the target's is learned by TARGET_RATE and TARGET_L2.

    Returns
    -------
    target : ArcParser
        What the joint model should parse with. Without a source it parses worse than what was given.
    weights, records, statuses
        As of :func:`~qsproj.models.joint.joint_training.train_joint_weights`.
    """
    trainer = JointTrainer(options, source_trees=source_trees, target_trees=target.inference)
    template_set = target.scorer.template_set
    arcs = ArcTrainer(
        template_set, supported_buckets(template_set, (), cutoff=0), rate=TARGET_RATE, l2=TARGET_L2
    )
    encoded = [arcs.encode(sentence) for sentence in sentences]

    def regularise() -> None:
        trainer.regularise()
        arcs.regularise()

    records = run_epochs(
        len(examples),
        lambda i: arcs.step(encoded[i], Together(trainer, examples[i])),
        epochs=options.epochs,
        rng=rng,
        finish_epoch=regularise,
        description="training jointly",
    )
    weights = trainer.averaged()
    return moved(target, arcs.averaged(), weights.target_scale), weights, records, trainer.statuses


def moved(parser: ArcParser, added: ArcScorer, scale: float) -> ArcParser:
    """Return the parser whose scores, times ``scale``, are the given one's times it plus what is added.

    Parameters
    ----------
    parser : ArcParser
        Not changed.
    added : ArcScorer
        With the parser's templates.
    scale : float
        The target scale of the joint weights.

    Raises
    ------
    UsageError
        When the scale is next to nothing: the target parser is not listened to.
    """
    if scale < LEAST_SCALE:
        raise UsageError(
            f"training has diverged: the target scale is {scale:.4f}; keep the target weights fixed"
        )
    weights = zero_weights(len(parser.scorer.weights))
    weights[:] = parser.scorer.weights + added.weights / np.float32(scale)
    return replace(parser, scorer=ArcScorer(parser.scorer.template_set, weights))
