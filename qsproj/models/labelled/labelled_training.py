"""Training of the labelled parser: arcs and relations by one objective, then the labeller."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from qsproj.conventions import NO_HEAD, Floats, Hashes, Mask, Rng, is_whole
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.errors import NothingToLearnError, UsageError
from qsproj.features.arc_templates import IN_TREE
from qsproj.features.atoms import EncodedSentence
from qsproj.kernels.features.arc_features import NEGLIGIBLE
from qsproj.kernels.features.label_features import gather_relations
from qsproj.models.arc.arc_learners import right_heads, tree_objective
from qsproj.models.arc.arc_scorer import ArcTrainer, supported_by
from qsproj.models.arc.arc_training import HELD_OUT, LEAST_SENTENCES, Prepared, prepare
from qsproj.models.arc.labeller import HASH_BITS, known_relations, relations_in, train_labeller, untrained
from qsproj.models.arc.training_options import TrainingOptions, TrainingReport, margin_of, names_of
from qsproj.models.labelled import labelled_parser
from qsproj.models.labelled.labelled_parser import LabelledParser, RelationScorer, all_arcs, best_chances
from qsproj.models.tree_decoder import TreeDecoder, of_tree, reachable
from qsproj.training.cross_fitting import best_scale
from qsproj.training.loop import EpochRecord, Steps, learn
from qsproj.training.objectives import UNKNOWN, LabelledTree

# The encoded words of a training sentence, its labelled tree, and its weight.
LabelledExample = tuple[EncodedSentence, LabelledTree, float]


def labelled_trainer(
    start: LabelledParser, support: Hashes, *, options: TrainingOptions
) -> Steps[LabelledExample, LabelledParser]:
    """Return a trainer of weights of arcs and of their relations, one sentence a step."""
    relations = start.relations
    arcs = ArcTrainer(start.scorer, support, rule=options.rule())
    rule = options.rule()(relations.weights.reshape(-1))

    def step(example: LabelledExample) -> float:
        encoded, tree, weight = example
        features, of_relations = arcs.live.features(encoded), relations.hashed(encoded)
        scores = relations.scores(of_relations, arcs.live.scores(features), all_arcs(len(encoded)))
        loss, arc_slopes, slopes = tree.value_and_gradient(scores)
        arcs.descend(features, weight * arc_slopes)
        ends = scores.heads, scores.dependents
        rule.gather(gather_relations, of_relations, *ends, weight * slopes, NEGLIGIBLE)
        rule.step()
        return weight * loss

    def averaged() -> LabelledParser:
        mean = rule.mean().reshape(relations.weights.shape).astype(np.float32)
        return replace(start, scorer=arcs.averaged(), relations=replace(relations, weights=mean))

    return Steps(step, averaged, [arcs, rule])


def train_labelled_parser(
    sentences: Sequence[Sentence],
    *,
    rng: Rng,
    dev: Sequence[Sentence] = (),
    options: TrainingOptions | None = None,
    weights: Sequence[float] | None = None,
) -> tuple[LabelledParser, TrainingReport]:
    """Train a parser on labelled trees; missing heads and relations are summed out.

    The objective is a likelihood, with or without a margin, 1 for each wrong word. A second parser, trained
    on four fifths of the sentences, calibrates the probabilities of the first.
    """
    options = options or TrainingOptions()
    summed = names_of(lambda one: one.margin is not None)
    if options.objective not in summed or options.optimizer != "sgd":
        asked = options.objective if options.optimizer == "sgd" else f"--optimizer {options.optimizer}"
        found = f"relations are inside the tree with {' and '.join(summed)}, by sgd, not {asked}"
        raise UsageError(f"{found}; leave --labels joint out")
    prepared = prepare(sentences, options=options, weights=weights)
    if not relations_in(prepared.sentences):
        raise NothingToLearnError("no word of the training data has a relation; leave --labels joint out")
    parser, records = _learned(prepared, rng=rng, dev=prepared.readable(dev), options=options)
    kept, kept_weights = prepared.sentences, prepared.weights
    rest = [place for place in range(len(kept)) if place % HELD_OUT]
    others = [kept[place] for place in rest]
    if len(kept) >= LEAST_SENTENCES and relations_in(others):
        alike = options.with_shape(prepared.start.template_set, prepared.inference)
        again = prepare(others, options=alike, weights=[kept_weights[place] for place in rest])
        unseeing, _ = _learned(again, rng=rng, dev=(), options=options)
        judged = calibrated(unseeing, kept[::HELD_OUT])
        of_arcs, of_relations = judged.temperature, judged.relation_temperature
        parser = replace(parser, temperature=of_arcs, relation_temperature=of_relations)
    return parser, TrainingReport(tuple(records), prepared.skipped)


def _learned(
    prepared: Prepared, *, rng: Rng, dev: Sequence[Sentence], options: TrainingOptions
) -> tuple[LabelledParser, list[EpochRecord]]:
    sentences, inference, ignored = prepared.sentences, prepared.inference, prepared.ignored
    encoded = [example.encoded for example in prepared.examples]
    names = tuple(sorted(relations_in(sentences)))
    words = zip(encoded, sentences, strict=True)
    seen = ((own, sentence.heads, known_relations(sentence, names)) for own, sentence in words)
    templates, weights = prepared.start.template_set, np.zeros((1 << HASH_BITS, len(names)), np.float32)
    candidates = labelled_parser.Candidates.of_trees(seen, len(names))
    relations = RelationScorer(templates, names, weights, candidates)
    trees = (labelled_tree(sentence, names, inference, objective=options.objective) for sentence in sentences)
    rows = zip(encoded, trees, prepared.weights, strict=True)
    examples = [(own, tree, weight) for own, tree, weight in rows if tree]
    known = ((own, tree.heads) for own, tree, _ in examples)
    support = supported_by(templates, known, cutoff=options.cutoff, criterion=options.support)
    in_tree = untrained(f"{templates}{IN_TREE}", names, ignored=ignored)
    start = LabelledParser(replace(prepared.start, ignored=ignored), in_tree, inference, relations)

    trainer = labelled_trainer(start, support, options=options)
    score = (lambda one: right_heads(dev, (one.heads(one.beliefs(tree)) for tree in dev))) if dev else None
    what = "training arcs and relations"
    parser, records = learn(trainer, examples, epochs=options.epochs, rng=rng, score=score, description=what)
    labeller = train_labeller(sentences, rng=rng, template_set=in_tree.template_set, start=in_tree)
    return replace(parser, labeller=labeller or in_tree), records


def labelled_tree(
    sentence: Sentence, relations: Sequence[str], inference: TreeDecoder, *, objective: str
) -> LabelledTree | None:
    """Return the loss of a tree, or of the nearest possible one; None where the model can build none."""
    found = tree_objective(sentence.heads, inference, objective)
    if found is None:
        return None
    heads = reachable(sentence.heads, inference)
    known = np.where(heads == sentence.heads, known_relations(sentence, relations), np.int64(UNKNOWN))
    margin = margin_of(objective, "a labelled parser") if is_whole(heads) else 0.0
    return LabelledTree(found, heads, known, margin)


# Range of temperatures; probabilities are clipped to a distance of DOUBT from 0 and 1.
COLDEST, WARMEST, DOUBT = 0.5, 8.0, 1e-4


def calibrated(parser: LabelledParser, sentences: Sequence[Sentence]) -> LabelledParser:
    """Return a parser with the temperatures that fit its probabilities best to trees that it has not seen.

    The loss is the negative log-probability of whether the arc, then arc and relation, are right. *Source*:
    Guo et al. 2017, 4.2 (temperature scaling); the binary loss is ours, as arcs are pruned.
    """
    posteriors = [parser.beliefs(sentence) for sentence in sentences]
    trees = [parser.heads(posterior) for posterior in posteriors]
    scores = list(map(parser.relation_scores, map(parser.encode, sentences), posteriors, trees))
    gold = np.concatenate([sentence.heads[1:] for sentence in sentences])
    wanted = np.concatenate([sentence.deprels for sentence in sentences])
    right = np.concatenate([heads[1:] for heads in trees]) == gold
    names, known = np.array(parser.relations.relations), gold != NO_HEAD
    named = right & (np.concatenate([names[matrix.argmax(axis=1)] for matrix in scores]) == wanted)
    labelled = known & (wanted != UNSPECIFIED)
    if not labelled.any():
        return parser

    def arcs(temperature: float) -> Floats:
        believed = (parser.believed(one.scores.tempered(temperature)).marginals for one in posteriors)
        return np.concatenate(list(map(of_tree, believed, trees)))

    def relations(temperature: float) -> Floats:
        return np.concatenate([best_chances(matrix, temperature=temperature) for matrix in scores])

    fitted = partial(best_scale, least=COLDEST, most=WARMEST, tolerance=0.01)
    temperature = fitted(lambda one: surprise(arcs(one)[known], right[known]))
    stated = arcs(temperature)
    own = fitted(lambda one: surprise((stated * relations(one))[labelled], named[labelled]))
    return replace(parser, temperature=temperature, relation_temperature=own)


def surprise(stated: Floats, right: Mask) -> float:
    sure = np.clip(stated, DOUBT, 1.0 - DOUBT)
    return float(-np.log(np.where(right, sure, 1.0 - sure)).mean())
