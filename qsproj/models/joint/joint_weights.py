"""The trained weights of a joint model, and sentence pairs prepared for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.run import odds_of
from qsproj.conventions import Floats, Scores
from qsproj.corpus.sentence import SentencePair
from qsproj.features import joint_templates
from qsproj.kernels.features.sparse_gradient import score_rows
from qsproj.models.joint.joint_graph import LEARNED, FamilyScores, JointScores
from qsproj.models.joint.joint_structure import ALWAYS_TRUE, JointStructure, Side, joint_structure
from qsproj.models.joint.joint_trees import TreeScores
from qsproj.models.joint.tag_choices import NEUTRAL, PreparedTags, TagScales
from qsproj.models.packing import packed_weights, unpack_weights
from qsproj.models.schema import Arrays

# The aligner's log-odds are a fixed part of a link's score; its certainties are clipped.
MAX_LINK_LOG_ODDS = 4.0

Buckets = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PreparedPair:
    """The graph of a pair with the features of its factors: all that does not depend on the weights.

    ``source``, ``target`` float64[m+1, m+1], float64[n+1, n+1]: arc scores, as log-probabilities of each
        word's heads.
    ``prior`` float64[k]: the aligner's log-odds of each link.
    ``buckets``: features int32[rows, T] of each part in LEARNED.
    ``source_factors``, ``target_factors``: float64[F] for each second-order family of a side, natural log.
    ``source_relations``: where the source tree is observed.
    """

    structure: JointStructure
    source: Scores
    target: Scores
    prior: Floats
    buckets: Mapping[str, Buckets]
    source_factors: FamilyScores = ()
    target_factors: FamilyScores = ()
    tags: PreparedTags | None = None
    source_relations: tuple[str, ...] | None = None


def prepare_pair(
    pair: SentencePair,
    source: Side,
    target: Side,
    source_scores: TreeScores,
    target_scores: TreeScores,
    *,
    families: tuple[str, ...] = joint_templates.FAMILIES,
) -> PreparedPair:
    """Build the graph of a pair, hash its features, and copy its aligner's probabilities."""
    first = 1 + max(ALWAYS_TRUE, int(source.arcs.max()), int(target.arcs.max()))
    structure = joint_structure(source, target, pair.alignment.links, first, families=families)
    words = joint_templates.word_hashes(pair.source), joint_templates.word_hashes(pair.target)
    odds = odds_of(joint_templates.link_posteriors(pair.alignment))
    sides = zip(words, ("SOURCEFERT", "TARGETFERT"), strict=True)
    fertilities = [joint_templates.fertility_buckets(own.tags, side=side) for own, side in sides]
    return PreparedPair(
        structure=structure,
        source=_local(source_scores.links),
        target=_local(target_scores.links),
        source_factors=source_scores.factors if source.families else (),
        target_factors=target_scores.factors,
        prior=np.clip(odds, -MAX_LINK_LOG_ODDS, MAX_LINK_LOG_ODDS),
        buckets={
            "links": joint_templates.link_buckets(pair.alignment, pair.source, pair.target, *words),
            "fertility": np.concatenate(fertilities),
            "factors": joint_templates.factor_buckets(structure.families, structure.words, *words),
            "jumps": joint_templates.jump_buckets(structure.align_hmms),
        },
    )


def _local(scores: Scores) -> Scores:
    """Shift each word's scores so that they are log-probabilities of its heads; no tree is affected."""
    own = scores.copy()
    np.fill_diagonal(own, -np.inf)
    own[:, 0] = 0.0
    top = own.max(axis=0)
    shifted: Scores = own - top - np.log(np.exp(own - top).sum(axis=0))
    # Not read; a scale of 0 would make NaN of -inf.
    np.fill_diagonal(shifted, 0.0)
    return shifted


@dataclass(frozen=True, slots=True, eq=False)
class JointWeights:
    """Learned weights: float64[2**HASH_BITS] of :mod:`qsproj.features.joint_templates`, and scales.

    ``target_scale`` multiplies all scores of the target parser, ``aligner_scale`` the aligner's log-odds of
    links (0: all candidates alike), ``tag_scales`` the parts of
    :class:`~qsproj.models.joint.tag_choices.PreparedTags`.
    """

    weights: Floats
    target_scale: float = 1.0
    aligner_scale: float = 1.0
    tag_scales: TagScales = NEUTRAL

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return packed_weights("joint_", self.weights)

    @staticmethod
    def from_arrays(arrays: Arrays, **scales: Any) -> "JointWeights":
        weights = unpack_weights("joint_", arrays, np.zeros(1 << joint_templates.HASH_BITS))
        return JointWeights(weights, **scales)

    @staticmethod
    def untrained() -> "JointWeights":
        return JointWeights(np.zeros(1 << joint_templates.HASH_BITS))

    def scores(self, pair: PreparedPair) -> JointScores:
        learned = {
            name: score_rows(rows, self.weights).reshape((-1, columns) if (columns := LEARNED[name]) else -1)
            for name, rows in pair.buckets.items()
        }
        learned["links"] += self.aligner_scale * pair.prior
        return JointScores(
            source=pair.source,
            target=self.target_scale * pair.target,
            **learned,
            source_factors=pair.source_factors,
            target_factors=tuple(self.target_scale * scores for scores in pair.target_factors),
            tags=None if pair.tags is None else pair.tags.scores(self.tag_scales, self.weights),
        )
