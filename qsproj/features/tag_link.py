"""Templates of TAGLINK as data, and its features: an arc between two words that may have several tags.

A *candidate* is a word with one of its possible tags. Where an arc template asks for ``head.upos``, these ask
for the tag of the candidate; all else is what the sentence says. There are no offsets: with the tagger's tags
of the words around, the templates fitted Turkish training trees better and its dev file no better.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT
from qsproj.features.atoms import PADDING, EncodedSentence
from qsproj.features.hashing import stable_hash
from qsproj.features.second_order import DISTANCE_BINS
from qsproj.features.second_order_templates import (
    CompiledFamily,
    FamilyTemplates,
    Template,
    compile_family,
)
from qsproj.kernels.features.arc_features import position_parts
from qsproj.kernels.features.second_order_features import FactorFeatures

Places = NDArray[np.uint64]

FAMILY = "taglink"
_TAGS: Template = ("head.upos", "dep.upos")

# Every one of them asks for a tag, else it could not tell the candidates of a word apart.
TAG_LINK_TEMPLATES = FamilyTemplates(
    plain=(
        _TAGS,
        ("head.lower", *_TAGS),
        ("dep.lower", *_TAGS),
        ("head.suffix", *_TAGS),
        ("dep.suffix", *_TAGS),
        ("head.suffix", "dep.suffix", *_TAGS),
        ("head.lower", "dep.upos"),
        ("head.upos", "dep.lower"),
    ),
    placed=(("head.upos",), ("dep.upos",), ("head.upos", "head.suffix"), ("dep.upos", "dep.suffix")),
)


@lru_cache
def compiled_tag_link(attributes: tuple[str, ...]) -> CompiledFamily:
    """Return the templates as integer programs over sentences encoded with ``attributes``."""
    return compile_family(FAMILY, TAG_LINK_TEMPLATES, attributes)


def tag_hashes(tags: tuple[str, ...]) -> NDArray[np.uint64]:
    """Return the hash of each tag, uint64[K]."""
    return np.array([stable_hash(f"upos\t{tag}") for tag in tags], dtype=np.uint64)


def arc_places(heads: NDArray[np.int32], dependents: NDArray[np.int32]) -> Places:
    """Return the place of arcs, uint64: direction and binned distance, 2..13."""
    distances = np.minimum(np.abs(heads - dependents), 10)
    places: Places = (2 * DISTANCE_BINS[distances] + (heads < dependents)).astype(np.uint64)
    return places


def tag_link_features(
    encoded: EncodedSentence,
    attributes: tuple[str, ...],
    candidates: tuple[NDArray[np.int32], NDArray[np.uint64]],
    members: NDArray[np.int32],
    places: Places,
    *,
    buckets: int,
) -> FactorFeatures:
    """Hash what the templates ask of each candidate.

    ``encoded``: encoded with ``attributes``, of which one is ``upos``. ``candidates`` int32[C], uint64[C]:
    word of each candidate and the hash of its tag. The tag of the root is not looked at. ``members`` int32[P,
    2]: for each pair of tags of each arc the candidates that are its head and its dependent. ``places``
    uint64[P]: see :func:`arc_places`. ``buckets``: a power of two.
    """
    words, hashes = candidates
    compiled = compiled_tag_link(attributes)
    atoms = encoded.atoms[words + PADDING]
    tagged = words != ROOT
    atoms[tagged, attributes.index("upos")] = hashes[tagged]
    # The kernel skips the rows that stand for the outside of a sentence.
    atoms = np.concatenate([encoded.atoms[:PADDING], atoms])
    parts = np.empty((2, len(words), compiled.seeds.shape[1]), dtype=np.uint64)
    for role in range(2):
        position_parts(atoms, compiled.operations[role], compiled.seeds[role], parts[role])
    shift = np.uint64(64 - (buckets.bit_length() - 1))
    return FactorFeatures(parts, members, places, compiled.plain, shift)
