"""A dictionary counted from the candidate links of a bitext: how firmly two words belong together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.sentence import SentencePair
from qsproj.features.joint_templates import link_posteriors, word_hashes

Keys = NDArray[np.uint64]
Values = NDArray[np.float64]

# Added to the occurrences of two words, so that two that were seen once are no sure translations.
SHRINKAGE = 1.0
# Pairs of words that were linked less often than this, in expectation, are forgotten.
LEAST_LINKS = 0.3
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Sums float64[K] by hashes uint64[K], ascending."""

    keys: Keys
    sums: Values

    def of(self, keys: Keys) -> Values:
        """Return the sums of some keys; 0 for those that were never seen."""
        if not len(self.keys):
            return np.zeros(len(keys))
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.sums[places], 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """Counts of words in lower case, and of expected links, sums of posteriors, of each pair of them."""

    links: Counted
    source_words: Counted
    target_words: Counted

    def strengths(self, pair: SentencePair, *, counted: bool = False) -> Values:
        """Return how firmly the words of each candidate link belong together, float64[k] in 0..1.

        It is twice their expected links over the occurrences of both (Dice's coefficient), shrunk by
        SHRINKAGE; NaN where a word was not seen. ``counted``: the pair is one of those that were counted; it
        is then left out of the count.
        """
        sources, targets, codes = _keys(pair)
        linked = self.links.of(codes)
        occurrences = self.source_words.of(sources), self.target_words.of(targets)
        if counted:
            own = _count(_contribution(pair))
            linked = np.maximum(linked - own.links.of(codes), 0.0)
            occurrences = (
                occurrences[0] - own.source_words.of(sources),
                occurrences[1] - own.target_words.of(targets),
            )
        seen = np.minimum(*occurrences) > 0.0
        return np.where(seen, np.minimum(2.0 * linked / (sum(occurrences) + SHRINKAGE), 1.0), np.nan)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        counts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {f"{name}_keys": counted.keys for name, counted in counts.items()} | {
            f"{name}_sums": counted.sums for name, counted in counts.items()
        }

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Dictionary:
        return Dictionary(
            *(
                Counted(arrays[f"{field.name}_keys"], arrays[f"{field.name}_sums"])
                for field in fields(Dictionary)
            )
        )


Contribution = tuple[Keys, Values, Keys, Keys]


def count_dictionary(pairs: Iterable[SentencePair]) -> Dictionary:
    """Count words and candidate links of a bitext; its memory grows with the number of links."""
    parts = [_contribution(pair) for pair in pairs]
    empty = (np.zeros(0, np.uint64), np.zeros(0), np.zeros(0, np.uint64), np.zeros(0, np.uint64))
    codes, posteriors, sources, targets = (np.concatenate(column) for column in zip(empty, *parts))
    counted = _count((codes, posteriors, sources, targets))
    often = counted.links.sums >= LEAST_LINKS
    links = Counted(counted.links.keys[often], counted.links.sums[often])
    return Dictionary(links, counted.source_words, counted.target_words)


def _count(contribution: Contribution) -> Dictionary:
    codes, posteriors, sources, targets = contribution
    return Dictionary(
        _summed(codes, posteriors),
        _summed(sources, np.ones(len(sources))),
        _summed(targets, np.ones(len(targets))),
    )


def _summed(keys: Keys, values: Values) -> Counted:
    distinct, place = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(distinct))
    np.add.at(sums, place, values)
    return Counted(distinct, sums)


def _contribution(pair: SentencePair) -> Contribution:
    sources, targets = (word_hashes(sentence).forms[1:] for sentence in (pair.source, pair.target))
    return _keys(pair)[2], link_posteriors(pair.alignment), sources, targets


def _keys(pair: SentencePair) -> tuple[Keys, Keys, Keys]:
    links = pair.alignment.links
    sources = word_hashes(pair.source).forms[links[:, 0]]
    targets = word_hashes(pair.target).forms[links[:, 1]]
    return sources, targets, sources * _MULTIPLIER + targets
