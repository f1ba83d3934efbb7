"""One tagger for several: the mean of their potentials, which costs no more than one to tag with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from qsproj.features.hashing import FeatureIndex
from qsproj.models.tagging.tagger import Tagger, in_half_the_bytes


def mean_tagger(taggers: Sequence[Tagger]) -> Tagger:
    """Return the tagger whose potentials are the mean of those of others.

    Parameters
    ----------
    taggers : sequence of Tagger
        At least one; all with the same tags and extractor. A feature that one of them lacks counts 0 there.
        All else is that of the first.

    Notes
    -----
    O(R T) time and memory for R distinct features and T tags. The mean of log potentials is a product of
    experts: what each learned by the chance of its sample is averaged away, what all learned stays.
    """
    index = FeatureIndex(np.unique(np.concatenate([tagger.index.keys for tagger in taggers])))
    weights = np.zeros((len(index.keys), len(taggers[0].tags)), dtype=np.float32)
    transitions = np.zeros_like(taggers[0].transitions)
    for tagger in taggers:
        weights[index.rows(tagger.index.keys[:, None])[:, 0]] += tagger.weights / np.float32(len(taggers))
        transitions += tagger.transitions / len(taggers)
    return replace(taggers[0], index=index, weights=in_half_the_bytes(weights), transitions=transitions)
