"""From a sentence to hashed attributes at each position: what arc templates are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.sentence import Sentence
from qsproj.features.hashing import HashTable, stable_hash

# Rows kept before the root and after the last word; equal to kernels.arc_features.PAD (a test says so).
PADDING = 2

# Small numbers of the coarse tags that lie between a head and a dependent; the first three are also counted,
# under the numbers that kernels.arc_features names. Unknown tags share the last number.
COUNTED_TAGS = ("VERB", "PUNCT", "CCONJ")
OTHER_TAGS = (
    *("NOUN", "PROPN", "PRON", "ADJ", "ADV", "ADP", "AUX"),
    *("DET", "NUM", "PART", "SCONJ", "INTJ", "SYM", "X"),
)
TAG_NUMBERS = {tag: number for number, tag in enumerate(COUNTED_TAGS + OTHER_TAGS, start=1)}
# The kernels keep the tags between as bits of an int64, whose last is the sign.
UNKNOWN_TAG = 62


@dataclass(frozen=True, slots=True)
class EncodedSentence:
    """A sentence as the arc-feature kernels read it.

    Attributes
    ----------
    atoms : uint64[n + 1 + 2 * PADDING, A]
        Hash of attribute a of position p in row ``p + PADDING``.
    tags : uint8[n + 1]
        Number of each position's UPOS; 0 for the root.
    """

    atoms: NDArray[np.uint64]
    tags: NDArray[np.uint8]

    def __len__(self) -> int:
        """Return the number of words, n."""
        return len(self.tags) - 1


@dataclass(frozen=True)
class Attribute:
    """What ``head.NAME`` and ``dep.NAME`` ask of a word: a value read off the sentence, then reduced.

    Attributes
    ----------
    name : str
    read : callable
        Gives one string for each word of a sentence.
    reduce : callable
        From that string to the value of the attribute; it sees each distinct string once.
    """

    name: str
    read: Callable[[Sentence], Iterable[str]]
    reduce: Callable[[str], str] = str

    def __call__(self, sentence: Sentence) -> list[str]:
        """Return the value of each word."""
        return [self.reduce(text) for text in self.read(sentence)]

    def hashes(self, sentence: Sentence) -> list[int]:
        """Return the hash of the value of each word, 0..2**64 - 1."""
        table = self._table
        return [table[text] for text in self.read(sentence)]

    @cached_property
    def _table(self) -> HashTable:
        return HashTable(lambda text: stable_hash(f"{self.name}\t{self.reduce(text)}"))


def _morphology(*names: str) -> Callable[[str], str]:
    """Return a function from FEATS to the values of the named features joined, or ``_``."""
    wanted = tuple(f"{name}=" for name in names)
    return lambda feats: "|".join(pair for pair in feats.split("|") if pair.startswith(wanted)) or "_"


def _lemmas(sentence: Sentence) -> list[str]:
    return [
        form.lower() if lemma == "_" else lemma
        for form, lemma in zip(sentence.forms, sentence.lemmas, strict=True)
    ]


def _fine_tags(sentence: Sentence) -> list[str]:
    return [
        coarse if fine == "_" else fine for coarse, fine in zip(sentence.upos, sentence.xpos, strict=True)
    ]


_FORMS, _FEATS = attrgetter("forms"), attrgetter("feats")

# By name.
ATTRIBUTES = {
    attribute.name: attribute
    for attribute in (
        Attribute("form", _FORMS),
        Attribute("lower", _FORMS, str.lower),
        Attribute("prefix", _FORMS, lambda form: form[:5].lower()),
        Attribute("suffix", _FORMS, lambda form: form[-3:].lower()),
        Attribute("lemma", _lemmas),
        Attribute("upos", attrgetter("upos")),
        Attribute("xpos", _fine_tags),
        Attribute("feats", _FEATS),
        Attribute("case", _FEATS, _morphology("Case")),
        Attribute("agreement", _FEATS, _morphology("Number", "Gender", "Person")),
        Attribute("verbform", _FEATS, _morphology("VerbForm", "Mood")),
        Attribute("prontype", _FEATS, _morphology("PronType", "Poss", "Polarity")),
    )
}


def encode(sentence: Sentence, attributes: tuple[str, ...]) -> EncodedSentence:
    """Hash the named attributes of every word, of the root and of the outside of the sentence."""
    n = len(sentence)
    outside = _outside(attributes)
    atoms = np.empty((n + 1 + 2 * PADDING, len(attributes)), dtype=np.uint64)
    atoms[:PADDING] = outside[0]
    atoms[PADDING] = outside[1]
    hashes = [ATTRIBUTES[name].hashes(sentence) for name in attributes]
    atoms[PADDING + 1 : PADDING + 1 + n] = np.array(hashes, dtype=np.uint64).T
    atoms[PADDING + 1 + n :] = outside[2]
    tags = np.zeros(n + 1, dtype=np.uint8)
    tags[1:] = [TAG_NUMBERS.get(tag, UNKNOWN_TAG) for tag in sentence.upos]
    return EncodedSentence(atoms, tags)


@lru_cache
def _outside(attributes: tuple[str, ...]) -> NDArray[np.uint64]:
    """Return uint64[3, A], the hashes of each attribute before the sentence, at its root, and after it."""
    places = ("<before>", "<root>", "<after>")
    return np.array([[stable_hash(f"{name}\t{place}") for name in attributes] for place in places], np.uint64)
