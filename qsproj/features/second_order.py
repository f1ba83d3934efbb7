"""From factors over several arcs to what the feature kernels read: their words and their places."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qsproj.features.atoms import PADDING, EncodedSentence
from qsproj.features.second_order_templates import CompiledFamily
from qsproj.kernels.features.arc_features import position_parts
from qsproj.kernels.features.second_order_features import FactorFeatures

Words = NDArray[np.int32]
Places = NDArray[np.uint64]

# Distances 1, 2, 3, 4, 5-9, 10 and more (McDonald et al. 2005), and a bin for "there is none".
DISTANCE_BINS = np.array([7, 1, 2, 3, 4, 5, 5, 5, 5, 5, 6])
NEAR = 2
# The last count of dependents that VALENCE tells from larger ones.
LARGEST_COUNT = 5


def grand_places(words: Words) -> Places:
    """Return the place of each GRAND factor: the order of its three words, and whether the last two are near.

    ``words`` int32[F, 3] are grandparent, head, dependent. That the grandparent stands between the two, so
    that the arcs cross (thesis 2.8.2), is one of the six orders.
    """
    grand, head, dependent = words.T
    order = 4 * (grand < head) + 2 * (head < dependent) + (grand > dependent)
    near = np.abs(head - dependent) <= NEAR
    # Orders 0 and 7 (a < b < c < a) do not exist, so the place is never 0.
    return np.asarray(2 * order + near, dtype=np.uint64)


def sequence_places(heads: Words, following: Words, sides: Words, *, n: int) -> Places:
    """Return the place of each CHILDSEQ factor: side, and binned distance from head to the next dependent.

    ``following`` int32[F] is n + 1 where the previous dependent is the last; ``sides`` are 0 left, 1 right.
    """
    distance = np.where(following > n, 0, np.minimum(np.abs(following - heads), 10))
    return (2 * DISTANCE_BINS[distance] + sides).astype(np.uint64)


def valence_places(sides: Words, counts: Words) -> Places:
    """Return the place of each VALENCE score: side and number of dependents, 0..LARGEST_COUNT."""
    return (2 * counts + sides + 1).astype(np.uint64)


def factor_features(
    encoded: EncodedSentence, compiled: CompiledFamily, members: Words, places: Places, *, buckets: int
) -> FactorFeatures:
    """Hash what the templates of one family ask of each position of a sentence.

    ``encoded``: encoded with the attributes that the templates were compiled for. ``members`` int32[F, R]:
    the words of each factor plus one: 0 and n + 2 are the outside of the sentence. ``places`` uint64[F]:
    1..15. ``buckets``: a power of two.
    """
    roles, templates = compiled.seeds.shape
    # One more row before, so that the outside itself is a position that may be asked for its neighbours.
    atoms = np.concatenate([encoded.atoms[:1], encoded.atoms])
    parts = np.empty((roles, len(atoms) - 2 * PADDING + 1, templates), dtype=np.uint64)
    for role in range(roles):
        position_parts(atoms, compiled.operations[role], compiled.seeds[role], parts[role])
    shift = np.uint64(64 - (buckets.bit_length() - 1))
    return FactorFeatures(parts, members, places, compiled.plain, shift)
