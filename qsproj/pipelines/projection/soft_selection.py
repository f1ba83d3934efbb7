"""Which target sentences soft projection learns from: those in which the evidence and a parser agree most."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from qsproj.conventions import Scores
from qsproj.errors import NothingToLearnError, listed_reasons
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.pipelines.projection.soft_evidence import pooled_evidence
from qsproj.pipelines.translations import Translations

# Lengths of target sentences at which a band begins; the last is where the last band ends. Agreement falls
# with length: without bands, only the shortest sentences would be chosen.
LENGTH_BANDS = (6, 10, 14, 19, 25, 36)

# Pairs with less evidence than this for a word, on average, are not learned from.
MIN_COVERAGE = 0.5

# Where fewer pairs are chosen, as from a New Testament, those with little evidence or of unusual lengths are
# learned from as well: what evidence does not reach is summed out.
ENOUGH_PAIRS = 8000
LEAST_COVERAGE = 0.1
SHORTEST, LONGEST = 3, 60
# Why a sentence is not chosen, as the user is told.
OUT_OF_BOUNDS = f"fewer than {SHORTEST} or more than {LONGEST} words"
NEXT_TO_NONE = "links that carry arcs over to less than a tenth of the words"
UNUSUAL_LENGTH = f"fewer than {LENGTH_BANDS[0]} or more than {LENGTH_BANDS[-1] - 1} words"
LITTLE_EVIDENCE = "links that carry arcs over to less than half of the words"
LESS_AGREEMENT = "less agreement than others of their length"


REMEDIES = {
    UNUSUAL_LENGTH: "cut the text into sentences, one a pair",
    LITTLE_EVIDENCE: "more pairs give more links; check that the source has trees and that links are right",
}


def agreement(evidence: Scores, probabilities: Scores) -> float:
    """Return the share of the evidence for which a parser is expected to name the same head.

    What counts is that the evidence there is agrees, not how much of it there is: on dev files of German and
    Swedish that was 0.6 to 0.7 UAS better than the share of all words, on Spanish the same.

    Parameters
    ----------
    evidence : float64[n+1, n+1]
        Between 0 and 1.
    probabilities : float64[n+1, n+1]
        Arc marginals of the parser.

    Returns
    -------
    float
        It is low where the translation is free, where the tagger, the aligner or the source parser went
        wrong, and where the language is not that of today. 0 where there is :func:`too_little` evidence.
    """
    if too_little(evidence):
        return 0.0
    return float((evidence * probabilities).sum()) / float(evidence.sum())


def too_little(evidence: Scores, least: float = MIN_COVERAGE) -> bool:
    """Tell whether evidence covers no more than ``least`` of the words."""
    return float(evidence.sum()) <= least * (len(evidence) - 1)


class Chosen(NamedTuple):
    """What was chosen, in the order of the input, and how many were not, by the reason."""

    pairs: list[Translations]
    left_out: dict[str, int]


def choose_pairs(corpus: Iterable[Translations], parser: ArcParser, *, sentences: int) -> Chosen:
    """Choose target sentences with their translations by agreement, as many from each band of lengths.

    Parameters
    ----------
    corpus : iterable of Translations
        Consumed one at a time; no more than ``sentences`` are held.
    parser : ArcParser
        Whose arcs the evidence is compared with.
    sentences : int
        At most so many are chosen.

    Returns
    -------
    Chosen
        The earlier of equals is preferred. Sentences with too little evidence, and those outside all bands,
        are left out.
    """
    quota = max(sentences // (len(LENGTH_BANDS) - 1), 1)
    bands: list[list[tuple[float, int, Translations]]] = [[] for _ in LENGTH_BANDS[1:]]
    left_out = dict.fromkeys((UNUSUAL_LENGTH, LITTLE_EVIDENCE, LESS_AGREEMENT), 0)
    for number, translations in enumerate(corpus):
        target = translations[0].target
        place = bisect_right(LENGTH_BANDS, len(target)) - 1
        if not 0 <= place < len(bands):
            left_out[UNUSUAL_LENGTH] += 1
            continue
        evidence = pooled_evidence(translations)
        # What is left out whatever the parser says is not parsed: half of many a bitext.
        score = 0.0 if too_little(evidence) else agreement(evidence, parser.arc_probabilities(target))
        if score == 0.0:
            left_out[LITTLE_EVIDENCE] += 1
            continue
        # Translations are never compared: no two have the same number.
        entry = (score, -number, translations)
        if len(bands[place]) < quota:
            heapq.heappush(bands[place], entry)
        else:
            heapq.heappushpop(bands[place], entry)
            left_out[LESS_AGREEMENT] += 1
    # Fewer than there are bands: the first of each is one too many.
    ordered = sorted((entry for band in bands for entry in band), reverse=True)
    chosen = ordered[:sentences]
    left_out[LESS_AGREEMENT] += len(ordered) - len(chosen)
    pairs = [translations for _, _, translations in sorted(chosen, key=lambda entry: -entry[1])]
    return Chosen(pairs, {reason: count for reason, count in left_out.items() if count})


def with_sparse_pairs(
    corpus: Iterable[Translations], parser: ArcParser, chosen: Chosen, *, sentences: int
) -> Chosen:
    """Add pairs that :func:`choose_pairs` left out for little evidence or their length, by agreement.

    Parameters
    ----------
    corpus : iterable of Translations
        That which the others were chosen from. Consumed one at a time.
    sentences : int
        At most so many are chosen in all, and ENOUGH_PAIRS.
    """
    most = min(sentences, ENOUGH_PAIRS) - len(chosen.pairs)
    if most <= 0:
        return chosen
    left_out = {LESS_AGREEMENT: chosen.left_out.get(LESS_AGREEMENT, 0), OUT_OF_BOUNDS: 0, NEXT_TO_NONE: 0}
    best: list[tuple[float, int, Translations]] = []
    for number, translations in enumerate(corpus):
        target = translations[0].target
        if not SHORTEST <= len(target) <= LONGEST:
            left_out[OUT_OF_BOUNDS] += 1
            continue
        evidence = pooled_evidence(translations)
        if LENGTH_BANDS[0] <= len(target) < LENGTH_BANDS[-1] and not too_little(evidence):
            continue  # chosen already, or agrees less than those of its length
        if too_little(evidence, LEAST_COVERAGE):
            left_out[NEXT_TO_NONE] += 1
            continue
        agreed = float((evidence * parser.arc_probabilities(target)).sum() / evidence.sum())
        entry = (agreed, -number, translations)
        if len(best) < most:
            heapq.heappush(best, entry)
        else:
            heapq.heappushpop(best, entry)
            left_out[LESS_AGREEMENT] += 1
    more = [translations for _, _, translations in sorted(best, key=lambda entry: -entry[1])]
    return Chosen([*chosen.pairs, *more], {reason: count for reason, count in left_out.items() if count})


def nothing_chosen(left_out: Mapping[str, int]) -> NothingToLearnError:
    """Say why no pair was chosen, and what to do about the commonest reason."""
    if not left_out:
        return NothingToLearnError("found no pair to learn from; name files with ten pairs or more")
    commonest = max(left_out, key=left_out.__getitem__)
    return NothingToLearnError(f"all pairs are left out: {listed_reasons(left_out)}; {REMEDIES[commonest]}")
