"""Which features of arcs exist: those that fire often enough, on the arcs that a criterion counts.

*Source*: thesis 2.8.3. Features of right arcs (``trees``) make small and accurate models; the others are for
where there are no trees, or very few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT, Heads
from qsproj.features.atoms import EncodedSentence
from qsproj.models.arc.arc_scorer import supported_buckets
from qsproj.models.tree_inference import arcs_in

# Beyond, distances share features.
SHORT = 5


def short_arcs(heads: Heads, most: int) -> NDArray[np.bool_]:
    """Return bool[n+1, n+1], true for arcs of at most so many words, and for those from the root.

    The root has no place among the words, so that none of its arcs is long.
    """
    places = np.arange(len(heads))
    short: NDArray[np.bool_] = np.abs(places[:, None] - places) <= most
    short[ROOT] = True
    return short


def candidate_arcs(heads: Heads) -> NDArray[np.bool_]:
    """Return bool[n+1, n+1], all true."""
    return np.ones((len(heads),) * 2, dtype=np.bool_)


# By the name of a criterion, the arcs that it counts.
SUPPORTS: Mapping[str, Callable[[Heads], NDArray[np.bool_]]] = {
    "trees": arcs_in,
    "links": candidate_arcs,
    "short": lambda heads: short_arcs(heads, SHORT),
    "sentences": candidate_arcs,
}


def supported_by(
    template_set: str,
    examples: Iterable[tuple[EncodedSentence, Heads]],
    *,
    cutoff: int,
    criterion: str,
) -> NDArray[np.uint64]:
    """Find the buckets, uint64[buckets / 64], of features that occur at least ``cutoff`` times; 0: all.

    Examples are sentences with their heads int32[n+1], whole or partial. The criterion is a key of SUPPORTS:
    ``trees`` counts right arcs; ``links`` all candidate arcs; ``short`` candidate arcs of at most SHORT
    words; ``sentences`` the sentences that have a candidate arc with the feature.
    """
    arcs_of = SUPPORTS[criterion]
    return supported_buckets(
        template_set,
        ((encoded, arcs_of(heads)) for encoded, heads in examples),
        cutoff=cutoff,
        by_sentence=criterion == "sentences",
    )
