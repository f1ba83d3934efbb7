"""Soft projection: a prior parser of other languages, adapted to uncertain evidence from translations.

The prior is a parser trained on trees of one or several other languages; it reads tags alone, or words
translated through links. Weights of all features of words and tags are added to it and trained to maximise
the likelihood of the evidence that parsed translations give for target arcs. Without evidence the prior
decides; L2 pulls the weights towards it. Heads and relations of the target are never used.

*Source*: ours, after the transfer with distributions over trees of Ma and Xia 2014 (papers: thesis 4.5 for
projection, 3.2.5 for latent arcs).
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from qsproj.conventions import MAX_WORDS, Rng, Scores
from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.editing import with_heads, with_predicted_heads, without_tree
from qsproj.corpus.pairs.translations import Translations, join_same_targets
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import NothingToLearnError, listed_reasons, pluralise
from qsproj.models.arc.arc_learners import usable_sentences
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcExample
from qsproj.models.arc.arc_training import train_residual, with_weights
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.tree_decoder import has_several_roots
from qsproj.pipelines.projection import methods, soft_evidence
from qsproj.pipelines.projection.priors import HELD_OUT, SOURCE_TREES, join_priors
from qsproj.progress import track
from qsproj.styles.detect import detect_style
from qsproj.training.cross_fitting import FEWEST
from qsproj.training.objectives import EvidenceLikelihood

# Temperature of a parser that is equally confident on training and new sentences. With gold tags 1.9 to 2.4
# are best on dev files from four New Testaments.
USUAL_TEMPERATURE = 2.1
FACTORS = (1.0, 1.25, 1.5)  # factors of the temperature to interpolate between
# Number of averaged runs with other orders of the pairs: one is overconfident, three are no better.
REPEATS = 2
FEW_PAIRS = 100
FEW_PAIRS_WARNING = (
    f"learned from fewer than {FEW_PAIRS} pairs: the parser is little more than its prior, of another "
    "language, and ArcProb may be far too high; more pairs help"
)
# Minimum number of occurrences, and minimum agreement among them, to determine a dimension of style. Badly
# parsed UD conjuncts agree with chains in 92% of the cases, hand-annotated chains in 99%.
LEAST_PLACES, LEAST_AGREEING = 5, 0.93
# Minimum share of known relations: treebanks of one style share nearly all, apart from subtypes.
LEAST_KNOWN = 0.5


def overconfidence(
    parser: ArcParser, learned: Sequence[Sentence], new: Sequence[Sentence], *, temperature: float
) -> float:
    """Return the factor of the temperature that makes training sentences as confident as new ones."""

    def confidence(scores: Iterable[Scores], temperature: float) -> np.floating:
        marginals = (parser.inference.infer(one / temperature)[1] for one in scores)
        return np.concatenate([one[:, 1:].max(axis=0) for one in marginals]).mean()

    if not new:
        return 1.0
    of_new, of_learned = (list(map(parser.scores, sentences)) for sentences in (new, learned))
    found = [-confidence(of_learned, factor * temperature) for factor in FACTORS]
    return float(np.interp(-confidence(of_new, temperature), found, FACTORS))


def project_soft(
    corpora: Sequence[Iterable[SentencePair]],
    *,
    priors: Sequence[ArcParser],
    rng: Rng,
    options: methods.SoftProjectionOptions | None = None,
    annotated: Sequence[Sentence] = (),
    expletives: bool = False,
) -> methods.Projected:
    """Train a parser of the target language from priors and the evidence of translations.

    ``corpora``: sentence pairs of each source, with source trees and target tags; read more than once, and
    joined by their targets. One target sentence in HELD_OUT only serves to calibrate. ``priors``: voting
    parsers of tags, or of words of the target as well. The returned trees are the best under parser and
    evidence. The ``annotated`` trees fine-tune the parser and its relations at the end.
    ``expletives``: whether reflexive pronouns are *expl* in the target.

    Raises UsageError when the priors cannot be joined, a corpus has no source head or no target tag, no
    sentence has evidence, or no annotated sentence has a head.
    """
    options = options or methods.SoftProjectionOptions()
    prior, most, share = join_priors(priors, projective=options.projective), options.sentences, options.share
    learned_from = soft_evidence.DensestPairs(sentences=most, words=methods.ENOUGH_WORDS)
    few = most and max(most // HELD_OUT, 1)
    held_out = soft_evidence.DensestPairs(sentences=few, words=methods.ENOUGH_WORDS // HELD_OUT)
    for number, translations in enumerate(
        track(checked_translations(corpora), "choosing pairs", unit="pair"), start=1
    ):
        (learned_from if number % HELD_OUT else held_out).add(translations)
    chosen, left_out = learned_from.chosen, learned_from.left_out
    if not chosen:
        remedy = soft_evidence.REMEDIES[max(left_out, key=left_out.__getitem__)]
        raise NothingToLearnError(f"all pairs are left out: {listed_reasons(left_out)}; {remedy}")
    evidence = [options.strength * one for one in learned_from.evidence]
    targets = [translations[0].target for translations in chosen]
    examples = [
        ArcExample(prior.scorer.encode(target), EvidenceLikelihood(one, prior.inference.infer))
        for target, one in zip(targets, evidence, strict=True)
    ]
    training = TrainingOptions(epochs=options.epochs, l2=options.l2)
    learned = train_residual(prior, examples, rng=rng, options=training, repeats=REPEATS).scorer.weights
    weights = prior.scorer.weights + np.float32(share) * (learned - prior.scorer.weights)
    parser = with_weights(prior, weights)
    scorer = parser.scorer
    scores = (scorer.scores(scorer.features(example.encoded)) for example in examples)
    attached = list(map(best_tree, targets, map(np.add, scores, evidence), itertools.repeat(parser)))
    reflexives = soft_evidence.reflexives_of(chosen) if expletives else frozenset[str]()
    labeller, labelled = soft_evidence.learn_relations(
        attached, chosen, prior=prior.labeller, rng=rng, strength=options.strength, reflexives=reflexives
    )
    # Shares above 1 inflate the scores. Calibration error of Wolof with share 1.25: 2.2, without this 8.6.
    temperature = USUAL_TEMPERATURE * max(share, 1.0)
    # Held-out pairs: as new to the prior as test data.
    new = [translations[0].target for translations in held_out.chosen]
    temperature *= overconfidence(parser, targets[:: HELD_OUT - 1], new, temperature=temperature)
    warning = (FEW_PAIRS_WARNING,) if len(labelled) < FEW_PAIRS else ()
    projected = replace(parser, labeller=labeller, temperature=temperature, attaches_marks=True)
    if annotated:
        projected = projected.fine_tuned(annotated, rng=rng)
    report = (
        *warning,
        f"{pluralise(len(priors), 'prior parser')}; trained on {pluralise(len(labelled), 'pair')} "
        f"of {pluralise(sum(map(len, labelled)), 'target word')}; "
        f"evidence weight {share:.2f}",
        f"left out: {listed_reasons(left_out)}; every tenth pair is held out for calibration",
        f"temperature of ArcProb {temperature:.2f}",
        *(annotated_report(annotated, itertools.chain.from_iterable(chosen)) if annotated else ()),
    )
    numbers = {} if labeller is None else {name: at for at, name in enumerate(labeller.relations)}

    def trees() -> Iterator[Sentence]:
        # Of the parser before fine-tuning; sentences that are too long have no tree.
        for translations in checked_translations(corpora):
            target = translations[0].target
            if not 0 < len(target) <= MAX_WORDS:
                yield without_tree(target)
                continue
            pooled = soft_evidence.pooled_evidence(translations)
            tree = best_tree(target, parser.scores(target) + options.strength * pooled, parser)
            if labeller is not None:
                known = soft_evidence.relation_evidence(translations, tree.heads, numbers, reflexives)
                labels = labeller.label(labeller.encode(tree), tree.heads, options.strength * known)
                tree = with_heads(tree, tree.heads, labels)
            yield tree

    return methods.Projected(projected, report, trees=trees, learned_from=labelled)


def checked_translations(corpora: Sequence[Iterable[SentencePair]]) -> Iterator[Translations]:
    """Join pairs by their targets; UsageError at the end of a corpus without source trees or target tags."""
    return join_same_targets([methods.with_trees_and_tags(pairs) for pairs in corpora])


def best_tree(target: Sentence, scores: Scores, parser: ArcParser) -> Sentence:
    """Return the target with the tree that the parser decodes from arc scores, without relations."""
    return with_predicted_heads(target, parser.heads(scores), [UNSPECIFIED] * len(target))


def annotated_report(annotated: Sequence[Sentence], bitext: Iterable[SentencePair]) -> tuple[str, ...]:
    """Return lines with the number of trees, and warnings: other style, overlap with the bitext."""
    if len(annotated) < FEWEST:
        return (f"a single annotated tree teaches nothing (give at least {FEWEST})",)
    forms, seen = {sentence.forms for sentence in annotated}, set[tuple[str, ...]]()
    sources = list[Sentence]()
    for pair in bitext:
        if len(sources) < SOURCE_TREES:
            sources.append(pair.source)
        seen |= forms & {pair.target.forms}
    usable, left_out = usable_sentences(annotated)
    if several := sum(has_several_roots(tree.heads) for tree in usable):
        left_out["several roots (only their relations are learned)"] = several
    if len(usable) < FEWEST or several == len(usable):
        lines = [f"the parser is unchanged, with {pluralise(len(usable) - several, 'usable annotated tree')}"]
    else:
        lines = [f"fine-tuned on {pluralise(len(usable) - several, 'annotated sentence')}"]
    if left_out:
        lines.append(f"annotated sentences left out: {listed_reasons(left_out)}")
    if differences := different_style(annotated, sources):
        lines.append(
            f"the annotated sentences are in another style than the source's ({differences}): the parser "
            "adapts only in part; convert one of the two first (qsproj convert)"
        )
    if among := sum(sentence.forms in seen for sentence in annotated):
        lines.append(
            f"{pluralise(among, 'annotated sentence')} {'is' if among == 1 else 'are'} in the training "
            "bitext: do not use them for testing"
        )
    return tuple(lines)


def different_style(annotated: Sequence[Sentence], sources: Sequence[Sentence]) -> str:
    """Describe differences in style between two sets of trees; empty without clear differences."""
    theirs, ours = (
        {
            entry.dimension: entry.choice
            for entry in detect_style(trees).evidence
            if entry.choice is not None and entry.places >= LEAST_PLACES and entry.share >= LEAST_AGREEING
        }
        for trees in (annotated, sources)
    )
    other = [name for name, choice in ours.items() if theirs.get(name, choice) != choice]
    found = [f"{name}: {theirs[name]}, not {ours[name]}" for name in other]
    names = [bare_relation(name) for tree in annotated for name in tree.deprels if name != UNSPECIFIED]
    known = {bare_relation(name) for tree in sources for name in tree.deprels}
    strange = [name for name in names if name not in known]
    if strange and len(strange) > (1.0 - LEAST_KNOWN) * len(names):
        found.append(f"relations such as {max(sorted(set(strange)), key=strange.count)}")
    return "; ".join(found)
