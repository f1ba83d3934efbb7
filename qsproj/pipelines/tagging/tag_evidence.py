"""From votes of links to sets of tags.

A link says little by itself: it may be wrong, and translations change the part of speech. All links of a type
together tell which tags it may have. Which of these a word has is left to the sentences, for the chain to
learn.

Source: after Taeckstroem, Das, McDonald, Petrov and Nivre (2013), who intersect token and type constraints.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.language.lexicon import WordTags
from qsproj.models.tagging.tagger_training import LogEvidence
from qsproj.pipelines.tagging.linked_text import LinkedText

SIGNS = frozenset({"PUNCT", "SYM"})
NUMERAL = frozenset({"NUM"})
PROPER_NOUN = "PROPN"
# How many occurrences the shares of the lower-cased form count for in those of a form, and those of all forms
# that begin alike.
LOWER_CASED = 2.0
OF_STEM = 2.0
# A stem is a word without so many of its last letters, but has at least so many letters.
ENDING = 3
SHORTEST_STEM = 4

Shares = NDArray[np.float64]
Sets = NDArray[np.bool_]


def allowed_tags(vocabulary: Sequence[str], tags: Sequence[str], lexicon: WordTags) -> Sets:
    """Return the tags that script and lexicon leave each type, bool[V, T]; the lexicon has the last word."""
    allowed = tags_by_script(vocabulary, tags)
    for form, row in zip(vocabulary, allowed, strict=True):
        listed = lexicon.get(form) or lexicon.get(form.lower())
        if listed:
            row[:] = [tag in listed for tag in tags]
    return allowed


def tags_by_script(vocabulary: Sequence[str], tags: Sequence[str]) -> NDArray[np.bool_]:
    """Return which tags each type may have, bool[V, T].

    Signs alone are PUNCT or SYM, and nothing else is PUNCT; digits alone, with signs between, are NUM; a word
    without a capital is not PROPN, where the script has capitals. A rule that would leave none of ``tags`` is
    passed over.
    """
    allowed = np.zeros((len(vocabulary), len(tags)), dtype=np.bool_)
    for form, row in zip(vocabulary, allowed, strict=True):
        chosen = [tag in allowed_by_script(form, tags) for tag in tags]
        row[:] = chosen if any(chosen) else True
    return allowed


def allowed_by_script(form: str, tags: Sequence[str]) -> frozenset[str]:
    """Return those of ``tags`` that a word may have; maybe none."""
    categories = {unicodedata.category(character) for character in form}
    if all(category[0] in "PSZ" for category in categories):
        return SIGNS.intersection(tags)
    # 20 and 1,5 and 10:30; but 20. may be an ordinal.
    if form[-1].isdecimal() and all(category == "Nd" or category[0] == "P" for category in categories):
        return NUMERAL.intersection(tags)
    others = frozenset(tags) - {"PUNCT"}
    return others - {PROPER_NOUN} if form.islower() else others


def stem(form: str) -> str:
    """Return what the forms of an inflected word have in common, roughly: its beginning, lower-cased."""
    return form.lower()[: max(SHORTEST_STEM, len(form) - ENDING)]


def type_shares(text: LinkedText, mass: NDArray[np.float32], allowed: Sets, *, stems: bool = False) -> Shares:
    """Return the shares of tags in the ``mass`` float32[N, T] of each type's words, float64[V, T].

    Each row adds up to 1, or is all 0 for a type without any. What is not ``allowed`` bool[V, T] counts
    nothing. A rare form leans on all that are the same in lower case and, with ``stems``, on those that begin
    alike.
    """
    counts = np.zeros(allowed.shape)
    np.add.at(counts, text.types, mass)
    counts *= allowed
    leaning = LOWER_CASED * _pooled(counts, map(str.lower, text.vocabulary))
    if stems:
        leaning += OF_STEM * _pooled(counts, map(stem, text.vocabulary))
    return normalised(counts + leaning * allowed)


def _pooled(counts: NDArray[np.float64], names: Iterable[str]) -> NDArray[np.float64]:
    """Return for each type the shares of tags in the counts of all types of the same name, float64[V, T]."""
    numbers: dict[str, int] = {}
    group = np.array([numbers.setdefault(name, len(numbers)) for name in names])
    pooled = np.zeros((len(numbers), counts.shape[1]))
    np.add.at(pooled, group, counts)
    shares: Shares = normalised(pooled)[group]
    return shares


def corrected(shares: Shares, text: LinkedText, known: Mapping[str, Mapping[str, int]]) -> Shares:
    """Return the shares with the tags counted in tagged sentences, word to tag to count, added.

    The shares of links count as much as one occurrence: tagged words overrule them.
    """
    result = shares.copy()
    columns = {tag: column for column, tag in enumerate(text.tags)}
    for form, row in zip(text.vocabulary, result, strict=True):
        for tag, count in known.get(form, known.get(form.lower(), {})).items():
            row[columns[tag]] += count
    return normalised(result)


def type_sets(shares: Shares, allowed: Sets, *, least: float) -> Sets:
    """Return the tags of each type, bool[V, T]: of this share or more; where none has it, all allowed."""
    sets = shares >= least
    unknown = ~sets.any(axis=1)
    sets[unknown] = allowed[unknown]
    return sets


def set_evidence(text: LinkedText, sets: Sets) -> LogEvidence:
    """Return the evidence of each word, float32[N, T]: 0 for the tags in the set of its type, else -inf."""
    weights = np.where(sets, np.float32(0.0), np.float32(-np.inf))
    evidence: LogEvidence = weights[text.types]
    return evidence


def normalised(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows divided by their sums; a row of zeros stays."""
    sums = counts.sum(axis=1, keepdims=True)
    quotients = np.zeros_like(counts)
    np.divide(counts, sums, out=quotients, where=sums > 0.0)
    return quotients
