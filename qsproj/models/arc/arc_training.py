"""Train first-order parsers on whole or partial trees, or train the residual of a given parser.

Residual training learns weights that are added to those of the given parser; L2 keeps the sum near it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT, Hashes, Rng, Scores, Weights, is_whole
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.errors import NothingToLearnError, UsageError, check_name, listed_reasons
from qsproj.features.arc_templates import IN_TREE, TEMPLATE_SETS
from qsproj.features.atoms import empty_columns, without_columns
from qsproj.models.arc import arc_learners, training_options
from qsproj.models.arc import labeller as labelling
from qsproj.models.arc.arc_parser import ArcParser, FirstOrderParser
from qsproj.models.arc.arc_scorer import ArcExample, ArcScorer, ArcTrainer, Scorer, supported_by
from qsproj.models.arc.labeller import LABEL_EPOCHS, Labeller, relations_in, train_labeller
from qsproj.models.arc.punctuation import are_marks
from qsproj.models.arc.training_options import TrainingOptions, TrainingReport, objective_named
from qsproj.models.tree_decoder import TreeDecoder, choose_inference
from qsproj.training.cross_fitting import (
    FEWEST,
    HeldOut,
    best_scale,
    cross_fit,
    exceeds_chance,
    helpful_share,
    in_order,
)
from qsproj.training.loop import EpochRecord, learn
from qsproj.training.margins import DualTree, LeastChange, Margins
from qsproj.training.objectives import AboveBase, LabelLikelihood

Item = TypeVar("Item")
Trained = TypeVar("Trained")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Sentences prepared for training."""

    sentences: list[Sentence]  # the usable ones
    weights: list[float]  # theirs
    examples: list[arc_learners.Example]  # their weighted objectives, then those of sentences without a tree
    start: ArcScorer  # untrained
    inference: TreeDecoder
    support: Hashes  # uint64[buckets / 64]: the features that exist
    ignored: tuple[str, ...]  # columns that are empty everywhere
    skipped: dict[str, int]  # unusable sentences by reason

    def readable(self, sentences: Iterable[Sentence]) -> list[Sentence]:
        return [without_columns(sentence, self.ignored) for sentence in sentences]


def train_arc_parser(
    sentences: Sequence[Sentence],
    *,
    rng: Rng,
    dev: Sequence[Sentence] = (),
    options: TrainingOptions | None = None,
    weights: Sequence[float] | None = None,
    unlabelled: Sequence[Sentence] = (),
    label_epochs: int = LABEL_EPOCHS,
) -> tuple[ArcParser, TrainingReport]:
    """Train a parser on trees, whole or partial; missing heads are summed out (thesis 3.2.5).

    ``dev``: trees for early stopping. ``weights``: weights of the sentences' arcs, 0 or more; relations are
    learned without them in ``label_epochs`` passes, not at all in 0. ``unlabelled``: sentences without trees,
    for entropy regularisation; those of more than MAX_WORDS words are left out. Raises UsageError when no
    sentence has a head, an option has an unknown name, templates of tags alone find no tags, sentences have
    weights and the objective no gradient, or the objective is that of the parser with clusters.
    """
    options = options or TrainingOptions()
    objective = objective_named(options.objective)
    if objective.clustered:
        others = ", ".join(training_options.names_of(lambda one: not one.clustered))
        what = "trains another kind of first-order parser"
        raise UsageError(f"the objective {objective.name} {what}; choose one of: {others}")
    prepared = prepare(sentences, options=options, weights=weights, unlabelled=unlabelled)
    dev, trees = prepared.readable(dev), prepared.inference
    examples, start, support = prepared.examples, prepared.start, prepared.support
    scorer, records = train_scorer(
        examples, start, support=support, rng=rng, dev=dev, inference=trees, options=options
    )
    remarks: tuple[str, ...] = ()
    if objective.scaled:
        scaled = scaled_to_likelihood(scorer, dev, trees)
        if dev and scaled is None:
            reason = "the parser can build no tree of the dev file"
            remarks = (f"{reason}, so probabilities are fitted on training trees",)
        scorer = scaled or _scaled_to_held_out(scorer, prepared, rng=rng, options=options)
    # Delexicalised parsers serve as priors: their scores stay as learned.
    own = objective.temperature if start.template_set != "delexicalised" else 1.0
    kind = partial(ArcParser, temperature=own)
    return finished(kind, scorer, prepared, records, rng=rng, remarks=remarks, label_epochs=label_epochs)


