"""Conventions of the source's treebanks that do not hold in all languages: whether they do in the target.

English *my* is PRON in its treebanks, Ukrainian *мій* is DET; *living* before a noun is VERB, *живий* ADJ. No
link tells; tagged sentences of the target do, and where there are none, what most languages do is the better
guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Convention:
    """Words of the source that have one tag there and often another in other languages."""

    tag: str  # UPOS of the words
    relation: str
    becomes: str  # their UPOS elsewhere
    elsewhere: int  # in so many of ``languages``
    languages: int

    @property
    def name(self) -> str:
        """A tag of its own for these words; no UPOS has a space."""
        return f"{self.tag} {self.relation}"


# Possessives, in the UD treebanks of Armenian, Czech, Danish, Dutch, German, Gothic, Greek, Hungarian,
# Italian, Slovenian, Spanish, Swedish, Ukrainian and Wolof; participles before nouns in these but for
# Italian, and in Arabic, Japanese and Turkish: in Danish and Dutch a tenth of amod is VERB as in English,
# else next to none.
CONVENTIONS = (
    Convention(tag="PRON", relation="nmod:poss", becomes="DET", elsewhere=10, languages=14),
    Convention(tag="VERB", relation="amod", becomes="ADJ", elsewhere=14, languages=16),
)
# What so many languages do is the better guess in a large text as well.
NEARLY_ALL = 0.8
# Words of these relations vote by so much: often the target has another kind of word for them. *Election* in
# *election campaign* is an adjective in Czech, *was* in *was sold* the reflexive *se* in Spanish.
LOOSE = {"compound": 0.1, "aux:pass": 0.1}
# All languages together count as much as so many words of tagged sentences.
WEIGHT_OF_LANGUAGES = 3.0


def source_tags(sentence: Sentence) -> tuple[str, ...]:
    """Return the UPOS of each word, in its place the name of a convention that speaks of the word."""
    names = {(one.tag, one.relation): one.name for one in CONVENTIONS}
    return tuple(names.get(pair, pair[0]) for pair in zip(sentence.upos, sentence.deprels, strict=True))


def trust_in_tags(sentence: Sentence) -> NDArray[np.float64]:
    """Return by how much each word's tag is believed to be that of its translation, float64[n]."""
    return np.array([LOOSE.get(relation, 1.0) for relation in sentence.deprels])


def settled_names(
    vocabulary: Iterable[str],
    shares: Mapping[str, NDArray[np.float64]],
    known: Mapping[str, Mapping[str, int]],
    *,
    guess: bool,
) -> dict[str, str]:
    """Return the UPOS that the words of each convention have in the target, of V types.

    ``shares``: the share of the votes of each type that is of words of a convention, float64[V], by its name.
    ``known``: word of tagged sentences to tag to count. ``guess``: whether most languages decide where these
    do not; else nearly all must, or the source's convention stays.
    """
    forms = tuple(vocabulary)
    settled = {}
    for one in CONVENTIONS:
        if one.name not in shares:
            continue
        share = one.elsewhere / one.languages
        of_languages = WEIGHT_OF_LANGUAGES * (share if guess or share >= NEARLY_ALL else 0.0)
        counts = {one.becomes: of_languages, one.tag: WEIGHT_OF_LANGUAGES - of_languages}
        for form, share in zip(forms, shares[one.name].tolist(), strict=True):
            if share:
                found = known.get(form, {})
                for tag in counts:
                    counts[tag] += share * found.get(tag, 0)
        settled[one.name] = max((one.tag, one.becomes), key=lambda tag: counts[tag])
    return settled
