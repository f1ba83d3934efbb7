"""Calibration of probabilities: 80% of the arcs with probability 0.8 should be right."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from qsproj.conventions import NO_HEAD, Floats, Mask
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import ARC_PROBABILITY, RELATION_PROBABILITY, line_of, misc_values
from qsproj.corpus.messages import probability_in
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError
from qsproj.evaluation.attachment import PUNCTUATION_TAG

BINS = 10

# Confidence of each prediction, float64[k], and whether it was right, bool[k].
Outcomes = tuple[Floats, Mask]


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The predictions with confidence from ``low`` to ``high``, which only the last bin includes."""

    low: float
    high: float
    count: int
    confidence: float  # mean probability; NaN in an empty bin
    accuracy: float  # share of right predictions; NaN in an empty bin


def reliability(confidences: ArrayLike, right: ArrayLike, *, bins: int = BINS) -> tuple[ReliabilityBin, ...]:
    """Sort predictions, float64[k] in 0..1 and bool[k], into bins of equal width by their confidence."""
    probabilities = np.asarray(confidences, dtype=np.float64)
    outcomes = np.asarray(right, dtype=np.bool_)
    places = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    counts = np.bincount(places, minlength=bins)
    with np.errstate(invalid="ignore"):
        means = np.bincount(places, probabilities, minlength=bins) / counts
        accuracies = np.bincount(places, outcomes, minlength=bins) / counts
    cells = zip(counts.tolist(), means.tolist(), accuracies.tolist(), strict=True)
    return tuple(ReliabilityBin(k / bins, (k + 1) / bins, *row) for k, row in enumerate(cells))


def expected_calibration_error(table: Sequence[ReliabilityBin]) -> float:
    """Return the mean gap between confidence and accuracy over all predictions, 0..1; NaN without any.

    *Source*: Naeini, Cooper and Hauskrecht 2015, Obtaining well calibrated probabilities; Guo et al. 2017.
    """
    gap = sum(row.count * abs(row.confidence - row.accuracy) for row in table if row.count)
    total = sum(row.count for row in table)
    return gap / total if total else float("nan")


def relations_can_be_judged(gold: Iterable[Sentence], system: Iterable[Sentence]) -> bool:
    """Return whether some word has a ``RelProb`` in MISC, and some word a gold relation."""
    stated = any(set(misc_values(sentence, RELATION_PROBABILITY)) != {None} for sentence in system)
    return stated and any(set(sentence.deprels) != {UNSPECIFIED} for sentence in gold)


def share_stated(system: Iterable[Sentence], key: str) -> tuple[int, int]:
    """Return the numbers of words with a probability in MISC under ``key``, and of all words."""
    values = [value for sentence in system for value in misc_values(sentence, key)]
    return len(values) - values.count(None), len(values)


def confidences_of(
    gold: Iterable[Sentence],
    system: Iterable[Sentence],
    key: str = ARC_PROBABILITY,
    *,
    punctuation: bool = True,
    name: str = "system",
) -> Outcomes:
    """Return the stated probability of each arc, float64[k], and whether it is right, bool[k]."""
    confidences: list[Floats] = []
    right: list[Mask] = []
    for truth, parsed in zip(gold, system, strict=True):
        stated = stated_confidences(parsed, key=key, name=name)
        counts = ~np.isnan(stated) & (truth.heads != NO_HEAD)
        if not punctuation:
            counts[1:] &= [tag != PUNCTUATION_TAG for tag in truth.upos]
        correct = parsed.heads == truth.heads
        if key == RELATION_PROBABILITY:
            counts[1:] &= [relation != UNSPECIFIED for relation in truth.deprels]
            correct[1:] &= [one == other for one, other in zip(truth.deprels, parsed.deprels, strict=True)]
        confidences.append(stated[counts])
        right.append(correct[counts])
    if not any(map(len, confidences)):
        raise DataError(name, None, f"no {key} in MISC", "one for each word", "parse with --confidence")
    return np.concatenate(confidences), np.concatenate(right)


def stated_confidences(sentence: Sentence, *, key: str = ARC_PROBABILITY, name: str) -> Floats:
    """Return the probability of each word, float64[n+1]; NaN where MISC has none under the key, and at 0."""
    texts = misc_values(sentence, key)
    stated = [np.nan if text is None else probability_in(text) for text in texts]
    if None in stated:
        word = stated.index(None) + 1
        found = f"{key}={texts[word - 1]} of word {word} ({sentence.forms[word - 1]!r})"
        raise DataError(
            name, line_of(sentence, word), found, "a probability", "parse again with --confidence"
        )
    return np.array([np.nan, *stated], dtype=np.float64)
