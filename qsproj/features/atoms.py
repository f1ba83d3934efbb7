"""From a sentence to hashed attributes at each position: what arc templates are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.sentence import Sentence
from qsproj.features.hashing import stable_hash

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
UNKNOWN_TAG = 63


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


def _morphology(sentence: Sentence, *names: str) -> list[str]:
    """Return, for each word, the values of the named features joined, or ``_``."""
    wanted = tuple(f"{name}=" for name in names)
    return [
        "|".join(pair for pair in feats.split("|") if pair.startswith(wanted)) or "_" if feats != "_" else "_"
        for feats in sentence.feats
    ]


def _lemmas(sentence: Sentence) -> list[str]:
    return [
        form.lower() if lemma == "_" else lemma
        for form, lemma in zip(sentence.forms, sentence.lemmas, strict=True)
    ]


def _fine_tags(sentence: Sentence) -> list[str]:
    return [
        coarse if fine == "_" else fine for coarse, fine in zip(sentence.upos, sentence.xpos, strict=True)
    ]


# What ``head.NAME`` and ``dep.NAME`` may ask of a word.
ATTRIBUTES: dict[str, Callable[[Sentence], list[str] | tuple[str, ...]]] = {
    "form": lambda sentence: sentence.forms,
    "lower": lambda sentence: [form.lower() for form in sentence.forms],
    "prefix": lambda sentence: [form[:5].lower() for form in sentence.forms],
    "suffix": lambda sentence: [form[-3:].lower() for form in sentence.forms],
    "lemma": _lemmas,
    "upos": lambda sentence: sentence.upos,
    "xpos": _fine_tags,
    "feats": lambda sentence: sentence.feats,
    "case": lambda sentence: _morphology(sentence, "Case"),
    "agreement": lambda sentence: _morphology(sentence, "Number", "Gender", "Person"),
    "verbform": lambda sentence: _morphology(sentence, "VerbForm", "Mood"),
    "prontype": lambda sentence: _morphology(sentence, "PronType", "Poss", "Polarity"),
}


def encode(sentence: Sentence, attributes: tuple[str, ...]) -> EncodedSentence:
    """Hash the named attributes of every word, of the root and of the outside of the sentence."""
    n = len(sentence)
    atoms = np.empty((n + 1 + 2 * PADDING, len(attributes)), dtype=np.uint64)
    for column, name in enumerate(attributes):
        atoms[:PADDING, column] = stable_hash(f"{name}\t<before>")
        atoms[PADDING, column] = stable_hash(f"{name}\t<root>")
        atoms[PADDING + 1 : PADDING + 1 + n, column] = [
            stable_hash(f"{name}\t{value}") for value in ATTRIBUTES[name](sentence)
        ]
        atoms[PADDING + 1 + n :, column] = stable_hash(f"{name}\t<after>")
    tags = np.zeros(n + 1, dtype=np.uint8)
    tags[1:] = [TAG_NUMBERS.get(tag, UNKNOWN_TAG) for tag in sentence.upos]
    return EncodedSentence(atoms, tags)
