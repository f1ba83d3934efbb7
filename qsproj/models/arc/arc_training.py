"""Training of the first-order parser from treebanks, whole or partial."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from qsproj.corpus.columns import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.errors import NothingToLearnError, UsageError, counted, unknown_name
from qsproj.features.arc_templates import TEMPLATE_SETS
from qsproj.features.atoms import empty_columns, without_columns
from qsproj.features.label_templates import IN_TREE
from qsproj.models.arc.arc_examples import (
    Example,
    entropy_examples,
    right_heads,
    training_examples,
    tree_objective,
    usable_sentences,
    weighed_example,
    why_unusable,
)
from qsproj.models.arc.arc_learners import (
    BatchLoss,
    DualExample,
    ExponentiatedTrainer,
    MarginExample,
    MarginTrainer,
    minimise,
)
from qsproj.models.arc.arc_objectives import check_unclustered, objective_named
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcExample, ArcLearner, ArcScorer, ArcTrainer
from qsproj.models.arc.feature_selection import SUPPORTS, supported_by
from qsproj.models.arc.hashed_weights import aligned_weights
from qsproj.models.arc.labeller import train_labeller
from qsproj.models.arc.training_options import TrainingOptions, TrainingReport, check_optimizer
from qsproj.models.tree_inference import TreeInference, choose_inference
from qsproj.training.loop import EpochRecord, learn
from qsproj.training.margins import LeastChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What training starts from.

    Attributes
    ----------
    sentences : list of Sentence
        Those with a lesson: relations are learned from them.
    lessons : list of Example
        Of each of them, then of sentences without a tree.
    template_set : str
    inference : TreeInference
    support : uint64[buckets / 64]
        The features that exist.
    ignored : tuple of str
        Columns that are empty in all sentences, which the parser is not to look at.
    skipped : dict of str to int
        Reasons why sentences could not be used, and of how many.
    """

    sentences: list[Sentence]
    lessons: list[Example]
    template_set: str
    inference: TreeInference
    support: NDArray[np.uint64]
    ignored: tuple[str, ...]
    skipped: dict[str, int]


def train_arc_parser(
    sentences: Sequence[Sentence],
    *,
    rng: np.random.Generator,
    dev: Sequence[Sentence] = (),
    options: TrainingOptions | None = None,
    weights: Sequence[float] | None = None,
    unlabelled: Sequence[Sentence] = (),
) -> tuple[ArcParser, TrainingReport]:
    """Train a parser on trees; where a head is missing, it is summed out (thesis 3.2.5).

    Parameters
    ----------
    sentences : sequence of Sentence
        Whole or partial trees.
    rng : numpy.random.Generator
        Orders the sentences of each epoch; the same seed gives the same model.
    dev : sequence of Sentence
        Trees to stop early on.
    weights : sequence of float, optional
        How much the arcs of each sentence count, 0 or more; all alike by default. Relations are learned from
        all alike.
    unlabelled : sequence of Sentence
        Sentences whose trees do not matter, of which the model is to be sure, too; those of more than
        MAX_WORDS words are left out.

    Raises
    ------
    UsageError
        When no sentence has a head, an option names something unknown, features that read tags alone find
        none, or sentences count more or less for an objective without a gradient; when the objective makes
        parsers with clusters (:func:`~qsproj.models.clusters.cluster_training.train_cluster_parser`).
    """
    options = options or TrainingOptions()
    check_unclustered(objective_named(options.objective))
    prepared = prepare(sentences, options=options, weights=weights, unlabelled=unlabelled)
    template_set, inference = prepared.template_set, prepared.inference
    dev = [without_columns(sentence, prepared.ignored) for sentence in dev]
    scorer, records = train_scorer(
        prepared.lessons,
        template_set,
        support=prepared.support,
        rng=rng,
        dev=dev,
        inference=inference,
        options=options,
    )
    remarks: tuple[str, ...] = ()
    if objective_named(options.objective).scaled:
        scaled = scaled_to_likelihood(scorer, dev, inference)
        if dev and scaled is None:
            remarks = (
                "no dev tree is one that the parser can build, so that probabilities fit training trees",
            )
        scorer = scaled or scaled_to_likelihood(scorer, prepared.sentences, inference) or scorer
    labeller = train_labeller(
        prepared.sentences, rng=rng, template_set=f"{template_set}{IN_TREE}", ignored=prepared.ignored
    )
    report = TrainingReport(tuple(records), prepared.skipped, remarks)
    return ArcParser(replace(scorer, ignored=prepared.ignored), labeller, inference), report


