"""Scores of the relations of arcs, before there is a tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.features.arc_templates import CompiledTemplates
from qsproj.features.arcs import arc_features
from qsproj.features.atoms import EncodedSentence
from qsproj.features.label_templates import LABEL_TEMPLATE_SETS
from qsproj.kernels.features.arc_features import ArcFeatures
from qsproj.kernels.features.label_features import TAGS
from qsproj.models.arc.labeller import compiled_labels
from qsproj.models.labelled.candidates import Candidates
from qsproj.models.packing import packed_weights, unpack_weights
from qsproj.models.schema import ascending, buckets, check_cells, checked, labels, one_of
from qsproj.training.labelled_trees import LabelledScores

HASH_BITS = 17


@dataclass(frozen=True)
class RelationScorer:
    """The score of a relation of an arc is the sum of the weights that the arc's features have for it.

    Attributes
    ----------
    template_set : str
        A name in ``features.label_templates.LABEL_TEMPLATE_SETS`` of templates that ask nothing of the tree.
    relations : tuple of str
        In the order of the columns of ``weights``.
    candidates : Candidates
    weights : float32[buckets, L]
    """

    template_set: str
    relations: tuple[str, ...]
    candidates: Candidates
    weights: NDArray[np.float32]

    @staticmethod
    def untrained(template_set: str, relations: tuple[str, ...], candidates: Candidates) -> RelationScorer:
        """Return a scorer whose weights are all zero."""
        weights = np.zeros((1 << HASH_BITS, len(relations)), dtype=np.float32)
        return RelationScorer(template_set, relations, candidates, weights)

    @cached_property
    def templates(self) -> CompiledTemplates:
        """The templates as integer programs; they read sentences encoded for the arcs' of the same name."""
        return compiled_labels(self.template_set)

    def features(self, encoded: EncodedSentence) -> ArcFeatures:
        """Return what the features of the sentence's arcs are put together from."""
        return arc_features(encoded, self.templates, len(self.weights))

    def scores(self, features: ArcFeatures, arcs: Scores, possible: NDArray[np.bool_]) -> LabelledScores:
        """Score the relations of some arcs.

        Parameters
        ----------
        features : ArcFeatures
        arcs : float64[n+1, n+1]
            Scores of arcs, natural log; kept in the result.
        possible : bool[n+1, n+1]
            The arcs that may be in a tree; column 0 and the diagonal are false.
        """
        heads, dependents = (ends.astype(np.int32) for ends in np.nonzero(possible))
        relations = self.candidates.scores(features, heads, dependents, self.weights)
        return LabelledScores(arcs, heads, dependents, relations)

    def to_archive(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return header and arrays; only rows that are not all zero are kept."""
        header = {
            "template_set": self.template_set,
            "relations": list(self.relations),
            "buckets": len(self.weights),
        }
        arrays = packed_weights("relation_", self.weights)
        return header, {**arrays, "relation_candidates": self.candidates.to_numbers()}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> RelationScorer:
        """Rebuild what :meth:`to_archive` gave."""
        known = one_of(LABEL_TEMPLATE_SETS)
        checked(header, {"template_set": known, "buckets": buckets, "relations": labels(1)})
        size = len(header["relations"])
        check_cells(header["buckets"], size)
        check_cells(TAGS * TAGS, size)
        seen = ascending(arrays, "relation_candidates", np.uint32, most=TAGS * TAGS * size - 1)
        weights = np.zeros((header["buckets"], size), dtype=np.float32)
        unpack_weights("relation_", arrays, weights)
        candidates = Candidates.from_numbers(seen, size)
        return RelationScorer(header["template_set"], tuple(header["relations"]), candidates, weights)
