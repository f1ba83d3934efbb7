"""A number of training pairs, the models that all conditions share, and their training time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from qsproj.corpus.sentence import SentencePair
from qsproj.models.joint.joint_options import BiparseOptions
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_trees import TrainedTarget, TreeParser, train_target
from qsproj.pipelines.bilingual.biparse import JointTrainingReport, train_joint_parser
from scripts.experiments.harness.build import DIGITS, hash_of
from scripts.experiments.joint.timed import TimedCheckpoint, going_on

# The first pairs load and compile kernels; their time does not count.
UNTIMED = 10


@dataclass(frozen=True)
class Setting:
    """A number of training pairs, and the models that all conditions share."""

    source: TreeParser
    train: list[SentencePair]
    test: list[SentencePair]
    # Folder for the state of training, to resume interrupted runs; None: no state is kept.
    folder: Path | None = None
    # The pairs of the training file after those that are trained on.
    rest: Sequence[SentencePair] = ()
    # Loads a source parser of the second order.
    second_source: Callable[[], TreeParser] | None = None

    @property
    def target(self) -> TrainedTarget:
        """The target parser, with the scores of others that have not seen their trees."""
        return self.first_order.trained

    @cached_property
    def first_order(self) -> TimedTarget:
        """The first-order setting, and its training time."""
        return self._target(1)

    @cached_property
    def second_order(self) -> TimedTarget:
        """The second-order setting, and its training time."""
        return self._target(2)

    def of_order(self, order: int) -> TimedTarget:
        """Return the target parser of an order."""
        return self.first_order if order == 1 else self.second_order

    @property
    def with_second_source(self) -> Setting:
        """The setting with a second-order source parser; both share the stored target parser."""
        assert self.second_source is not None
        return replace(self, source=self.second_source())

    @property
    def warming(self) -> Setting:
        """A few of the pairs: training on them loads and compiles kernels, and stores nothing."""
        return replace(self, train=self.train[:UNTIMED], folder=None)

    def _target(self, order: int) -> TimedTarget:
        train_target(self.warming.train, rng=np.random.default_rng(1), options=BiparseOptions(order=order))
        name = f"order-{order}"
        state, start = self.checkpoint(name), time.process_time()
        stages = None if state is None else state.of(name)
        options = BiparseOptions(order=order)
        trained = train_target(self.train, rng=np.random.default_rng(1), options=options, stages=stages)
        return TimedTarget(trained, seconds_since(start, state))

    def checkpoint(self, name: str) -> TimedCheckpoint | None:
        """Return the folder of a training; its time is measured from now on."""
        return None if self.folder is None else going_on(self.folder / name)


@dataclass(frozen=True)
class TimedTarget:
    """A target parser, and the processor seconds of its training, including the cross-fitted scores."""

    trained: TrainedTarget
    seconds: float


@dataclass(frozen=True)
class TrainedJointly:
    """A joint parser, its training report, and its processor seconds with those of the target parser."""

    parser: JointParser
    report: JointTrainingReport
    seconds: float


def seconds_since(start: float, state: TimedCheckpoint | None) -> float:
    """Return the processor seconds of a training, those of earlier runs included."""
    return time.process_time() - start if state is None else state.seconds


def train_jointly(setting: Setting, options: BiparseOptions) -> TrainedJointly:
    """Train a joint model with the shared target parser."""
    target = setting.of_order(options.order)
    described = f"{options} {type(setting.source).__name__}"
    state = setting.checkpoint(hash_of([described.encode()])[:DIGITS])
    start = time.process_time()
    parser, report = train_joint_parser(
        setting.train,
        setting.source,
        rng=np.random.default_rng(1),
        target=target.trained,
        options=options,
        checkpoint=state,
    )
    return TrainedJointly(parser, report, target.seconds + seconds_since(start, state))