def train_on_passes(
    passes: Iterable[Sequence[Sentence]],
    *,
    labelled: Callable[[], Sequence[Sentence]],
    rng: Rng,
    options: TrainingOptions,
    label_epochs: int,
) -> ArcParser:
    """Train on new trees in each pass, by a loss with a gradient; train the labeller on ``labelled`` ones."""
    trainer: Any = None
    for sentences in passes:
        prepared = prepare(sentences, options=options)
        if trainer is None:
            trainer = ArcTrainer(prepared.start, prepared.support, rule=options.rule())
        learn(trainer, prepared.examples, epochs=1, rng=rng, description="training arcs")
    known = prepare(labelled(), options=options)
    return finished(ArcParser, trainer.averaged(), known, (), rng=rng, label_epochs=label_epochs)[0]


def finished(
    kind: Callable[[Scorer, Labeller | None, TreeDecoder], Trained],
    scorer: Scorer,
    prepared: Prepared,
    records: Sequence[EpochRecord],
    *,
    rng: Rng,
    remarks: tuple[str, ...] = (),
    label_epochs: int = LABEL_EPOCHS,
) -> tuple[Trained, TrainingReport]:
    labeller, ignored = None, prepared.ignored
    if label_epochs:
        templates = f"{prepared.start.template_set}{IN_TREE}"
        labeller = train_labeller(
            prepared.sentences, rng=rng, template_set=templates, epochs=label_epochs, ignored=ignored
        )
    parser = kind(replace(scorer, ignored=ignored), labeller, prepared.inference)
    return parser, TrainingReport(tuple(records), prepared.skipped, remarks)


def prepare(
    sentences: Sequence[Sentence],
    *,
    options: TrainingOptions,
    weights: Sequence[float] | None = None,
    unlabelled: Sequence[Sentence] = (),
) -> Prepared:
    """Choose features and trees, and build examples, as :func:`train_arc_parser` explains."""
    _check_optimizer(options)
    usable, skipped = arc_learners.usable_sentences(sentences)
    weighted = zip(weights or [1.0] * len(sentences), sentences, strict=True)
    given = [weight for weight, sentence in weighted if not arc_learners.why_unusable(sentence)]
    template_set = _template_set(usable, options.template_set)
    shape = {"projective": options.projective, "single_root": options.single_root}
    inference = choose_inference([sentence.heads for sentence in usable], **shape)
    start = ArcScorer.untrained(template_set)
    made = arc_learners.training_examples(usable, start, inference, options)
    rows = [row for row in zip(usable, made, given, strict=True) if row[1]]
    if not rows:
        if usable:
            # None is whole, or all have several roots: crossing arcs are made projective.
            partial = all(not is_whole(sentence.heads) for sentence in usable)
            complete = partial and objective_named(options.objective).whole
            remedy = "complete HEAD" if complete else "leave out single_root (--single-root)"
            raise NothingToLearnError(f"no tree in the training data that the parser can build; {remedy}")
        why = f"left out: {listed_reasons(skipped)}; is the HEAD column empty?"
        raise NothingToLearnError(f"no usable sentence in the training data; {why}")
    kept, examples, counts = map(list, zip(*rows, strict=True))
    if len(kept) < len(usable):
        whole = objective_named(options.objective).whole
        reason = f"a head is missing, which {options.objective} cannot sum out, or " if whole else ""
        skipped[f"{reason}arcs that no possible tree contains"] = len(usable) - len(kept)
    if weights is not None:
        examples = [arc_learners.weighed_example(*both, options) for both in zip(examples, counts)]
    trees = ((example.encoded, sentence.heads) for example, sentence in zip(examples, kept))
    return Prepared(
        sentences=kept,
        weights=counts,
        examples=[*examples, *arc_learners.entropy_examples(unlabelled, start, inference, options)],
        start=start,
        inference=inference,
        support=supported_by(template_set, trees, cutoff=options.cutoff, criterion=options.support),
        ignored=empty_columns([*kept, *unlabelled], start.templates.attributes),
        skipped=skipped,
    )


def _check_optimizer(options: TrainingOptions) -> None:
    batch = training_options.names_of(lambda one: one.batch)
    if options.optimizer != "sgd" and options.objective not in batch:
        fixed = f"an objective that does not change during training: {', '.join(batch)}"
        raise UsageError(f"--optimizer {options.optimizer} requires {fixed}; found {options.objective}")