def prepare(
    sentences: Sequence[Sentence],
    *,
    options: TrainingOptions,
    weights: Sequence[float] | None = None,
    unlabelled: Sequence[Sentence] = (),
) -> Prepared:
    """Choose features and trees, and make lessons; parameters and errors as of :func:`train_arc_parser`."""
    check_optimizer(options)
    if options.support not in SUPPORTS:
        raise unknown_name("support", options.support, list(SUPPORTS))
    data = training_data(
        sentences,
        template_set=options.template_set,
        projective=options.projective,
        single_root=options.single_root,
        weights=weights,
    )
    usable, skipped = data.sentences, data.skipped
    template_set, inference = data.template_set, data.inference
    untrained = ArcScorer.untrained(template_set)
    made = training_examples(usable, untrained, inference, options)
    kept = [sentence for sentence, example in zip(usable, made, strict=True) if example]
    examples = [example for example in made if example]
    if not examples:
        raise NothingToLearnError(
            "no sentence of the training data can be learned from; is the HEAD column empty?"
        )
    if len(kept) < len(usable):
        whole = objective_named(options.objective).whole
        reason = f"a head is missing, which {options.objective} cannot sum out, or " if whole else ""
        skipped[f"{reason}arcs that no possible tree contains"] = len(usable) - len(kept)
    if weights is not None:
        counts = [weight for weight, example in zip(data.weights, made, strict=True) if example]
        examples = [
            weighed_example(example, weight, options)
            for weight, example in zip(counts, examples, strict=True)
        ]
    support = supported_by(
        template_set,
        ((example.encoded, sentence.heads) for example, sentence in zip(examples, kept)),
        cutoff=options.cutoff,
        criterion=options.support,
    )
    return Prepared(
        sentences=kept,
        lessons=[*examples, *entropy_examples(unlabelled, untrained, inference, options)],
        template_set=template_set,
        inference=inference,
        support=support,
        ignored=empty_columns([*kept, *unlabelled], untrained.templates.attributes),
        skipped=skipped,
    )


def trainer_of(
    examples: Sequence[Example],
    template_set: str,
    support: NDArray[np.uint64] | None,
    options: TrainingOptions,
) -> ArcLearner[Any, Any]:
    """Return what learns from examples, which are all of one kind."""
    if options.optimizer != "sgd":
        return BatchLoss(template_set, support, l2=options.l2)
    if examples and isinstance(examples[0], MarginExample):
        return MarginTrainer(template_set, support, rule=partial(LeastChange, limit=options.limit))
    if examples and isinstance(examples[0], DualExample):
        return ExponentiatedTrainer(template_set, support, cost=options.cost)
    return ArcTrainer(template_set, support, rule=options.rule())


