"""Sums of the votes of links, by type and by lower-cased word."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.characters import lower_form
from qsproj.pipelines.tagging.linked_text import LinkedText, numbered

Shares = NDArray[np.float64]
Sets = NDArray[np.bool_]


class Words(NamedTuple):
    """The W lower-cased words of a text."""

    of_types: NDArray[np.int64]  # int64[V], the word of each type
    counts: NDArray[np.int64]  # int64[W]
    votes: NDArray[np.float64]  # float64[W, T]
    frequent: NDArray[np.bool_]  # bool[W]


def words_of(text: LinkedText, frequent: float) -> Words:
    """Sum the votes of lower-cased words; ``frequent``: least share of the text of a frequent word."""
    of_types, n_words = numbered(map(lower_form, text.vocabulary))
    at = of_types[text.types]
    counts = np.bincount(at, minlength=n_words)
    return Words(of_types, counts, summed(text.votes, at, n_words), counts >= frequent * len(at))


def summed(rows: NDArray[np.floating], groups: NDArray[np.integer], n_groups: int) -> NDArray[np.float64]:
    """Return the sum of the rows, [N, T], of each group, float64[n_groups, T]: faster than add.at."""
    sums = np.empty((n_groups, rows.shape[1]))
    for column in range(rows.shape[1]):
        sums[:, column] = np.bincount(groups, rows[:, column], minlength=n_groups)
    return sums


def normalised(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows divided by their sums; rows of zeros are unchanged."""
    sums = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0.0)