def train_scorer(
    examples: Sequence[arc_learners.Example],
    start: ArcScorer,
    *,
    rng: Rng,
    inference: TreeDecoder,
    options: TrainingOptions,
    support: Hashes | None = None,
    dev: Sequence[Sentence] = (),
) -> tuple[ArcScorer, list[EpochRecord]]:
    # Unscaled scores do not define probabilities yet.
    decode = "map" if objective_named(options.objective).scaled else "mbr"
    score = arc_learners.scorer_score(dev, start.encode, inference, decode=decode)
    if options.optimizer != "sgd":
        batch: Any = examples
        loss, steps = arc_learners.BatchLoss(start, support, l2=options.l2), options.epochs
        return arc_learners.minimise(loss, batch, optimizer=options.optimizer, iterations=steps, score=score)
    objective: Any = examples[0].objective if examples else None
    trainer: Any
    if isinstance(objective, Margins):
        trainer = arc_learners.MarginTrainer(start, support, rule=partial(LeastChange, limit=options.limit))
    elif isinstance(objective, DualTree):
        trainer = arc_learners.ExponentiatedTrainer(start, support, cost=options.cost)
    else:
        trainer = ArcTrainer(start, support, rule=options.rule())
    return learn(trainer, examples, epochs=options.epochs, rng=rng, score=score, description="training arcs")


def _template_set(sentences: Sequence[Sentence], asked: str | None) -> str:
    chosen = asked or richest_template_set(sentences)
    check_name("features", chosen, TEMPLATE_SETS)
    if chosen == "delexicalised" and all(set(sentence.upos) <= {UNSPECIFIED} for sentence in sentences):
        why = "which is all that delexicalised features read; tag it first (qsproj tag)"
        raise NothingToLearnError(f"no word of the training data has a UPOS tag, {why}")
    return chosen


def richest_template_set(sentences: Sequence[Sentence]) -> str:
    """Return ``morphology`` when any word has a lemma, XPOS or FEATS, else ``words``."""
    rich = any(set(one.lemmas + one.xpos + one.feats) - {UNSPECIFIED} for one in sentences)
    return "morphology" if rich else "words"


MOST_SENTENCES = 300  # a sample is enough to fit the scale
# Least number of sentences of which every fifth is held out from a second parser, to fit probabilities.
HELD_OUT, LEAST_SENTENCES = 5, 20
LEAST_SPREAD, MOST_SPREAD = 0.1, 10.0  # range of the standard deviation of scaled scores, natural log


def scaled_to_likelihood(
    scorer: ArcScorer,
    sentences: Iterable[Sentence],
    inference: TreeDecoder,
    *,
    scaled: ArcScorer | None = None,
) -> ArcScorer | None:
    """Scale the weights of a scorer to maximise the likelihood of trees.

    The perceptron and MIRA learn the best tree, which does not depend on the scale of the weights, unlike
    probabilities. Uses the first MOST_SENTENCES trees that the model can build; returns None if there are
    none. Held-out trees give calibrated probabilities, training trees overconfident ones. ``scaled``: scale
    this scorer in place of the one that scores the trees.
    """
    scaled = scaled or scorer
    trees = ((one, arc_learners.tree_objective(one.heads, inference)) for one in sentences)
    sample = islice(((one, objective) for one, objective in trees if objective), MOST_SENTENCES)
    known = [(right, scorer.scores(scorer.features(scorer.encode(one)))) for one, right in sample]
    if not known:
        return None
    spread = float(np.std(np.concatenate([scores[:, 1:].ravel() for _, scores in known])))
    if spread == 0.0:
        return scaled

    def loss(scale: float) -> float:
        return sum(objective.value_and_gradient(scale * scores)[0] for objective, scores in known)

    scale = best_scale(loss, LEAST_SPREAD / spread, MOST_SPREAD / spread, tolerance=0.02)
    return scaled.with_weights(scaled.weights * np.float32(scale))


def _scaled_to_held_out(
    scorer: ArcScorer, prepared: Prepared, *, rng: Rng, options: TrainingOptions
) -> ArcScorer:
    """Scale a scorer by the scale that fits held-out trees.

    A second scorer, trained on four fifths of the trees, is fitted to the other fifth. Fewer trees than
    LEAST_SENTENCES, or trees without a tag in the four fifths, fit the scorer itself.
    """
    trees, shape = prepared.sentences, options.with_shape(prepared.start.template_set, prepared.inference)
    rest = [place for place in range(len(trees)) if place % HELD_OUT]
    weights = [prepared.weights[place] for place in rest] if set(prepared.weights) != {1.0} else None
    other = None
    if len(trees) >= LEAST_SENTENCES:
        with suppress(NothingToLearnError):
            other = prepare([trees[place] for place in rest], options=shape, weights=weights)
    if other is None:
        return scaled_to_likelihood(scorer, trees, prepared.inference) or scorer
    how: dict[str, Any] = {"inference": other.inference, "options": shape}
    unseeing, _ = train_scorer(other.examples, other.start, support=other.support, rng=rng, **how)
    return scaled_to_likelihood(unseeing, trees[::HELD_OUT], other.inference, scaled=scorer) or scorer


