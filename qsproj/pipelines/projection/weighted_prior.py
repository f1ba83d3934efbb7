"""The prior of soft projection from trees of several languages, each weighed by its likeness to it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.pipelines.projection.soft_prior import (
    PRIOR_EPOCHS,
    PRIOR_TEMPLATE_SET,
    SOURCE_TREES,
    TEMPLATE_SET,
)
from qsproj.pipelines.translated_trees import Translate
from qsproj.pipelines.treebank_weights import Treebank, treebank_weights

# Of the target so many sentences are compared; more tell no more of its trigrams.
TARGET_SENTENCES = 20_000


@dataclass(frozen=True, slots=True)
class WeightedPrior:
    """Parsers of other languages that vote, and what there is to say of them.

    Attributes
    ----------
    members : tuple of ArcParser
        For :func:`qsproj.pipelines.projection.soft_prior.join_priors`; relations come from the first.
    report : tuple of str
        Lines for the user.
    """

    members: tuple[ArcParser, ...]
    report: tuple[str, ...]


def weighted_prior(
    sources: Sequence[Treebank],
    others: Sequence[Treebank] = (),
    *,
    target: Iterable[Sentence],
    rng: np.random.Generator,
    translate: Sequence[Translate] = (),
    projective: bool = True,
) -> WeightedPrior:
    """Train the prior of a target language on treebanks of other languages.

    Without ``others`` one parser, of the sources. With them three vote: that of the sources; one of all
    treebanks, each weighed by its likeness to the target; and one of the others, not weighed.

    Parameters
    ----------
    sources : sequence of Treebank
        Of the language, or languages, that the bitext translates; at least one.
    others : sequence of Treebank
        Of any other languages but the target's.
    target : iterable of Sentence
        Tagged sentences of the target language; the tagger's own tags do. TARGET_SENTENCES are read at most.
    rng : numpy.random.Generator
        The same seed gives the same parsers.
    translate : sequence of callable
        For each of ``sources`` what translates the words of its sentences: the parser of the sources reads
        words as well. Without, all parsers read tags alone.
    projective : bool
        Whether the parsers' trees may not cross arcs.

    Raises
    ------
    UsageError
        When the target or a treebank has no sentence with UPOS on every word, or no treebank of a parser has
        a head.
    """
    first = [
        Treebank(treebank.name, list(itertools.islice(treebank.sentences, SOURCE_TREES)))
        for treebank in sources
    ]
    options = TrainingOptions(
        template_set=PRIOR_TEMPLATE_SET, epochs=PRIOR_EPOCHS, projective=projective, single_root=True
    )

    def trained(
        sentences: Iterable[Sentence],
        weights: Sequence[float] | None = None,
        options: TrainingOptions = options,
    ) -> ArcParser:
        return train_arc_parser(list(sentences), rng=rng, options=options, weights=weights)[0]

    if translate:
        words = (by(one.sentences) for by, one in zip(translate, first, strict=True))
        of_words = replace(options, template_set=TEMPLATE_SET)
        of_sources = trained(itertools.chain.from_iterable(words), options=of_words)
    else:
        of_sources = trained(sentences_of(first))
    if not others:
        return WeightedPrior((of_sources,), ())
    everything = [*first, *others]
    alike = treebank_weights(everything, itertools.islice(target, TARGET_SENTENCES))
    weights = [one.weight for one in alike for _ in range(one.sentences)]
    members = (of_sources, trained(sentences_of(everything), weights), trained(sentences_of(others)))
    return WeightedPrior(members, tuple(map(str, alike)))


def sentences_of(treebanks: Iterable[Treebank]) -> Iterator[Sentence]:
    """Yield the sentences of treebanks, one treebank after the other."""
    return itertools.chain.from_iterable(treebank.sentences for treebank in treebanks)
