"""Precision, recall and alignment error rate against sure and possible links.

Source: Och and Ney (2003), section 6.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from qsproj.corpus.sentence import Alignment
from qsproj.errors import QsprojError, counted


@dataclass(frozen=True, slots=True)
class AlignmentScores:
    """Counts of links over a corpus, and the scores that follow.

    Attributes
    ----------
    sentences : int
        Sentence pairs compared.
    found : int
        Links of the system, |A|.
    sure : int
        Sure links of the gold standard, |S|.
    found_sure, found_possible : int
        Links of the system that are sure, |A and S|; and that are sure or possible, |A and P|.
    """

    sentences: int
    found: int
    sure: int
    found_sure: int
    found_possible: int

    @property
    def precision(self) -> float:
        """Percentage of found links that are sure or possible; NaN where none was found."""
        return _percentage(self.found_possible, self.found)

    @property
    def recall(self) -> float:
        """Percentage of sure links that were found; NaN where there is none."""
        return _percentage(self.found_sure, self.sure)

    @property
    def error_rate(self) -> float:
        """Alignment error rate in per cent, 1 - (|A and S| + |A and P|) / (|A| + |S|); NaN for 0 / 0."""
        return 100.0 - _percentage(self.found_sure + self.found_possible, self.found + self.sure)


def alignment_scores(gold: Iterable[Alignment], system: Iterable[Alignment]) -> AlignmentScores:
    """Compare alignments of the same sentence pairs, in step.

    Links of ``gold`` that are not ``sure`` are possible; every sure link is possible, too. Whether the
    system calls a link sure is not looked at.

    Raises
    ------
    QsprojError
        When one side has more sentence pairs than the other.
    """
    sentences = found = sure = found_sure = found_possible = 0
    for right, guess in zip_longest(gold, system):
        if right is None or guess is None:
            shorter = "gold" if right is None else "system"
            raise QsprojError(
                f"the {shorter} alignment ends after {counted(sentences, 'sentence pair')}, the other does "
                "not; score the same pairs"
            )
        possible_links = set(map(tuple, right.links.tolist()))
        sure_links = set(map(tuple, right.links[right.sure].tolist()))
        links = set(map(tuple, guess.links.tolist()))
        sentences += 1
        found += len(links)
        sure += len(sure_links)
        found_sure += len(links & sure_links)
        found_possible += len(links & possible_links)
    return AlignmentScores(sentences, found, sure, found_sure, found_possible)


def _percentage(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else float("nan")
