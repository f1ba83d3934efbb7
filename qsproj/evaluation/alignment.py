"""Precision, recall and alignment error rate of links. *Source*: Och and Ney (2003), section 6."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from qsproj.corpus.sentence import Alignment
from qsproj.errors import DataError, pluralise
from qsproj.evaluation.attachment import percentage


@dataclass(frozen=True, slots=True)
class AlignmentScores:
    """Counts of links over a corpus, and the scores computed from them."""

    sentences: int  # pairs compared
    found: int  # |A|, links of the system
    sure: int  # |S|, sure gold links
    possible: int  # |P|, sure or possible gold links
    found_sure: int  # |A and S|
    found_possible: int  # |A and P|

    @property
    def precision(self) -> float:
        """Percentage of found links that are sure or possible; NaN if no link was found."""
        return percentage(self.found_possible, self.found)

    @property
    def recall(self) -> float:
        """Percentage of sure links that were found; NaN without sure links."""
        return percentage(self.found_sure, self.sure)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; NaN if either is NaN, 0 if both are 0."""
        both = self.precision + self.recall
        return 2.0 * self.precision * self.recall / both if both else both

    @property
    def error_rate(self) -> float:
        """Alignment error rate in per cent, ``1 - (|A and S| + |A and P|) / (|A| + |S|)``; NaN for 0 / 0."""
        return 100.0 - percentage(self.found_sure + self.found_possible, self.found + self.sure)


def alignment_scores(
    gold: Iterable[Alignment], system: Iterable[Alignment], *, names: tuple[str, str] = ("gold", "system")
) -> AlignmentScores:
    """Score links of the same pairs in the same order; sure links of ``gold`` are also possible."""
    totals = np.zeros(6, dtype=np.int64)
    for right, guess in zip_longest(gold, system):
        if right is None or guess is None:
            shorter, longer = names if right is None else names[::-1]
            end = f"the links of {pluralise(int(totals[0]), 'sentence pair')}"
            raise DataError(shorter, None, end, f"more, as in {longer}", "score links of the same pairs")
        tables = right.links, right.links[right.sure], guess.links
        possible, sure, found = (set(map(tuple, table.tolist())) for table in tables)
        totals += [1, *map(len, (found, sure, possible, found & sure, found & possible))]
    return AlignmentScores(*totals.tolist())
