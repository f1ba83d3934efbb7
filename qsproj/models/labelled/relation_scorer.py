"""Scores of the relations of arcs, before there is a tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT, Heads, Scores
from qsproj.features.arc_templates import LABEL_TEMPLATE_SETS, CompiledTemplates, arc_features
from qsproj.features.atoms import EncodedSentence
from qsproj.kernels.features.arc_features import ArcFeatures
from qsproj.kernels.features.label_features import TAGS, score_relations
from qsproj.models.arc.labeller import compiled_labels
from qsproj.models.packing import packed_weights, unpack_weights
from qsproj.models.schema import ascending, buckets, check_cells, checked, labels, one_of
from qsproj.training.labelled_trees import LabelledScores

HASH_BITS = 17


@dataclass(frozen=True)
class RelationScorer:
    """The score of a relation of an arc is the sum of the weights that the arc's features have for it.

    ``template_set``, a name in LABEL_TEMPLATE_SETS, asks nothing of the tree; ``relations`` are in the order
    of the columns of ``weights`` float32[buckets, L].
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
        """Score the relations of possible arcs bool[n+1, n+1], none of column 0 and the diagonal.

        ``arcs`` float64[n+1, n+1], scores of arcs, are kept in the result.
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


# The tag of the root, which is nobody's dependent.
ROOT_TAG = 0


@dataclass(frozen=True)
class Candidates:
    """The relations that each pair of tags was seen with, and what is allowed to pairs that were not seen.

    A pair that was not seen may have every relation that its dependent's tag was seen with; where that was
    not seen either, every relation. Arcs of the root and other arcs share no relation by this back-off.
    ``seen`` bool[TAGS, TAGS, L] is by tag of the head, tag of the dependent, relation; some relation was
    seen.

    *Source*: thesis 5.1.1 proposes to restrict labels by the tags of parent and child; the back-off is ours.
    """

    seen: NDArray[np.bool_]

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """bool[TAGS, TAGS, L], what was seen or backed off to; at least one relation for each pair."""
        allowed = self.seen.copy()
        for heads in (slice(ROOT_TAG, ROOT_TAG + 1), slice(ROOT_TAG + 1, TAGS)):
            seen = self.seen[heads]
            backed_off: NDArray[np.bool_] = np.any(seen, axis=0)
            without = ~np.any(backed_off, axis=1)
            backed_off[without] = np.any(backed_off, axis=0) if backed_off.any() else True
            unseen = ~np.any(seen, axis=2)
            allowed[heads][unseen] = np.broadcast_to(backed_off, seen.shape)[unseen]
        return allowed

    @cached_property
    def lists(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The same as starts int32[TAGS * TAGS + 1] and relations int32, as the kernels read them."""
        flat = self.allowed.reshape(TAGS * TAGS, -1)
        starts = np.concatenate([[0], np.cumsum(flat.sum(axis=1))])
        return starts.astype(np.int32), np.nonzero(flat)[1].astype(np.int32)

    def scores(
        self,
        features: ArcFeatures,
        heads: NDArray[np.int32],
        dependents: NDArray[np.int32],
        weights: NDArray[np.float32],
    ) -> NDArray[np.float64]:
        """Score the candidates of arcs, given by their ends int32[k], by float32[buckets, L]: float64[k, L].

        -inf for what is no candidate.
        """
        scores = np.empty((len(heads), weights.shape[1]))
        score_relations(features, heads, dependents, *self.lists, weights.reshape(-1), scores)
        return scores

    @staticmethod
    def of_trees(trees: Iterable[tuple[EncodedSentence, Heads, Sequence[int]]], relations: int) -> Candidates:
        """Note what is seen in trees: words, heads int32[n+1], and numbers of relations, -1 where unknown."""
        seen = np.zeros((TAGS, TAGS, relations), dtype=np.bool_)
        for encoded, heads, numbers in trees:
            for dependent, (head, relation) in enumerate(zip(heads.tolist(), numbers, strict=True)):
                if head >= ROOT and relation >= 0:
                    seen[encoded.tags[head], encoded.tags[dependent], relation] = True
        return Candidates(seen)

    def to_numbers(self) -> NDArray[np.uint32]:
        """Return where ``seen`` is true, as ascending flat indices."""
        return np.flatnonzero(self.seen).astype(np.uint32)

    @staticmethod
    def from_numbers(numbers: NDArray[np.uint32], relations: int) -> Candidates:
        """Rebuild what :meth:`to_numbers` gave."""
        seen = np.zeros(TAGS * TAGS * relations, dtype=np.bool_)
        seen[numbers] = True
        return Candidates(seen.reshape(TAGS, TAGS, relations))
