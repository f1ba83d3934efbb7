"""Which treebanks teach how another language is built: those whose tags follow each other as its do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, counted
from qsproj.training.divergence import divergence, similarity_weights, trigram_counts


@dataclass(frozen=True, slots=True)
class Treebank:
    """Trees of one language, or one file of them, under a name for messages."""

    name: str
    sentences: Sequence[Sentence]


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike a treebank is to the target language.

    Attributes
    ----------
    name : str
    sentences : int
    divergence : float
        Of the target's tag trigrams from the treebank's, in nats.
    weight : float
        How much its sentences count in training, 1 for the most alike treebank.
    """

    name: str
    sentences: int
    divergence: float
    weight: float

    def __str__(self) -> str:
        """Say it in a line."""
        return (
            f"{self.name}: {counted(self.sentences, 'sentence')}, divergence of tag trigrams "
            f"{self.divergence:.3f}, weight {self.weight:.2f}"
        )


def treebank_weights(
    treebanks: Sequence[Treebank], target: Iterable[Sentence], *, target_name: str = "the target"
) -> tuple[Likeness, ...]:
    """Weigh treebanks by how alike the trigrams of their UPOS tags are to those of the target language.

    Parameters
    ----------
    treebanks : sequence of Treebank
        At least one.
    target : iterable of Sentence
        Tagged sentences; the tags of a tagger do. Gone through once.
    target_name : str
        What errors call them.

    Returns
    -------
    tuple of Likeness
        One for each treebank. Sentences with untagged words are left out of the trigrams.

    Raises
    ------
    UsageError
        When the target or a treebank has no sentence that is tagged throughout.

    *Source*: the measure is that of Rosa and Zabokrtsky 2015; the weight is (least / each) squared.
    """
    numbers: dict[str, int] = {}
    wanted = _numbered(target_name, target, numbers)
    others = [_numbered(treebank.name, treebank.sentences, numbers) for treebank in treebanks]
    of_target = trigram_counts(wanted, len(numbers))
    divergences = np.array([divergence(of_target, trigram_counts(tags, len(numbers))) for tags in others])
    return tuple(
        Likeness(treebank.name, len(treebank.sentences), float(unlike), float(weight))
        for treebank, unlike, weight in zip(
            treebanks, divergences, similarity_weights(divergences), strict=True
        )
    )


def _numbered(name: str, sentences: Iterable[Sentence], numbers: dict[str, int]) -> list[NDArray[np.int64]]:
    """Return the tags of each sentence as numbers from 1 on; ``numbers`` grows by tags that are new."""
    tagged = [
        np.array([numbers.setdefault(tag, len(numbers) + 1) for tag in sentence.upos], dtype=np.int64)
        for sentence in sentences
        if len(sentence) and UNSPECIFIED not in sentence.upos
    ]
    if not tagged:
        raise UsageError(f"{name}: found no sentence with UPOS on every word; tag it first (qsproj tag)")
    return tagged
