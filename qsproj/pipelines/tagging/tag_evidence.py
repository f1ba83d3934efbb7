"""From votes of links to sets of tags.

A link says little by itself: it may be wrong, and translations change the part of speech. All links of a type
together tell which tags it may have. Which of these a word has is left to the sentences, for the chain to
learn.

Source: after Taeckstroem, Das, McDonald, Petrov and Nivre (2013), who intersect token and type constraints.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.language.lexicon import Lexicon
from qsproj.models.tagging.set_training import LogEvidence
from qsproj.pipelines.tagging.linked_text import LinkedText
from qsproj.pipelines.tagging.script_tags import tags_by_script

# How many occurrences the shares of the lower-cased form count for in those of a form.
LOWER_CASED = 2.0

Shares = NDArray[np.float64]
Sets = NDArray[np.bool_]


def allowed_tags(text: LinkedText, lexicon: Lexicon) -> Sets:
    """Return the tags that script and lexicon leave each type, bool[V, T]; the lexicon has the last word."""
    allowed = tags_by_script(text.vocabulary, text.tags)
    for form, row in zip(text.vocabulary, allowed, strict=True):
        listed = lexicon.get(form) or lexicon.get(form.lower())
        if listed:
            row[:] = [tag in listed for tag in text.tags]
    return allowed


def type_shares(text: LinkedText, mass: NDArray[np.float32], allowed: Sets) -> Shares:
    """Return the shares of tags in what the words of each type have, float64[V, T].

    Parameters
    ----------
    mass : float32[N, T]
        Votes, or posteriors.
    allowed : bool[V, T]
        All else counts nothing.

    Returns
    -------
    float64[V, T]
        Each row adds up to 1, or is all 0 for a type without any mass. A rare form leans on all that are the
        same in lower case.
    """
    counts = np.zeros(allowed.shape)
    np.add.at(counts, text.types, mass)
    counts *= allowed
    numbers: dict[str, int] = {}
    lower = np.array([numbers.setdefault(form.lower(), len(numbers)) for form in text.vocabulary])
    pooled = np.zeros((len(numbers), len(text.tags)))
    np.add.at(pooled, lower, counts)
    return normalised(counts + LOWER_CASED * normalised(pooled)[lower] * allowed)


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
