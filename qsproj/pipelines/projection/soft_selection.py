"""Which target sentences soft projection learns from: those for whose words links give the most evidence."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from qsproj.conventions import Scores
from qsproj.errors import NothingToLearnError, listed_reasons
from qsproj.pipelines.projection.soft_evidence import pooled_evidence
from qsproj.pipelines.translations import Translations

# Words of target sentences, and evidence for a word on average: others are not learned from. What evidence
# does not reach is summed out.
SHORTEST, LONGEST = 3, 60
LEAST_COVERAGE = 0.1
# Why a sentence is not chosen, as the user is told.
UNUSUAL_LENGTH = f"fewer than {SHORTEST} or more than {LONGEST} words"
LITTLE_EVIDENCE = "links that carry arcs over to less than a tenth of the words"
LESS_EVIDENCE = "less evidence than others"
REMEDIES = {
    UNUSUAL_LENGTH: "cut the text into sentences, one a pair",
    LITTLE_EVIDENCE: "more pairs give more links; check that the source has trees and that links are right",
}


class Chosen(NamedTuple):
    """What was chosen, in the order of the input, and how many were not, by the reason."""

    pairs: list[Translations]
    left_out: dict[str, int]


def coverage(evidence: Scores) -> float:
    """Return how much evidence there is for the head of a word, on average, between 0 and 1."""
    return float(evidence.sum()) / (len(evidence) - 1)


def densest_pairs(corpus: Iterable[Translations], *, sentences: int) -> Chosen:
    """Choose at most ``sentences`` target sentences by coverage; the earlier of equals is preferred.

    ``corpus`` is consumed one at a time; no more than what is chosen is held. Those on which evidence and the
    prior agree most teach what the prior knows: of 15,000 Czech pairs, trees were eight points worse.
    """
    best: list[tuple[float, int, Translations]] = []
    left_out = dict.fromkeys((UNUSUAL_LENGTH, LITTLE_EVIDENCE, LESS_EVIDENCE), 0)
    for number, translations in enumerate(corpus):
        if not SHORTEST <= len(translations[0].target) <= LONGEST:
            left_out[UNUSUAL_LENGTH] += 1
            continue
        covered = coverage(pooled_evidence(translations))
        if covered <= LEAST_COVERAGE:
            left_out[LITTLE_EVIDENCE] += 1
            continue
        # Translations are never compared: no two have the same number.
        entry = (covered, -number, translations)
        if len(best) < sentences:
            heapq.heappush(best, entry)
        else:
            heapq.heappushpop(best, entry)
            left_out[LESS_EVIDENCE] += 1
    pairs = [translations for _, _, translations in sorted(best, key=lambda entry: -entry[1])]
    return Chosen(pairs, {reason: count for reason, count in left_out.items() if count})


def nothing_chosen(left_out: Mapping[str, int]) -> NothingToLearnError:
    """Say why no pair was chosen, and what to do about the commonest reason."""
    if not left_out:
        return NothingToLearnError("found no pair to learn from; name files with ten pairs or more")
    commonest = max(left_out, key=left_out.__getitem__)
    return NothingToLearnError(f"all pairs are left out: {listed_reasons(left_out)}; {REMEDIES[commonest]}")
