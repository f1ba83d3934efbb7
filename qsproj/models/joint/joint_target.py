"""Training of the joint model in which the target parser's weights move too.

What is learned is added to the target parser: in training, to the scores of one that has not seen the
sentence (:func:`~qsproj.models.arc.cross_fitting.cross_fitted_scores`); in parsing, to those of the one that
has seen all. L2 pulls it to zero, so the target weights stay near where monolingual training left them.

*Source*: thesis 4.7.3, where alignment, bilingual and target weights are learned together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.status import Status
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.features.atoms import EncodedSentence
from qsproj.models.arc.above import with_added
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer, ArcTrainer
from qsproj.models.joint.joint_examples import JointExample
from qsproj.models.joint.joint_options import JointTrainingOptions
from qsproj.models.joint.joint_training import UNKEPT, Epochs, JointTrainer
from qsproj.models.joint.joint_weights import JointWeights
from qsproj.models.packing import nested, unnested
from qsproj.models.tree_inference import TreeInference
from qsproj.training.adagrad import AdaGrad
from qsproj.training.loop import EpochRecord, ResumableTrainer

TARGET_RATE = 0.05
TARGET_L2 = 150.0
LEAST_TARGET_SCALE = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class TargetExample:
    """A pair to learn from, and its target sentence, encoded for the target parser.

    ``with_source`` is False where the pair is learned from as if its source were empty.
    """

    encoded: EncodedSentence
    joint: JointExample
    with_source: bool = True


class _Trainer(ResumableTrainer[TargetExample, tuple[ArcScorer, JointWeights]]):
    """Learns joint weights, and what is added to the target parser's. Mutable; final."""

    def __init__(self, joint: JointTrainer, template_set: str) -> None:
        self._joint = joint
        self._arcs = ArcTrainer(template_set, rule=self._rule)

    def _rule(self, weights: NDArray[Any]) -> AdaGrad:
        """Return the optimiser of what is added, whose state is asked for."""
        self._added = AdaGrad(weights, rate=TARGET_RATE, l2=TARGET_L2)
        return self._added

    def step(self, example: TargetExample) -> float:
        """Learn from one pair; return its loss before the step."""
        features = self._arcs.features(example.encoded)
        learn = self._joint.step_above if example.with_source else self._joint.step_alone
        loss, slopes = learn(example.joint, self._arcs.scores(features))
        self._arcs.descend(features, slopes)
        return loss

    def regularise(self) -> None:
        """Shrink both kinds of weights."""
        self._joint.regularise()
        self._arcs.regularise()

    def averaged(self) -> tuple[ArcScorer, JointWeights]:
        """Return the means of the weights after every step so far."""
        return self._arcs.averaged(), self._joint.averaged()

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that learning goes on from between two epochs."""
        return {**nested("arcs_", self._added.state()), **nested("links_", self._joint.state())}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`state` gave; KeyError or ValueError where it does not fit."""
        self._added.restore(unnested("arcs_", state))
        self._joint.restore(unnested("links_", state))


def train_target_jointly(
    examples: Sequence[JointExample],
    sentences: Sequence[Sentence],
    target: ArcParser,
    *,
    rng: np.random.Generator,
    source_trees: TreeInference,
    options: JointTrainingOptions,
    following: Epochs = UNKEPT,
) -> tuple[ArcParser, JointWeights, list[EpochRecord], list[Counter[Status]]]:
    """Learn joint weights and move the target parser's, which was trained on all ``sentences``.

    Without a source, what comes out parses worse than what was given, unless sources were empty in training,
    too (``options.null_source``). Fails where the target parser is hardly listened to in the end.
    """
    trainer = JointTrainer(options, source_trees=source_trees, target_trees=target.inference)
    pairs = [
        TargetExample(target.scorer.encode(sentence), example)
        for sentence, example in zip(sentences, examples, strict=True)
    ]
    if options.null_source:
        pairs += [replace(pair, with_source=False) for pair in pairs]
    (added, weights), records, statuses = following.learn(
        _Trainer(trainer, target.scorer.template_set), pairs, joint=trainer, rng=rng
    )
    if weights.target_scale < LEAST_TARGET_SCALE:
        raise UsageError(
            f"training has diverged: the target scale is {weights.target_scale:.4f}; "
            "keep the target weights fixed"
        )
    parser = with_added(target, added, scale=weights.target_scale)
    return parser, weights, records, statuses
