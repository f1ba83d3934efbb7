"""Residual training: learn weights that are added to a parser's fixed ones.

L2 pulls the added weights to zero, so that the sum stays near the given parser. Soft projection starts from a
parser of other languages, the noisy channel and joint training from one of the target's own trees.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qsproj.corpus.sentence import Sentence
from qsproj.errors import NothingToLearnError
from qsproj.features.arc_templates import IN_TREE
from qsproj.models.arc.arc_examples import tree_examples, usable_sentences
from qsproj.models.arc.arc_parser import ArcParser, FirstOrderParser
from qsproj.models.arc.arc_scorer import ArcExample, ArcScorer, ArcTrainer, aligned_weights
from qsproj.models.arc.arc_training import train_scorer
from qsproj.models.arc.labeller import Labeller, train_labeller
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.training.loop import Trainer, learn
from qsproj.training.objectives import AboveBase


def train_residual(
    base: ArcParser,
    examples: Iterable[ArcExample],
    *,
    rng: np.random.Generator,
    options: TrainingOptions,
    trained_by: Callable[[ArcTrainer], Trainer[ArcExample, ArcScorer]] = lambda trainer: trainer,
    repeats: int = 1,
) -> ArcParser:
    """Learn weights to add to those of a parser; return the parser with the sums.

    Examples are encoded for ``base``; their objectives are of the sums of its scores and the added ones.
    ``trained_by`` wraps the trainer. The weights are the mean of ``repeats`` trainings, each with other
    orders of the examples.
    """
    above = []
    for example in examples:
        own = base.scorer.scores(base.scorer.features(example.encoded))
        above.append(ArcExample(example.encoded, AboveBase(own, example.objective)))
    parser = base
    for _ in range(repeats):
        trainer = trained_by(ArcTrainer(base.scorer.template_set, rule=options.rule()))
        added, _ = learn(trainer, above, epochs=options.epochs, rng=rng, description="training arcs")
        parser = with_added(parser, added, scale=repeats)
    return parser


def with_added(parser: ArcParser, added: ArcScorer, *, scale: float = 1.0) -> ArcParser:
    """Return the parser whose weights are those of ``parser`` plus ``added`` divided by ``scale``."""
    weights = aligned_weights(parser.scorer.weights + added.weights / np.float32(scale))
    return replace(parser, scorer=replace(parser.scorer, weights=weights))


@dataclass(frozen=True, slots=True, kw_only=True)
class FineTuningOptions:
    """Strength of fine-tuning on a few trees.

    ``epochs``, ``label_epochs``: passes over the trees, for arcs and relations. ``l2``: strength of the
    penalty on the difference of arc weights from the parser's. ``alone``: share of the weights of a parser
    trained only on these trees that is added.
    """

    epochs: int = 10
    l2: float = 20.0
    label_epochs: int = 6
    alone: float = 0.25


def fine_tuned(
    parser: ArcParser,
    trees: Sequence[Sentence],
    *,
    rng: np.random.Generator,
    options: FineTuningOptions | None = None,
) -> ArcParser:
    """Fine-tune a parser on some more trees, whole or partial.

    Arc weights are added to the parser's by conditional likelihood, plus a share of the weights of a parser
    trained only on these trees. Training of relations continues from the parser's weights. A new relation
    starts from the weights of the relation without subtype, ``obl:arg`` from ``obl``: from zero, ten trees do
    more harm than good. Trees that the parser cannot build are left out; UsageError when none is left.

    On dev files of German, Spanish and Swedish, with 10, 50 and 100 trees, many passes of small steps and the
    added parser gained a quarter of a point each. Parsing a bitext again by the result and its evidence, and
    training on that and five copies of the trees, gained no more than either.
    """
    options = options or FineTuningOptions()
    usable, examples = annotated_examples(parser, trees)
    training = TrainingOptions(epochs=options.epochs, l2=options.l2)
    tuned = train_residual(parser, examples, rng=rng, options=training)
    if options.alone:
        own = TrainingOptions()
        made = tree_examples(usable, parser.scorer, parser.inference, objective=own.objective)
        scorer, _ = train_scorer(
            [example for example in made if example],
            parser.scorer.template_set,
            rng=rng,
            inference=parser.inference,
            options=own,
        )
        tuned = with_added(tuned, scorer, scale=1.0 / options.alone)
    return replace(tuned, labeller=fine_tuned_labeller(parser, usable, rng=rng, epochs=options.label_epochs))


def annotated_examples(
    parser: FirstOrderParser[Any], trees: Sequence[Sentence]
) -> tuple[list[Sentence], list[ArcExample]]:
    """Return the usable trees, and encoded examples of those that the parser can build."""
    usable, _ = usable_sentences(trees)
    made = tree_examples(usable, parser.scorer, parser.inference, objective="likelihood")
    examples = [example for example in made if example]
    if not examples:
        raise NothingToLearnError("no usable annotated sentence; is the HEAD column empty?")
    return usable, examples


def fine_tuned_labeller(
    parser: FirstOrderParser[Any], trees: Sequence[Sentence], *, rng: np.random.Generator, epochs: int = 6
) -> Labeller | None:
    """Return a parser's labeller fine-tuned on the relations of some more trees."""
    labeller = train_labeller(
        trees,
        rng=rng,
        template_set=f"{parser.scorer.template_set}{IN_TREE}",
        epochs=epochs,
        start=parser.labeller,
        ignored=parser.scorer.ignored,
    )
    return labeller or parser.labeller
