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
# All languages together count as much as so many words of tagged sentences.
WEIGHT_OF_LANGUAGES = 3.0


def source_tags(sentence: Sentence) -> tuple[str, ...]:
    """Return the UPOS of each word, in its place the name of a convention that speaks of the word."""
    names = {(one.tag, one.relation): one.name for one in CONVENTIONS}
    return tuple(names.get(pair, pair[0]) for pair in zip(sentence.upos, sentence.deprels, strict=True))


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
    do not; else the source's convention stays.
    """
    forms = tuple(vocabulary)
    settled = {}
    for one in CONVENTIONS:
        if one.name not in shares:
            continue
        of_languages = WEIGHT_OF_LANGUAGES * (one.elsewhere / one.languages if guess else 0.0)
        counts = {one.becomes: of_languages, one.tag: WEIGHT_OF_LANGUAGES - of_languages}
        for form, share in zip(forms, shares[one.name].tolist(), strict=True):
            if share:
                found = known.get(form, {})
                for tag in counts:
                    counts[tag] += share * found.get(tag, 0)
        settled[one.name] = max((one.tag, one.becomes), key=lambda tag: counts[tag])
    return settled
