"""Attributes that a word has by its place in a tree: what its relatives read, and its rank among siblings.

Whether an adposition depends on a noun, and which determiner, tells an object from an oblique, and a subject
from an object, where the two words of the arc alone do not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Heads
from qsproj.features.atoms import PADDING, TAG_NUMBERS, EncodedSentence
from qsproj.features.hashing import stable_hash
from qsproj.kernels.features.tree_relatives import find_relatives


def _bits(*tags: str) -> int:
    return sum(1 << TAG_NUMBERS[tag] for tag in tags)


# The first dependent with one of these tags; the kernel asks for the adposition first.
CLASSES = {
    "adposition": _bits("ADP"),
    "determiner": _bits("DET"),
    "marker": _bits("SCONJ", "PART"),
    "auxiliary": _bits("AUX"),
    "coordinator": _bits("CCONJ"),
}
NOMINALS = _bits("NOUN", "PROPN", "PRON", "NUM")
RELATIVES = (*CLASSES, "first", "last", "parent")
RANK = "rank"

_CLASS_BITS = np.array(list(CLASSES.values()), dtype=np.int64)
_NOBODY = np.uint64(stable_hash("<nobody>"))
_RANK_SEED = np.uint64(0x9E3779B97F4A7C15)


def reads_tree(attribute: str) -> bool:
    """Say whether an attribute is one of those here: ``rank``, or RELATIVE.ATTRIBUTE."""
    return attribute == RANK or attribute.partition(".")[0] in RELATIVES


def with_tree_atoms(
    encoded: EncodedSentence,
    heads: Heads,
    attributes: Sequence[str],
    inside: NDArray[np.bool_] | None = None,
) -> EncodedSentence:
    """Return the sentence with a column for each attribute that its tree gives.

    ``encoded``: its columns are the first of ``attributes``. ``heads`` int32[n+1]: -1 where missing: such
    words, and the root, have no head; outside of the sentence nobody has anybody. ``attributes``: the columns
    wanted. What ``adposition.lower`` gives a word is the lower-cased form of its first adposition;
    ``last.upos`` is the tag of its last dependent, ``parent.upos`` that of its head. ``inside`` bool[n+1],
    optional: of several sentences encoded as one: the positions that are words or roots.
    """
    wanted = attributes[encoded.atoms.shape[1] :]
    if not wanted:
        return encoded
    nodes = np.empty((len(heads), len(RELATIVES)), dtype=np.int32)
    ranks = np.empty(len(heads), dtype=np.int64)
    # A copy, for kernels are compiled apart for arrays that may not be written to.
    find_relatives(heads.copy(), encoded.tags, _CLASS_BITS, NOMINALS, nodes, ranks)
    atoms = np.empty((len(encoded.atoms), len(attributes)), dtype=np.uint64)
    atoms[:, : encoded.atoms.shape[1]] = encoded.atoms
    for column, attribute in enumerate(wanted, start=encoded.atoms.shape[1]):
        atoms[:, column] = _NOBODY
        atoms[PADDING : PADDING + len(heads), column] = (
            _of_ranks(ranks, inside)
            if attribute == RANK
            else _of_relatives(encoded, nodes, attribute, attributes)
        )
    return EncodedSentence(atoms, encoded.tags)


def _of_ranks(ranks: NDArray[np.int64], inside: NDArray[np.bool_] | None) -> NDArray[np.uint64]:
    """Return uint64[n+1], what each position's rank reads; what is no position of a sentence has none."""
    values = ranks.astype(np.uint64) * _RANK_SEED
    return values if inside is None else np.where(inside, values, _NOBODY)


def _of_relatives(
    encoded: EncodedSentence, nodes: NDArray[np.int32], attribute: str, attributes: Sequence[str]
) -> NDArray[np.uint64]:
    """Return uint64[n+1], what the relative of each position reads."""
    relative, _, read = attribute.partition(".")
    found = nodes[:, RELATIVES.index(relative)]
    values = encoded.atoms[found + PADDING, attributes.index(read)]
    return np.where(found < 0, _NOBODY, values)
