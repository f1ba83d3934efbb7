"""The prior of soft projection: parsers of other languages, put together in one that reads words."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from qsproj.corpus.sentence import Sentence, SentencePair, has_tree
from qsproj.errors import DataError, NothingToLearnError, UsageError
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.labeller import Labeller
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.storage import kind_of, load_model
from qsproj.models.tree_inference import TreeInference
from qsproj.pipelines.translated_trees import Translate, way_to_translate
from qsproj.pipelines.treebank_weights import Treebank, treebank_weights

TEMPLATE_SET = "words"
# All its templates are in TEMPLATE_SET, too: features of the same name have the same bucket in both.
PRIOR_TEMPLATE_SET = "delexicalised"
SOURCE_TREES = 12000
PRIOR_EPOCHS = 5
# Parsers that cannot be priors: what they are, and the option that makes them so.
_OTHERS = {
    "labelled-parser": ("a parser with relations inside its trees", "--labels joint"),
    "cluster-parser": ("a parser with hidden clusters of arcs", "--objective hidden"),
    "graph-parser": ("a second-order parser", "--order 2"),
    "tagging-parser": ("a parser that reads words and infers their tags", "--joint-tags"),
}


@dataclass(frozen=True, slots=True)
class Prior:
    """Parsers of other languages that vote; relations come from the first that knows any.

    The arc scores of ``joined`` are the mean of the members': their product of experts. It reads words, so
    that the weights of words can be added to its own.
    """

    members: tuple[ArcParser, ...]
    joined: ArcParser

    @property
    def labeller(self) -> Labeller | None:
        return next((member.labeller for member in self.members if member.labeller is not None), None)


def load_prior(path: str, *, reads_words: bool = False) -> ArcParser:
    """Load a parser of tags alone, or of words of the target into which its trees were translated.

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


def join_priors(members: Sequence[ArcParser], *, projective: bool) -> Prior:
    """Put parsers of tags, or of words of the target, together by the mean of their weights, tempered.

    A weight in a bucket that a feature of a word hashes to as well acts on that; the weights learned above
    the prior make up for it. Raises UsageError for no parser, or different numbers of buckets.
    """
    if not members:
        raise UsageError("soft projection needs a prior")
    if len({len(member.scorer.weights) for member in members}) > 1:
        raise UsageError("the priors hash to different numbers of buckets; train them with the same qsproj")
    weights = np.zeros(len(members[0].scorer.weights), dtype=np.float32)
    for member in members:
        weights += member.scorer.weights / np.float32(member.temperature * len(members))
    inference = TreeInference(projective=projective, single_root=True)
    return Prior(tuple(members), ArcParser(ArcScorer(TEMPLATE_SET, weights), None, inference))


def train_translated_prior(pairs: Iterable[SentencePair], *, rng: np.random.Generator) -> ArcParser:
    """Train a parser on the first source trees, words translated by the links; reads ``pairs`` twice."""
    translate = way_to_translate(pairs, rng=rng)
    trees = (pair.source for pair in pairs if has_tree(pair.source))
    first = list(itertools.islice(trees, SOURCE_TREES))
    if not first:
        raise NothingToLearnError("no source sentence has a head; parse the source first (qsproj parse)")
    options = TrainingOptions(template_set=TEMPLATE_SET, epochs=PRIOR_EPOCHS)
    return train_arc_parser(list(translate(first)), rng=rng, options=options)[0]


# Of the target so many sentences are compared; more tell no more of its trigrams.
TARGET_SENTENCES = 20_000


class WeightedPrior(NamedTuple):
    """Parsers of other languages that vote, for :func:`join_priors`, and lines for the user."""

    members: tuple[ArcParser, ...]
    report: tuple[str, ...]


def weighted_prior(
    sources: Sequence[Treebank],
    others: Sequence[Treebank] = (),
    *,
    target: Iterable[Sentence],
    rng: np.random.Generator,
    translate: Sequence[Translate] = (),
) -> WeightedPrior:
    """Train the prior of a target language on treebanks of other languages.

    Without ``others`` one parser, of the sources. With them three vote: that of the sources; one of all
    treebanks, each weighed by its likeness to the first TARGET_SENTENCES of ``target``, which have tags; and
    one of the others, not weighed. With ``translate``, one for each of ``sources``, the parser of the sources
    reads words as well. Raises UsageError when the target or a treebank has no sentence with UPOS on every
    word, or no treebank of a parser has a head.
    """
    first = [
        Treebank(treebank.name, list(itertools.islice(treebank.sentences, SOURCE_TREES)))
        for treebank in sources
    ]
    options = TrainingOptions(
        template_set=PRIOR_TEMPLATE_SET, epochs=PRIOR_EPOCHS, projective=True, single_root=True
    )

    def trained(
        treebanks: Iterable[Iterable[Sentence]],
        weights: Sequence[float] | None = None,
        options: TrainingOptions = options,
    ) -> ArcParser:
        sentences = list(itertools.chain.from_iterable(treebanks))
        return train_arc_parser(sentences, rng=rng, options=options, weights=weights)[0]

    if translate:
        words = (by(one.sentences) for by, one in zip(translate, first, strict=True))
        of_sources = trained(words, options=replace(options, template_set=TEMPLATE_SET))
    else:
        of_sources = trained(one.sentences for one in first)
    if not others:
        return WeightedPrior((of_sources,), ())
    everything = [*first, *others]
    alike = treebank_weights(everything, itertools.islice(target, TARGET_SENTENCES))
    weights = [one.weight for one in alike for _ in range(one.sentences)]
    of_all = trained((one.sentences for one in everything), weights)
    of_others = trained(one.sentences for one in others)
    return WeightedPrior((of_sources, of_all, of_others), tuple(map(str, alike)))
