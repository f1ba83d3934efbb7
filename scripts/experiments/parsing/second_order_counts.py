"""Scores of grandparents and siblings from counts: realistic second-order graphs without a trained model."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.sentence import Sentence
from qsproj.trees.second_order import SecondOrderScores, second_order_scores

# Observations that a back-off distribution is worth.
PRIOR = 20.0
# Weight of the log-ratios beside LINK scores, which also use neighbouring tags. On English-EWT dev, 0.3 and
# 0.5 gave exact MBR parses the most right heads, of 0.15 to 1.
WEIGHT = 0.4


@dataclass(frozen=True)
class CountModel:
    """Log-ratios of a dependent's probability given its grandparent or previous sibling, by tag.

    Attributes
    ----------
    tags : dict
        Number of each UPOS; the root's is that of "".
    grand : float64[T, T, T, 2, 2]
        [tag of grandparent, head, dependent; head is on the right of its head, dependent on that of its].
    sequence : float64[T, 2, T + 1, T + 1]
        [tag of head, side, previous or boundary, next or boundary]; the boundary is number T.
    """

    tags: dict[str, int]
    grand: NDArray[np.float64]
    sequence: NDArray[np.float64]


def count_model(sentences: Sequence[Sentence]) -> CountModel:
    tags = {tag: number for number, tag in enumerate(sorted({"", *(t for s in sentences for t in s.upos)}))}
    count = len(tags)
    grand = np.zeros((count, count, count, 2, 2))
    sequence = np.zeros((count, 2, count + 1, count + 1))
    for sentence in sentences:
        numbers = tag_numbers(sentence, tags)
        heads = sentence.heads.tolist()
        for h in range(len(heads)):
            below = [d for d in range(1, len(heads)) if heads[d] == h]
            for d in below if h else ():
                grand[numbers[heads[h]], numbers[h], numbers[d], int(h > heads[h]), int(d > h)] += 1
            for side in (0, 1):
                chain = [d for d in below if (d > h) == side][:: 1 if side else -1]
                steps = [count, *(numbers[d] for d in chain), count]
                for previous, following in itertools.pairwise(steps):
                    sequence[numbers[h], side, previous, following] += 1
    without = sequence.sum(axis=2, keepdims=True)
    return CountModel(
        tags,
        log_ratios(grand, grand.sum(axis=(0, 3), keepdims=True), axis=2),
        log_ratios(sequence, without, axis=3),
    )


def log_ratios(
    counts: NDArray[np.float64], coarser: NDArray[np.float64], *, axis: int
) -> NDArray[np.float64]:
    """Return log p(outcome | context) / p(outcome | coarser context), weighted; the latter smooths the former."""
    coarse = (coarser + 1.0) / (coarser + 1.0).sum(axis=axis, keepdims=True)
    fine = (counts + PRIOR * coarse) / (counts.sum(axis=axis, keepdims=True) + PRIOR)
    return np.asarray(WEIGHT * np.log(fine / coarse))


def tag_numbers(sentence: Sentence, tags: dict[str, int]) -> list[int]:
    return [tags[""], *(tags.get(tag, tags[""]) for tag in sentence.upos)]


def model_scores(
    sentence: Sentence, arcs: NDArray[np.float64], counted: CountModel, *, siblings: bool
) -> SecondOrderScores:
    """Return arc scores and counted scores: GRAND, and CHILDSEQ where ``siblings`` are asked for."""
    t = np.array(tag_numbers(sentence, counted.tags))
    first, second, third = np.ogrid[: len(t), : len(t), : len(t)]
    grand = counted.grand[
        t[first], t[second], t[third], (second > first).astype(int), (third > second).astype(int)
    ]
    if not siblings:
        return second_order_scores(arcs, grandparents=grand)
    boundary, table = len(counted.tags), counted.sequence
    words = np.arange(len(t))
    before = np.where(third == first, boundary, t[third])
    side = (words > words[:, None]).astype(int)
    return second_order_scores(
        arcs,
        siblings=table[t[first], (second > first).astype(int), before, t[second]],
        stops=table[t[:, None], side, t[None, :], boundary],
        childless=table[t[:, None], [[0, 1]], boundary, boundary],
        grandparents=grand,
    )
