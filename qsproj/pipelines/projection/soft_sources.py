"""What soft projection learns from, of one or several sources of one target language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from qsproj.corpus.sentence import SentencePair
from qsproj.errors import UsageError
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.pipelines.projection.projected import with_trees_and_tags
from qsproj.pipelines.projection.soft_grammar import train_grammar
from qsproj.pipelines.projection.soft_prior import train_translated_prior
from qsproj.pipelines.projection.soft_projection import SoftSources
from qsproj.pipelines.translations import Translations, join_translations


@dataclass(frozen=True, slots=True)
class JoinedSources:
    """The translations of each target sentence, read anew each time they are iterated.

    Attributes
    ----------
    texts : tuple of tuple of iterable of SentencePair
        For each text in the target language at least one source: the same target sentences in the same order,
        each time with other source sentences.
    """

    texts: tuple[tuple[Iterable[SentencePair], ...], ...]

    def __iter__(self) -> Iterator[Translations]:
        """Yield the translations of one target sentence after the other.

        Raises
        ------
        DataError
            At the first place where two sources of a text do not have the same target sentence.
        UsageError
            At the end, when no word of a source had a head, or no target word a tag.
        """
        for sources in self.texts:
            yield from join_translations(tuple([with_trees_and_tags(source) for source in sources]))


def soft_sources(
    texts: Sequence[Sequence[Iterable[SentencePair]]],
    *,
    rng: np.random.Generator,
    priors: Sequence[ArcParser] = (),
    by_grammar: bool = False,
) -> SoftSources:
    """Return what soft projection learns from, made from sentence pairs.

    Parameters
    ----------
    texts : sequence of sequence of iterable of SentencePair
        As :class:`JoinedSources` takes them; each iterable can be gone through again.
    rng : numpy.random.Generator
        The same seed gives the same priors.
    priors : sequence of ArcParser
        Parsers of tags alone; without any, one is trained on the trees of each source, with its words
        translated.
    by_grammar : bool
        Whether evidence is weighed by a grammar learned from the pairs of each source; for one text.

    Raises
    ------
    UsageError
        When a prior is to be trained and no source sentence has a head, or a grammar cannot be learned or is
        to weigh several texts.
    """
    if by_grammar and len(texts) > 1:
        raise UsageError(
            "a grammar weighs the translations of one target text; leave it out, or join the texts"
        )
    sources = [source for text in texts for source in text]
    return SoftSources(
        corpus=JoinedSources(tuple(map(tuple, texts))),
        priors=priors or [train_translated_prior(pairs, rng=rng) for pairs in sources],
        grammars=tuple(map(train_grammar, sources)) if by_grammar else (),
    )