def cross_fitted_parsers(
    train: Callable[[list[Item]], Trained],
    sentences: Sequence[Item],
    *,
    folds: int,
    rng: Rng | None = None,
    again: Sequence[Item] = (),
) -> Iterator[tuple[int, Trained]]:
    """Train a parser for each fold on the other folds; yield it with the index of each sentence of the fold.

    A parser is overconfident on its own training trees: joint weights trained on its scores there would find
    no errors to correct, and unrealistic pruning. ``again``: the same sentences with other tags, as further
    training data. One parser is in memory at a time.
    """

    def fit(others: list[int]) -> Trained:
        return train([one[i] for one in (sentences, again) if one for i in others])

    return cross_fit(len(sentences), fit, lambda parser, _: parser, folds=folds, rng=rng)


def training_like(
    parser: ArcParser, options: TrainingOptions, rng: Rng
) -> Callable[[Sequence[Sentence]], ArcParser]:
    """Return a function that trains parsers with the features and decoder of another, without relations."""
    shape = options.with_shape(parser.scorer.template_set, parser.inference)
    return lambda trees: train_arc_parser(trees, rng=rng, options=shape, label_epochs=0)[0]


def cross_fitted_relations(
    sentences: Sequence[Sentence], labeller: Labeller, *, rng: Rng, folds: int = 5
) -> list[Scores]:
    """Score the relations of each tree by a labeller of others, float64[n+1, L]; unseen ones lowest."""

    def fit(others: list[int]) -> Labeller | None:
        rest = [sentences[i] for i in others]
        if not relations_in(rest):
            return None
        return train_labeller(rest, rng=rng, template_set=labeller.template_set, ignored=labeller.ignored)

    def score(other: Labeller | None, i: int) -> Scores:
        sentence = sentences[i]
        scores: Scores = np.zeros((len(sentence) + 1, len(labeller.relations)))
        if other is not None:
            own = other.scores(other.encode(sentence), sentence.heads)
            scores[:] = own.min()
            scores[:, [labeller.relations.index(name) for name in other.relations]] = own
        return scores

    return in_order(cross_fit(len(sentences), fit, score, folds=folds, rng=rng))


def train_residual(
    base: ArcParser, examples: Iterable[ArcExample], *, rng: Rng, options: TrainingOptions, repeats: int = 1
) -> ArcParser:
    """Learn weights to add to those of a parser; return the parser with the sums.

    Examples are encoded for ``base``, objectives of the summed scores. ``repeats``: trainings averaged.
    """
    residual = []
    for example in examples:
        own = base.scorer.scores(base.scorer.features(example.encoded))
        residual.append(ArcExample(example.encoded, AboveBase(own, example.objective)))
    parser, untrained = base, ArcScorer.untrained(base.scorer.template_set)
    for _ in range(repeats):
        trainer = ArcTrainer(untrained, rule=options.rule())
        added, _ = learn(trainer, residual, epochs=options.epochs, rng=rng, description="training arcs")
        parser = with_weights(parser, parser.scorer.weights + added.weights / np.float32(repeats))
    return parser


def with_weights(parser: ArcParser, weights: NDArray[Any]) -> ArcParser:
    return replace(parser, scorer=parser.scorer.with_weights(weights))


FOLDS, MOST_HELD_OUT = 5, 100  # cross-fitting of annotated trees: folds, and maximum number of held-out trees


