"""Training of the parser of words alone: stochastic gradient through belief propagation (thesis 2.7).

Training sentences are treated as in parsing: their tags come from a tagger, and their pruned arcs from a
parser, that have not seen them. Models that have are too sure of the right answer and leave nothing to learn.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from qsproj.conventions import MAX_WORDS, NO_HEAD, Floats, Mask, Rng, is_whole
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.errors import NothingToLearnError, check_name, pluralise
from qsproj.kernels.features.second_order_features import gather_factors
from qsproj.kernels.features.sparse_gradient import gather_rows
from qsproj.models.arc.arc_learners import check_finite, dev_score
from qsproj.models.arc.arc_scorer import ArcTrainer
from qsproj.models.arc.arc_training import cross_fitted_parsers, train_arc_parser, training_like
from qsproj.models.arc.training_options import TrainingOptions, TrainingReport, margin_of
from qsproj.models.tagging import tagging_parser
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.tagging.tagging_parser import FactorValues, TaggingOptions, TaggingParser, TaggingWeights
from qsproj.models.tree_decoder import arcs_in, reachable
from qsproj.training.cross_fitting import cross_fit, in_order
from qsproj.training.loop import Steps, learn
from qsproj.training.optimiser import AdaGrad

KIND = "a parser that tags"
TEMPLATE_SETS = ("words",)
TAGGER_FOLDS = 4
PARSER_FOLDS = 2
PRUNING_EPOCHS = 5

# Half the first-order step size: beliefs that are far off give misleading gradients.
RATE_SHARE = 0.5
# Initial squared gradients of TAGLINK. Other factors over several variables take 1; not tried here.
INITIAL_SQUARES = 0.1
NEGLIGIBLE = 1e-4


# The features of a training sentence, the arcs of its tree, bool[E], and its factor counts.
TaggingExample = tuple[tagging_parser.TaggingFeatures, Mask, FactorValues]


def train_tagging_parser(
    sentences: Sequence[Sentence],
    *,
    rng: Rng,
    dev: Sequence[Sentence] = (),
    options: TrainingOptions | None = None,
    tagging_options: TaggingOptions | None = None,
) -> tuple[TaggingParser, TrainingReport]:
    options = options or TrainingOptions()
    margin_of(options.objective, KIND)
    # Only words and UPOS are read.
    options = replace(options, template_set=options.template_set or TEMPLATE_SETS[0])
    check_name("features of a parser that tags", options.template_set, TEMPLATE_SETS)
    tagger = train_tagger(sentences, rng=rng)
    if len(sentences) < TAGGER_FOLDS:
        found = f"{pluralise(len(sentences), 'sentence')} to learn tags and trees from"
        why = "each is tagged by a tagger trained on others"
        raise NothingToLearnError(f"found {found}, expected at least {TAGGER_FOLDS}: {why}")
    if len(tagger.tags) < 2:
        expected = "at least two different UPOS tags"
        raise NothingToLearnError(f"found {tagger.tags[0]} on every word, expected {expected}")
    tagged = [tagger.tag(sentence) for sentence in dev]
    base, first_report = train_arc_parser(sentences, rng=rng, dev=tagged, options=options)
    untrained = TaggingWeights.untrained(base.scorer.template_set, n_tags=len(tagger.tags))
    start = TaggingParser(tagger, base, untrained, tagging_options or TaggingOptions())
    examples = tagging_examples(sentences, start, rng=rng, options=options)
    skipped = dict(first_report.skipped)
    if partial := sum(0 < np.sum(s.heads[1:] == NO_HEAD) < len(s) for s in sentences):
        skipped["not every word has a head"] = int(partial)
    trainer, score, what = tagging_trainer(start, options), dev_score(dev), "training tags and arcs"
    parser, records = learn(trainer, examples, epochs=options.epochs, rng=rng, score=score, description=what)
    return parser, TrainingReport(tuple(records), skipped)


def tagging_examples(
    sentences: Sequence[Sentence], start: TaggingParser, *, rng: Rng, options: TrainingOptions
) -> list[TaggingExample]:
    """Build the graphs of sentences with whole trees, as ``start`` would had it not seen them."""
    distributions, tagged = cross_fitted_tags(sentences, start.tagger, rng=rng)
    inference = start.inference
    usable = (i for i, one in enumerate(sentences) if len(one) <= MAX_WORDS and is_whole(one.heads))
    whole = [i for i in usable if inference.admits(arcs_in(reachable(sentences[i].heads, inference)))]
    if len(whole) < PARSER_FOLDS:
        expected = f"at least {PARSER_FOLDS}; annotate more"
        raise NothingToLearnError(f"found {len(whole)} whole trees, expected {expected}")
    trees = [tagged[i] for i in whole]
    options = replace(options, epochs=min(options.epochs, PRUNING_EPOCHS))
    train = training_like(start.base, options, rng)
    parsers = cross_fitted_parsers(train, trees, folds=PARSER_FOLDS, rng=rng)
    scores = {whole[i]: parser.scores(trees[i]) for i, parser in parsers}
    tags, examples = start.tagger.tags, []
    for i in whole:
        arcs = arcs_in(reachable(sentences[i].heads, inference))
        numbers = np.array([tags.index(tag) for tag in sentences[i].upos], dtype=np.int32)
        required = arcs, np.eye(len(tags), dtype=np.bool_)[numbers]
        encoded = start.base.scorer.encode(tagged[i])
        features = start.features(encoded, distributions[i], inference.infer(scores[i])[1], required=required)
        agrees = arcs[features.graph.heads, features.graph.dependents]
        observed = tagging_parser.observed_values(features.graph, agrees, numbers)
        examples.append((features, agrees, observed))
    return examples


def cross_fitted_tags(
    sentences: Sequence[Sentence], tagger: Tagger, *, rng: Rng
) -> tuple[list[Floats], list[Sentence]]:
    """Tag each sentence by a tagger not trained on it; also return float64[n, K], by ``tagger``'s tags."""

    def fit(others: list[int]) -> Tagger:
        return train_tagger([sentences[i] for i in others], rng=rng)

    def tag(other: Tagger, i: int) -> tuple[Floats, Sentence]:
        distribution = np.zeros((len(sentences[i]), len(tagger.tags)))
        distribution[:, [tagger.tags.index(tag) for tag in other.tags]] = other.tag_distribution(sentences[i])
        return distribution, with_columns(sentences[i], upos=other.tag_words(sentences[i].forms))

    tagged = in_order(cross_fit(len(sentences), fit, tag, folds=TAGGER_FOLDS, rng=rng))
    return [distribution for distribution, _ in tagged], [sentence for _, sentence in tagged]


