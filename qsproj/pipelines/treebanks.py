"""Treebanks for training: checks of tags, and weights for another language by similar tag sequences."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import line_of
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, UsageError, pluralise
from qsproj.models.morphology.analyses import feature_cell, feature_pairs, features_of
from qsproj.progress import notice

OF_MISC = "it in MISC, the last column"
BOUNDARY = 0
# Share of the unigram model in the smoothed distribution. Add-one smoothing of trigrams makes small treebanks
# similar to anything: 200 Turkish sentences were nearer to German than Dutch ones.
BACKOFF = 0.2


@dataclass(slots=True)
class TagCount:
    """A count of words, and of those without a tag in any of the ``columns``. Mutable; final."""

    columns: Sequence[str] = ("upos",)
    words: int = 0
    untagged: int = 0

    def add(self, sentence: Sentence) -> None:
        rows = zip(*(getattr(sentence, column) for column in self.columns), strict=True)
        self.words += len(sentence)
        self.untagged += list(rows).count((UNSPECIFIED,) * len(self.columns))

    def note(self, name: str) -> None:
        """Give a notice of words without tags, if others have them."""
        if 0 < self.untagged < self.words:
            found = f"{self.untagged:,} of {pluralise(self.words, 'word')} have no {self.columns[0].upper()}"
            notice(f"{name}: {found}; tag the text first (qsproj tag)")


def read_tagged(paths: Sequence[str]) -> Iterator[Sentence]:
    """Read CoNLL-U files one after the other; DataError with its line for a word without UPOS."""
    for path in paths:
        name, faults = name_of(path), dict[str, list[tuple[int | None, str]]]()
        for sentence in read_sentences(path):
            for word, (tag, cell) in enumerate(zip(sentence.upos, sentence.feats, strict=True), start=1):
                fault = _fault_of_features(cell)
                if tag != UNSPECIFIED and fault is None:
                    continue
                place = line_of(sentence, word)
                if tag == UNSPECIFIED:
                    untagged = f"word {word} ({sentence.forms[word - 1]!r}) without UPOS"
                    remedy = "tag it, or leave the sentence out"
                    raise DataError(name, place, untagged, "one on every word", remedy)
                if fault == OF_MISC:
                    remedy = "put the two columns where they belong: they seem to be swapped"
                    raise DataError(name, place, f"{cell!r} in FEATS", fault, remedy)
                faults.setdefault(str(fault), []).append((place, cell))
            yield sentence
        for fault, ((first, cell), *others) in faults.items():
            words = pluralise(1 + len(others), "word")
            notice(f"{name}: line {first}: found {cell!r} in FEATS, {fault} ({words})")


@lru_cache(maxsize=1 << 14)
def _fault_of_features(cell: str) -> str | None:
    """Return how malformed FEATS are handled, None for well-formed ones."""
    if "SpaceAfter=No" in cell.split("|"):
        return OF_MISC
    kept = features_of(cell)
    if feature_cell(kept) == cell:
        return None
    if {name for name, _ in feature_pairs(cell)} - set(kept) or not kept:
        return "expected Name=Value, the value with a capital or a digit; other values are not learned"
    return "expected them sorted, each once; they are sorted, and of two values the last counts"


@dataclass(frozen=True, slots=True)
class Treebank:
    """Trees of one language, or of one file, with a name for messages."""

    name: str
    sentences: Sequence[Sentence]


def read_treebanks(paths: Iterable[str]) -> list[Treebank]:
    return [Treebank(Path(path).name, list(read_sentences(path))) for path in paths]


@dataclass(frozen=True, slots=True)
class Likeness:
    """Similarity of a treebank to the target language."""

    name: str
    sentences: int
    divergence: float  # of the target's tag trigrams from the treebank's, in nats
    weight: float  # training weight of its sentences, 1 for the most similar treebank

    def __str__(self) -> str:
        divergence = f"divergence of tag trigrams {self.divergence:.3f}"
        return f"{self.name}: {pluralise(self.sentences, 'sentence')}, {divergence}, weight {self.weight:.2f}"


def treebank_weights(
    treebanks: Sequence[Treebank], target: Iterable[Sentence], *, target_name: str = "the target"
) -> tuple[Likeness, ...]:
    """Weight treebanks by squared similarity of UPOS trigrams to a target (Rosa and Zabokrtsky 2015)."""
    numbers: dict[str, int] = {}
    wanted = _numbered(target_name, target, numbers)
    others = [_numbered(treebank.name, treebank.sentences, numbers) for treebank in treebanks]
    of_target = trigram_counts(wanted, len(numbers))
    divergences = np.array([divergence(of_target, trigram_counts(tags, len(numbers))) for tags in others])
    columns = divergences.tolist(), similarity_weights(divergences).tolist()
    return tuple(
        Likeness(one.name, len(one.sentences), *row) for one, *row in zip(treebanks, *columns, strict=True)
    )


def _numbered(name: str, sentences: Iterable[Sentence], numbers: dict[str, int]) -> list[NDArray[np.int64]]:
    """Return the tags of each sentence as numbers from 1 on; adds new tags to ``numbers``."""
    return [
        np.array([numbers.setdefault(tag, len(numbers) + 1) for tag in sentence.upos], dtype=np.int64)
        for sentence in tagged_alone(name, sentences)
    ]


def tagged_alone(name: str, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield the sentences with UPOS on every word; UsageError at the end without any."""
    tagged = (sentence for sentence in sentences if len(sentence) and UNSPECIFIED not in sentence.upos)
    first = next(tagged, None)
    if first is None:
        raise UsageError(f"{name}: found no sentence with UPOS on every word; tag it first (qsproj tag)")
    yield first
    yield from tagged


def trigram_counts(sequences: Iterable[NDArray[np.int64]], kinds: int) -> NDArray[np.int64]:
    """Count trigrams of symbols 1..kinds between BOUNDARYs: int64[kinds + 1, ...], [left, symbol, right]."""
    counts = np.zeros((kinds + 1,) * 3, dtype=np.int64)
    for symbols in sequences:
        bounded = np.concatenate(([BOUNDARY], symbols, [BOUNDARY]))
        np.add.at(counts, (bounded[:-2], bounded[1:-1], bounded[2:]), 1)
    return counts


def divergence(target: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Return the Kullback-Leibler divergence of two trigram distributions int64[k, k, k], in nats.

    *Source*: KLcpos3 (Rosa and Zabokrtsky 2015), except the smoothing of the other's counts.
    """
    seen = target > 0
    p = target[seen] / target.sum()
    left, middle, right = (
        (other.sum(axis=axes) + 1.0) / (other.sum() + other.shape[0]) for axes in ((1, 2), (0, 2), (0, 1))
    )
    singly = left[:, None, None] * middle[None, :, None] * right[None, None, :]
    # Smoothed with the product of the add-one unigram frequencies of the three symbols.
    q = ((1.0 - BACKOFF) * other / other.sum() + BACKOFF * singly)[seen]
    return float((p * np.log(p / q)).sum())


def similarity_weights(divergences: Floats) -> Floats:
    """Return (least / each) ** 2 of divergences, bounded below by 1e-6: 1 for the most similar."""
    bounded = np.maximum(divergences, 1e-6)
    return (bounded.min() / bounded) ** 2.0