def tuned_and_judged(
    parser: ArcParser,
    trees: Sequence[Sentence],
    *,
    rng: Rng,
    seen: Callable[[Sentence], Sentence] = lambda tree: tree,
) -> tuple[ArcParser, list[tuple[Sentence, Scores]]]:
    """Fine-tune a parser on more trees, whole or partial, as far as held-out trees gain from it.

    A residual of the arc weights, divided by the temperature, is trained by conditional likelihood. The
    labeller is trained further; a new relation starts from that without subtype, ``obl:arg`` from ``obl``.
    Only a share of each change is made, the :func:`helpful_share` by cross-fitting; a single tree changes
    nothing. Punctuation is attached by the guidelines unless held-out trees contradict them significantly.
    Trees that the parser cannot build are left out; UsageError when none is left.

    Also returns held-out trees with arc scores by parsers of other trees, after ``seen`` replaced their tags.
    """
    usable, examples = annotated_examples(parser, trees)
    if len(usable) < FEWEST:
        return parser, []
    start, temperature = parser, np.float32(parser.temperature)
    if parser.labeller is not None:
        labeller = labelling.with_relations(parser.labeller, labelling.relations_in(usable))
        start = replace(parser, labeller=labeller)
    flatter = with_weights(start, start.scorer.weights / temperature)

    def tuned(numbers: list[int]) -> ArcParser:
        known = [example for one in numbers if (example := examples[one])]
        learned = train_residual(flatter, known, rng=rng, options=TrainingOptions()) if known else flatter
        labeller = fine_tuned_labeller(start, [usable[one] for one in numbers], rng=rng)
        return replace(with_weights(learned, learned.scorer.weights * temperature), labeller=labeller)

    learned = tuned(list(range(len(usable))))
    held_out = rng.permutation(len(usable))[:MOST_HELD_OUT].tolist()
    arcs, relations, judged = list[HeldOut](), list[HeldOut](), list[tuple[Sentence, Scores, Scores]]()
    marks_lost = marks_changed = 0  # by following the guidelines
    for at, other in cross_fitted_parsers(tuned, held_out, folds=FOLDS):
        tree, example = usable[held_out[at]], examples[held_out[at]]
        if example is not None:
            arcs.append(HeldOut(example.objective, start.scores(tree), other.scores(tree)))
            judged.append((tree, *(one.scores(seen(tree)) for one in (start, other))))
        if start.labeller is not None and other.labeller is not None:
            encoded = start.labeller.encode(tree)
            before, after = (one.scores(encoded, tree.heads) for one in (start.labeller, other.labeller))
            known = np.where(tree.heads > ROOT, labelling.known_relations(tree, start.labeller.relations), -1)
            relations.append(HeldOut(LabelLikelihood(known), before, after))
        if parser.attaches_marks:
            as_learned = replace(other, attaches_marks=False)
            lost = _right_marks(as_learned, tree) - _right_marks(other, tree)
            marks_lost += int(lost.sum())
            marks_changed += int(np.count_nonzero(lost))
    share = helpful_share(arcs)
    scored = [(tree, before + share * (after - before)) for tree, before, after in judged]
    found = with_weights(learned, _between(start.scorer, learned.scorer, share))
    contradicts = exceeds_chance(marks_lost - 1, marks_changed)  # with a correction for continuity
    found = replace(found, attaches_marks=parser.attaches_marks and not contradicts)
    if start.labeller is None or learned.labeller is None:
        return found, scored
    weights = _between(start.labeller, learned.labeller, helpful_share(relations))
    return replace(found, labeller=replace(learned.labeller, weights=weights)), scored


def _right_marks(parser: ArcParser, tree: Sentence) -> NDArray[np.int64]:
    """Return 1 for each punctuation mark of a tree that a parser attaches correctly, else 0; int64[n+1]."""
    heads = parser.heads(parser.marked_scores(tree))
    return (are_marks(tree.upos) & (heads == tree.heads)).astype(np.int64)


def _between(before: ArcScorer | Labeller, after: ArcScorer | Labeller, share: float) -> Weights:
    return before.weights + np.float32(share) * (after.weights - before.weights)


def annotated_examples(
    parser: FirstOrderParser[Any], trees: Sequence[Sentence]
) -> tuple[list[Sentence], list[ArcExample | None]]:
    """Return the usable trees, and the encoded example of each, None if the parser cannot build it."""
    usable, _ = arc_learners.usable_sentences(trees)
    examples = arc_learners.tree_examples(usable, parser.scorer, parser.inference, objective="likelihood")
    if not any(examples):
        root = " and a single root" if parser.inference.single_root else ""
        raise NothingToLearnError(f"no usable annotated sentence: none has a head{root}")
    return usable, examples


def fine_tuned_labeller(
    parser: FirstOrderParser[Any], trees: Sequence[Sentence], *, rng: Rng
) -> Labeller | None:
    templates, start = f"{parser.scorer.template_set}{IN_TREE}", parser.labeller
    learned = train_labeller(trees, rng=rng, template_set=templates, start=start, ignored=parser.ignored)
    return learned or start
