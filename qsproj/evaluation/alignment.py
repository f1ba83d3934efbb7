"""Precision, recall and alignment error rate against sure and possible links.

Source: Och and Ney (2003), section 6.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from qsproj.corpus.sentence import Alignment
from qsproj.errors import DataError, pluralise
from qsproj.evaluation.attachment import percentage


@dataclass(frozen=True, slots=True)
class AlignmentScores:
    """Counts of links over a corpus, and the scores that follow."""

    sentences: int  # pairs compared
    found: int  # |A|, links of the system
    sure: int  # |S|, of the gold standard
    possible: int  # |P|, those that are sure or possible
    found_sure: int  # |A and S|
    found_possible: int  # |A and P|
    # would be possible with both words one further, or one before: above ``found_possible``, words seem to be
    # counted from 0 on one side and from 1 on the other
    found_one_off: int = 0

    @property
    def precision(self) -> float:
        """Percentage of found links that are sure or possible; NaN where none was found."""
        return percentage(self.found_possible, self.found)

    @property
    def recall(self) -> float:
        """Percentage of sure links that were found; NaN where there is none."""
        return percentage(self.found_sure, self.sure)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; NaN where one of them is, 0 where both are."""
        both = self.precision + self.recall
        return 2.0 * self.precision * self.recall / both if both else both

    @property
    def error_rate(self) -> float:
        """Alignment error rate in per cent, ``1 - (|A and S| + |A and P|) / (|A| + |S|)``; NaN for 0 / 0."""
        return 100.0 - percentage(self.found_sure + self.found_possible, self.found + self.sure)


def alignment_scores(
    gold: Iterable[Alignment], system: Iterable[Alignment], *, names: tuple[str, str] = ("gold", "system")
) -> AlignmentScores:
    """Compare alignments of the same sentence pairs, in step; ``names`` are what a message calls the two.

    Every sure link of ``gold`` is possible, too; whether the system calls a link sure is not looked at.
    Raises DataError when one side has more sentence pairs than the other.
    """
    sentences = found = sure = possible = found_sure = found_possible = further = before = 0
    for right, guess in zip_longest(gold, system):
        if right is None or guess is None:
            shorter, longer = names if right is None else names[::-1]
            raise DataError(
                shorter,
                None,
                found=f"the links of {pluralise(sentences, 'sentence pair')}",
                expected=f"more, as in {longer}",
                remedy="score links of the same pairs",
            )
        possible_links = set(map(tuple, right.links.tolist()))
        sure_links = set(map(tuple, right.links[right.sure].tolist()))
        links = set(map(tuple, guess.links.tolist()))
        sentences += 1
        found += len(links)
        sure += len(sure_links)
        possible += len(possible_links)
        found_sure += len(links & sure_links)
        found_possible += len(links & possible_links)
        further += len({(i + 1, j + 1) for i, j in links} & possible_links)
        before += len({(i - 1, j - 1) for i, j in links} & possible_links)
    return AlignmentScores(sentences, found, sure, possible, found_sure, found_possible, max(further, before))
