"""Training above a parser whose weights stay as they are: what is learned is added to them.

L2 pulls what is added to zero, so that the sum stays near the parser that was given, and is the parser where
nothing is learned. Soft projection learns so above a parser of other languages, the noisy channel and joint
training above one of the target's own trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcExample, ArcScorer, ArcTrainer
from qsproj.models.arc.hashed_weights import aligned_weights
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.training.loop import Trainer, learn
from qsproj.training.objectives import AboveBase


def train_above(
    base: ArcParser,
    examples: Iterable[ArcExample],
    *,
    rng: np.random.Generator,
    options: TrainingOptions,
    trained_by: Callable[[ArcTrainer], Trainer[ArcExample, ArcScorer]] = lambda trainer: trainer,
) -> ArcParser:
    """Learn what is to be added to the weights of a parser; return the parser with the sums.

    Parameters
    ----------
    base : ArcParser
        Not changed.
    examples : iterable of ArcExample
        Encoded for ``base``; their objectives are of its scores plus what is added.
    rng : numpy.random.Generator
        Orders the examples of each epoch.
    options : TrainingOptions
        Epochs, rate and L2.
    trained_by : callable
        Returns a trainer that takes the place of the one it is given, which it lets learn.
    """
    above = []
    for example in examples:
        own = base.scorer.scores(base.scorer.features(example.encoded))
        above.append(ArcExample(example.encoded, AboveBase(own, example.objective)))
    trainer = trained_by(ArcTrainer(base.scorer.template_set, rule=options.rule()))
    added, _ = learn(trainer, above, epochs=options.epochs, rng=rng, description="training arcs")
    return with_added(base, added)


def with_added(parser: ArcParser, added: ArcScorer, *, scale: float = 1.0) -> ArcParser:
    """Return the parser whose scores, times ``scale``, are the given one's times it plus what is added.

    Parameters
    ----------
    parser : ArcParser
        Not changed.
    added : ArcScorer
        With the parser's templates.
    """
    weights = aligned_weights(parser.scorer.weights + added.weights / np.float32(scale))
    return replace(parser, scorer=replace(parser.scorer, weights=weights))
