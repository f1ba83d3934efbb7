"""From an encoded sentence and compiled templates to what the arc kernels read."""

from __future__ import annotations

import numpy as np

from qsproj.features.arc_templates import CompiledTemplates
from qsproj.features.atoms import EncodedSentence
from qsproj.kernels.features.arc_features import ArcFeatures, position_parts


def arc_features(encoded: EncodedSentence, templates: CompiledTemplates, buckets: int) -> ArcFeatures:
    """Hash what the templates ask of each position, for ``buckets`` (a power of two) buckets.

    The sentence must have been encoded with the templates' attributes. O(n T) time and memory.
    """
    shape = (len(encoded) + 1, len(templates.between))
    head_parts, dependent_parts = np.empty(shape, np.uint64), np.empty(shape, np.uint64)
    position_parts(encoded.atoms, templates.head_operations, templates.head_seeds, head_parts)
    position_parts(encoded.atoms, templates.dependent_operations, templates.dependent_seeds, dependent_parts)
    shift = np.uint64(64 - (buckets.bit_length() - 1))
    return ArcFeatures(
        head_parts,
        dependent_parts,
        encoded.tags,
        templates.between,
        templates.plain,
        templates.directed,
        shift,
    )
