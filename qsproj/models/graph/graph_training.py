"""Training of the second-order parser: stochastic gradient through belief propagation (thesis 2.7).

The gradient of Bethe log Z is what the factors' beliefs expect, after as many iterations as in parsing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, unknown_name
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcTrainer, supported_buckets
from qsproj.models.arc.arc_training import (
    MARGIN,
    TrainingOptions,
    TrainingReport,
    right_heads,
    train_arc_parser,
)
from qsproj.models.graph.factor_scorer import INITIAL_SQUARES, FactorTrainer
from qsproj.models.graph.graph_examples import (
    GraphExample,
    graph_examples,
    sentences_with_trees,
    train_pruners,
)
from qsproj.models.graph.graph_inference import Expectations, expectations
from qsproj.models.graph.graph_parser import GraphOptions, GraphParser
from qsproj.training.loop import EpochRecord, learn

OBJECTIVES = ("margin", "likelihood")

# Half the first-order step size: beliefs that are far off teach what is wrong. On dev files of English and
# Hungarian, a quarter of it, or steps that become smaller, gave up to 0.4 UAS less.
RATE_SHARE = 0.5
# How much of the penalty of arcs is on factors; chosen together with the start from first order and the
# damping of messages. With half as strong penalties on both it was 0.4 UAS less on the dev file of English.
L2_SHARE = 1 / 3


def train_graph_parser(
    sentences: Sequence[Sentence],
    *,
    rng: np.random.Generator,
    dev: Sequence[Sentence] = (),
    options: TrainingOptions | None = None,
    graph_options: GraphOptions | None = None,
) -> tuple[GraphParser, TrainingReport]:
    """Train a second-order parser on trees; where a head is missing, it is summed out.

    Parameters
    ----------
    sentences : sequence of Sentence
        Whole or partial trees.
    rng : numpy.random.Generator
        Orders the sentences of each epoch; the same seed gives the same model.
    dev : sequence of Sentence
        Trees to stop early on.
    options : TrainingOptions
        Of the first-order parser, and of the arcs of this one.

    Raises
    ------
    UsageError
        When no sentence has a head, an option is wrong, or training diverges.
    """
    options = options or TrainingOptions()
    graph_options = graph_options or GraphOptions()
    if options.objective not in OBJECTIVES:
        raise unknown_name("objective of a second-order parser", options.objective, list(OBJECTIVES))
    base, first_report = train_arc_parser(sentences, rng=rng, dev=dev, options=options)
    usable = sentences_with_trees(sentences, base)
    pruners = train_pruners(usable, base, rng=rng, options=options)
    parser, records = train_factors(
        usable, base, pruners, rng=rng, dev=dev, options=options, graph_options=graph_options
    )
    return parser, TrainingReport(tuple(records), first_report.skipped)


def train_factors(
    sentences: Sequence[Sentence],
    base: ArcParser,
    pruners: Sequence[ArcParser],
    *,
    rng: np.random.Generator,
    options: TrainingOptions,
    graph_options: GraphOptions,
    dev: Sequence[Sentence] = (),
) -> tuple[GraphParser, list[EpochRecord]]:
    """Learn the factors of a second-order parser whose first order is given.

    Parameters
    ----------
    sentences : sequence of Sentence
        As :func:`sentences_with_trees` returns them.
    base, pruners : ArcParser
        The first-order parser, and those that prune in its stead in training (:func:`train_pruners`).

    Others as for :func:`train_graph_parser`.
    """
    graph_options = replace(graph_options, families=graph_options.families_for(base.inference))
    examples = graph_examples(sentences, base, pruners, graph_options=graph_options)
    trainer = _Trainer(base, options, graph_options)

    def score(parser: GraphParser) -> float:
        return right_heads(dev, (parser.parse(sentence).heads for sentence in dev))

    return learn(
        len(examples),
        lambda i: trainer.step(examples[i]),
        trainer.averaged,
        epochs=options.epochs,
        rng=rng,
        finish_epoch=trainer.regularise,
        score=score if dev else None,
        description="training factors",
    )


class _GraphObjective:
    """The loss of one sentence as a function of its arc scores; keeps the gradient by the other factors."""

    def __init__(
        self, example: GraphExample, scores: Sequence[NDArray[np.float64]], *, iterations: int, margin: float
    ) -> None:
        self._example = example
        self._scores = scores
        self._iterations = iterations
        self._margin = margin
        self.gradients: list[NDArray[np.float64]] = []

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        """Return minus the sum of the log-beliefs of the tree's arcs, and the gradient of minus log F."""
        example, graph = self._example, self._example.graph
        link_scores = scores[graph.heads, graph.dependents]
        if not np.isfinite(link_scores).all() or not all(
            np.isfinite(family).all() for family in self._scores
        ):
            raise UsageError("training has diverged: a score is NaN or infinite; raise --l2")
        handicapped = link_scores + self._margin * ~example.agrees
        log_odds, (chances, fired) = self._expectations(handicapped)
        observed = example.observed
        if observed is None:
            observed = self._expectations(np.where(example.agrees, link_scores, -np.inf))[1]
        self.gradients = [expected - seen for expected, seen in zip(fired, observed[1], strict=True)]
        gradient = np.zeros_like(scores)
        gradient[graph.heads, graph.dependents] = chances - observed[0]
        # Where nothing is observed, the belief may be 0 and its logarithm infinite.
        missed = np.where(observed[0] > 0.0, np.logaddexp(0.0, -log_odds), 0.0)
        return float(observed[0] @ missed), gradient

    def _expectations(self, link_scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], Expectations]:
        return expectations(self._example.graph, link_scores, self._scores, iterations=self._iterations)


class _Trainer:
    """Learns LINK and the other factors together. Mutable; final."""

    def __init__(self, base: ArcParser, options: TrainingOptions, graph_options: GraphOptions) -> None:
        template_set = base.scorer.template_set
        rate = RATE_SHARE * options.rate
        # LINK starts from what the first order knows: with weights of zero the beliefs of the first epoch are
        # far off, and what they teach the factors stays. L2 takes that knowledge back where no step confirms
        # it. Worth 0.2 to 0.4 UAS on the dev file of English, with small first steps as those of the factors.
        self._arcs = ArcTrainer(
            template_set,
            supported_buckets(template_set, [], cutoff=0),
            rate=rate,
            l2=options.l2,
            first_squares=INITIAL_SQUARES,
            start=base.scorer.weights,
        )
        self._factors = FactorTrainer(template_set, rate=rate, l2=L2_SHARE * options.l2)
        self._base = base
        self._options = graph_options
        self._margin = MARGIN if options.objective == "margin" else 0.0

    def step(self, example: GraphExample) -> float:
        """Learn from one sentence; return its loss before the step."""
        features = self._factors.live.features(example.encoded, example.graph.families)
        objective = _GraphObjective(
            example,
            self._factors.live.scores(features),
            iterations=self._options.iterations,
            margin=self._margin,
        )
        loss = self._arcs.step(example.encoded, objective)
        self._factors.step(features, objective.gradients)
        return loss

    def regularise(self) -> None:
        """Shrink the weights; once after each epoch."""
        self._arcs.regularise()
        self._factors.regularise()

    def averaged(self) -> GraphParser:
        """Return a parser with the mean of the weights after every step so far."""
        return GraphParser(self._base, self._arcs.averaged(), self._factors.averaged(), self._options)