def tagging_trainer(start: TaggingParser, options: TrainingOptions) -> Steps[TaggingExample, TaggingParser]:
    """Return a trainer of the weights of all factors together, one sentence a step."""
    rule = partial(AdaGrad, rate=RATE_SHARE * options.rate, l2=options.l2)
    rows = tagging_parser.trigram_rows(len(start.tagger.tags))
    arcs = ArcTrainer(start.weights.arcs, rule=options.rule(share=RATE_SHARE))
    tag_links = rule(start.weights.tag_links.copy(), capacity=1 << 18, first_squares=INITIAL_SQUARES)
    trigrams = rule(start.weights.trigrams.copy(), capacity=rows.size)
    # The arc trainer scores its own arcs.
    live = TaggingWeights(start.weights.arcs, tag_links.weights, trigrams.weights)
    margin, iterations = margin_of(options.objective, KIND), start.options.iterations

    def step(example: TaggingExample) -> float:
        features, agrees, (seen_arcs, seen) = example
        graph, of_arcs = features.graph, arcs.live.features(features.encoded)
        arc_scores = arcs.live.scores(of_arcs)
        links, scores = live.scores(features, arc_scores)
        check_finite(links, *scores)
        handicapped = links + margin * ~agrees, scores
        found = tagging_parser.infer_tags_and_tree(graph, handicapped, iterations=iterations)
        _, log_odds, (chances, fired) = found
        slopes = [own - other for own, other in zip(fired, seen, strict=True)]
        arc_slopes = np.zeros_like(arc_scores)
        arc_slopes[graph.heads, graph.dependents] = chances - seen_arcs
        arcs.descend(of_arcs, arc_slopes)
        pairs = np.concatenate(slopes[tagging_parser.ROOT_TAGLINK :])
        tag_links.gather(gather_factors, features.tag_links, pairs)
        tag_links.step()
        of_trigrams = slopes[tagging_parser.TRIGRAM]
        of_trigrams[np.abs(of_trigrams) < NEGLIGIBLE] = 0.0
        trigrams.gather(gather_rows, rows, of_trigrams)
        trigrams.step()
        missed = np.logaddexp(0.0, -log_odds[agrees]).sum()
        right_tags = fired[tagging_parser.TAG][seen[tagging_parser.TAG] > 0.0]
        return float(missed - np.log(np.maximum(right_tags, 1e-12)).sum())

    def averaged() -> TaggingParser:
        return replace(start, weights=TaggingWeights(arcs.averaged(), tag_links.mean(), trigrams.mean()))

    return Steps(step, averaged, [arcs, tag_links, trigrams])