def train_scorer(
    examples: Sequence[Example],
    template_set: str,
    *,
    rng: np.random.Generator,
    inference: TreeInference,
    options: TrainingOptions,
    support: NDArray[np.uint64] | None = None,
    dev: Sequence[Sentence] = (),
) -> tuple[ArcScorer, list[EpochRecord]]:
    """Learn arc weights from encoded sentences, each with what is wanted of it."""
    trainer = trainer_of(examples, template_set, support, options)
    # Scores without a scale have no probabilities yet.
    decode = "map" if objective_named(options.objective).scaled else "mbr"
    encoded_dev = [trainer.encode(sentence) for sentence in dev]

    def score(scorer: ArcScorer) -> float:
        scores = (scorer.scores(scorer.features(encoded)) for encoded in encoded_dev)
        return right_heads(dev, (inference.decode(matrix, decode) for matrix in scores))

    if isinstance(trainer, BatchLoss):
        return minimise(
            trainer,
            [example for example in examples if isinstance(example, ArcExample)],
            optimizer=options.optimizer,
            iterations=options.epochs,
            score=score if dev else None,
        )
    return learn(
        trainer,
        examples,
        epochs=options.epochs,
        rng=rng,
        score=score if dev else None,
        description="training arcs",
    )


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Sentences that can be learned from, and the parser that they ask for.

    Attributes
    ----------
    sentences : list of Sentence
        Those that are not too long and have a head.
    skipped : dict of str to int
        How many of the others there are, by the reason.
    template_set : str
        A name in :data:`qsproj.features.arc_templates.TEMPLATE_SETS`.
    inference : TreeInference
    weights : list of float
        How much each sentence counts.
    """

    sentences: list[Sentence]
    skipped: dict[str, int]
    template_set: str
    inference: TreeInference
    weights: list[float]


def training_data(
    sentences: Sequence[Sentence],
    *,
    template_set: str | None,
    projective: bool | None,
    single_root: bool | None,
    weights: Sequence[float] | None = None,
) -> TrainingData:
    """Choose sentences, and read off them what is None.

    Raises
    ------
    UsageError
        When the template set is unknown, or reads tags alone and finds none; when there are more or fewer
        weights than sentences, or one is below 0 or not finite.
    """
    usable, skipped = usable_sentences(sentences)
    given = checked_weights(weights, sentences)
    chosen = template_set or richest_template_set(usable)
    if chosen not in TEMPLATE_SETS:
        raise unknown_name("features", chosen, list(TEMPLATE_SETS))
    if chosen == "delexicalised" and all(set(sentence.upos) <= {UNSPECIFIED} for sentence in usable):
        raise NothingToLearnError(
            "no word of the training data has a UPOS tag, which is all that delexicalised features read; "
            "tag it first (qsproj tag)"
        )
    inference = choose_inference(
        [sentence.heads for sentence in usable], projective=projective, single_root=single_root
    )
    kept = [weight for weight, sentence in zip(given, sentences, strict=True) if not why_unusable(sentence)]
    return TrainingData(usable, skipped, chosen, inference, kept)


def checked_weights(weights: Sequence[float] | None, sentences: Sequence[Sentence]) -> list[float]:
    """Return the weight of each sentence, 1 unless given; UsageError as of :func:`training_data`."""
    if weights is None:
        return [1.0] * len(sentences)
    if len(weights) != len(sentences):
        raise UsageError(
            f"found {counted(len(weights), 'weight')} for {counted(len(sentences), 'sentence')}, "
            "expected one for each"
        )
    for number, weight in enumerate(weights, start=1):
        if not 0.0 <= weight < math.inf:
            raise UsageError(f"found {weight} as the weight of sentence {number}, expected 0 or more")
    return [float(weight) for weight in weights]


def richest_template_set(sentences: Sequence[Sentence]) -> str:
    """Return ``morphology`` when any word has a lemma, XPOS or FEATS, else ``words``."""
    for sentence in sentences:
        if any(cell != "_" for cell in (*sentence.lemmas, *sentence.xpos, *sentence.feats)):
            return "morphology"
    return "words"


# A sample is enough for one number. Scores are made to spread by this much, natural log.
MOST_SENTENCES = 300
LEAST_SPREAD, MOST_SPREAD = 0.1, 10.0


def scaled_to_likelihood(
    scorer: ArcScorer, sentences: Iterable[Sentence], inference: TreeInference
) -> ArcScorer | None:
    """Return the scorer with its weights times that factor under which trees are most probable.

    Parameters
    ----------
    scorer : ArcScorer
        Not changed.
    sentences : iterable of Sentence
        With whole or partial trees; the first MOST_SENTENCES that the model can build are looked at. Held-out
        ones give probabilities that can be trusted, those that were trained on give too sure ones.

    Returns
    -------
    ArcScorer or None
        None when there is no tree that the model can build.
    """
    trees = ((one, tree_objective(one.heads, inference)) for one in sentences)
    sample = islice(((one, objective) for one, objective in trees if objective), MOST_SENTENCES)
    known = [
        (objective, scorer.scores(scorer.features(scorer.encode(sentence)))) for sentence, objective in sample
    ]
    if not known:
        return None
    spread = float(np.std(np.concatenate([scores[:, 1:].ravel() for _, scores in known])))
    if spread == 0.0:
        return scorer

    def loss(log_scale: float) -> float:
        scale = math.exp(log_scale)
        return sum(objective.value_and_gradient(scale * scores)[0] for objective, scores in known)

    bounds = (math.log(LEAST_SPREAD / spread), math.log(MOST_SPREAD / spread))
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.02})
    weights = scorer.weights * np.float32(math.exp(found.x))
    return ArcScorer(scorer.template_set, aligned_weights(weights))
