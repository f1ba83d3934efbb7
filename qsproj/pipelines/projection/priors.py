"""Priors of soft projection: parsers trained on trees of other languages, which vote.

They read tags alone, or words translated through the links of a bitext as well.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from qsproj.conventions import Rng
from qsproj.corpus.sentence import Sentence, SentencePair, has_tree
from qsproj.errors import DataError, NothingToLearnError, UsageError
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.arc_training import train_arc_parser, train_on_passes
from qsproj.models.arc.labeller import LABEL_EPOCHS
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.storage import kind_of, load_model
from qsproj.models.tree_decoder import TreeDecoder, has_several_roots
from qsproj.pipelines.projection.methods import DRAWS
from qsproj.pipelines.tagging.conventions import Annotation, ReannotatedPairs, reannotated
from qsproj.pipelines.translated_trees import Translate, make_translator
from qsproj.pipelines.treebanks import Treebank, treebank_weights
from qsproj.progress import notice

HELD_OUT = 10  # one pair in HELD_OUT is held out from priors and projection, to calibrate the parser
TEMPLATE_SET = "words"
PRIOR_TEMPLATE_SET = "delexicalised"  # a subset: features of the same name have the same bucket in both
SOURCE_TREES = 12000
PRIOR_EPOCHS = 5  # passes over trees that are not translated
FEW_TREES = 6000  # least number of trees in a pass over translations, which takes half of a large treebank
MOST_TREES = 12_000  # greatest number, over all treebanks
DRAWN_LABEL_EPOCHS = 3  # passes of the labeller over translated trees
# Kinds of parsers that cannot be priors, with a description and the option that makes them.
_OTHERS = {
    "labelled-parser": ("a parser with relations inside its trees", "--labels joint"),
    "cluster-parser": ("a parser with hidden clusters of arcs", "--objective hidden"),
    "graph-parser": ("a second-order parser", "--order 2"),
    "tagging-parser": ("a parser that reads words and infers their tags", "--joint-tags"),
}
LIKENESS_SENTENCES = 5000  # target sentences to measure the similarity of tags


def load_prior(path: str, *, reads_words: bool = False) -> ArcParser:
    """Load a parser that reads tags alone, or with ``reads_words`` words of the target as well.

    Raises DataError when the model is of another kind or reads more.
    """
    expected = "a first-order parser of tags alone"
    remedy = f"train one: qsproj train --features {PRIOR_TEMPLATE_SET}"
    parser = load_model(path)
    if not isinstance(parser, ArcParser):
        kind = kind_of(parser)
        found, option = _OTHERS.get(kind, (f"a model of kind {kind}", ""))
        remedy += f", without {option}" if option else ""
        raise DataError(path, None, found=found, expected=expected, remedy=remedy)
    template_set = parser.scorer.template_set
    if template_set != PRIOR_TEMPLATE_SET and not (reads_words and template_set == TEMPLATE_SET):
        found = f"a parser that reads {template_set}, which another language does not share"
        raise DataError(path, None, found=found, expected=expected, remedy=remedy)
    return parser


def join_priors(voters: Sequence[ArcParser], *, projective: bool) -> ArcParser:
    """Join parsers of tags, or of words of the target, by the mean of their weights over temperature.

    Their mean scores are a product of experts. Relations come from the first parser that knows any. Weights
    learned on top of the prior compensate for word features in its hash buckets. Raises UsageError for
    different numbers of buckets.
    """
    if len({len(voter.scorer.weights) for voter in voters}) > 1:
        raise UsageError("the priors hash to different numbers of buckets; train them with the same qsproj")
    weights = np.zeros(len(voters[0].scorer.weights), dtype=np.float32)
    for voter in voters:
        weights += voter.scorer.weights / np.float32(voter.temperature * len(voters))
    labeller = next((voter.labeller for voter in voters if voter.labeller is not None), None)
    inference = TreeDecoder(projective=projective, single_root=True)
    return ArcParser(ArcScorer(TEMPLATE_SET, weights), labeller, inference)


def translated_prior(corpora: Iterable[Iterable[SentencePair]], *, rng: Rng, draws: int = DRAWS) -> ArcParser:
    """Train a parser of the first source trees of each corpus, translated through its links.

    Reads the corpora twice. Held-out pairs are left out, so that the prior has not seen them.
    """
    sources = []
    for pairs in corpora:
        translate = make_translator(pairs)
        learned = (pair.source for number, pair in enumerate(pairs, start=1) if number % HELD_OUT)
        first = list(itertools.islice(filter(has_tree, learned), SOURCE_TREES))
        if not first:
            raise NothingToLearnError("no source sentence has a head; parse the source first (qsproj parse)")
        sources.append((translate, first))
    return train_on_draws(sources, rng=rng, draws=draws)


def train_on_draws(
    sources: Sequence[tuple[Translate, Sequence[Sentence]]], *, rng: Rng, draws: int
) -> ArcParser:
    """Train a parser in ``draws`` passes, each over a new sample of the source trees, translated anew.

    The labeller is trained on trees with all function words, also untranslated ones: without these, Wolof
    loses 2 LAS.
    """
    _note_several_roots([tree for _, trees in sources for tree in trees], "source trees")
    sizes = [max(len(trees) // 2, min(len(trees), FEW_TREES)) for _, trees in sources]
    if sum(sizes) > MOST_TREES:
        sizes = [max(1, size * MOST_TREES // sum(sizes)) for size in sizes]

    def translated(*, complete: bool) -> list[Sentence]:
        found = list[Sentence]()
        for (translate, trees), size in zip(sources, sizes, strict=True):
            chosen = np.sort(rng.permutation(len(trees))[:size])
            found += translate([trees[i] for i in chosen], rng, complete=complete)
        return found

    options = TrainingOptions(template_set=TEMPLATE_SET, projective=True, single_root=True)
    return train_on_passes(
        (translated(complete=False) for _ in range(draws)),
        labelled=lambda: translated(complete=True),
        rng=rng,
        options=options,
        label_epochs=DRAWN_LABEL_EPOCHS,
    )


def _note_several_roots(trees: Sequence[Sentence], what: str) -> None:
    """Give a notice of trees with several roots, which no prior can build; NothingToLearnError if all are."""
    several = sum(has_several_roots(tree.heads) for tree in trees)
    found = f"{several:,} of {len(trees):,} {what} have several roots"
    remedy = "attach all roots but one to another word"
    if trees and several == len(trees):
        raise NothingToLearnError(f"{found}, expected trees with one; {remedy}")
    if several:
        notice(f"{found}: they are left out of the prior; {remedy}")


def weighted_prior(
    sources: Sequence[tuple[Treebank, Translate]],
    others: Sequence[Treebank] = (),
    *,
    target: Iterable[Sentence],
    rng: Rng,
    draws: int = DRAWS,
) -> tuple[tuple[ArcParser, ...], tuple[str, ...]]:
    """Train the prior of a target language on treebanks of other languages: parsers, and report lines.

    Without ``others`` there is one parser, of the sources, which reads words as well, and is trained on
    ``draws`` of translations. With them three vote: one of the sources; one of all treebanks, weighted by
    similarity to ``target``, which has tags; and one of the others, unweighted. Raises UsageError when the
    target or a treebank has no sentence with UPOS on every word, or no treebank of a parser has a head.
    """
    first = [Treebank(one.name, list(itertools.islice(one.sentences, SOURCE_TREES))) for one, _ in sources]
    options = TrainingOptions(
        template_set=PRIOR_TEMPLATE_SET, epochs=PRIOR_EPOCHS, projective=True, single_root=True
    )

    def trained(treebanks: Iterable[Treebank], label_epochs: int, **how: Any) -> ArcParser:
        sentences = [sentence for one in treebanks for sentence in one.sentences]
        return train_arc_parser(sentences, rng=rng, options=options, label_epochs=label_epochs, **how)[0]

    translated = [(translate, own.sentences) for (_, translate), own in zip(sources, first, strict=True)]
    of_sources = train_on_draws(translated, rng=rng, draws=draws)
    if not others:
        return (of_sources,), ()
    everything = [*first, *others]
    _note_several_roots([tree for one in others for tree in one.sentences], "trees of other languages")
    alike = treebank_weights(everything, target)
    weights = [one.weight for one in alike for _ in range(one.sentences)]
    # Relations come from the first prior with a labeller.
    of_all = trained(everything, 0 if of_sources.labeller else LABEL_EPOCHS, weights=weights)
    return (of_sources, of_all, trained(others, 0)), tuple(map(str, alike))


def source_priors(
    sources: Sequence[tuple[Sequence[Treebank], Iterable[SentencePair]]],
    others: Sequence[Treebank] = (),
    *,
    unshared: Mapping[str, Annotation],
    target: Iterable[Sentence],
    rng: Rng,
    draws: int,
) -> tuple[tuple[ArcParser, ...], tuple[str, ...], int]:
    """Train the :func:`weighted_prior` of a bitext; return it with the number of training words.

    ``sources``: for each source, its treebanks, which are translated through links, and its pairs with the
    target, tagged on both sides. ``others``: treebanks of any other languages. ``unshared``: conventions of
    the sources that do not hold in the target.
    """

    def shared(one: Treebank) -> Treebank:
        return Treebank(one.name, [reannotated(tree, unshared) for tree in one.sentences])

    translated = list[tuple[Treebank, Translate]]()
    for treebanks, pairs in sources:
        translate = make_translator(ReannotatedPairs(pairs, unshared))
        translated += [(shared(one), translate) for one in treebanks]
    other = list(map(shared, others))
    tagged = itertools.islice(target, LIKENESS_SENTENCES)
    prior, report = weighted_prior(translated, other, target=tagged, rng=rng, draws=draws)
    everything = (*(one for one, _ in translated), *other)
    return prior, report, sum(len(sentence) for one in everything for sentence in one.sentences)
