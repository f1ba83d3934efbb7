"""Sentences parsed a block at a time: what Python does between kernels takes as long as they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD
from qsproj.corpus.editing import with_tree
from qsproj.corpus.sentence import Sentence
from qsproj.features.atoms import EncodedBlock
from qsproj.kernels.trees.eisner_block import decode_labelled_block, possible_arcs

if TYPE_CHECKING:
    from qsproj.models.labelled.labelled_parser import LabelledParser

# No candidate is held to be less probable than this before the tree is known.
LEAST_CHANCE = 1e-6


def parse_block(parser: LabelledParser, sentences: Sequence[Sentence]) -> list[Sentence] | None:
    """Do what ``parser.parse`` does, by minimum Bayes risk, for several sentences of a projective parser.

    Returns
    -------
    list of Sentence or None
        None where sums have left the range in which they are exact: parse one after the other.
    """
    block = parser.scorer.encode_block(sentences)
    found = _labelled_trees(parser, block)
    if found is None:
        return None
    trees, before = found
    words = np.flatnonzero(trees != NO_HEAD).astype(np.int32)
    features = parser.labeller.features(block.words, trees, block.inside)
    after = parser.relations.candidates.scores(features, trees[words], words, parser.labeller.weights)
    best = mean_scores(before, after).argmax(axis=1)
    names: list[str] = np.array(parser.relations.relations, dtype=np.object_).take(best).tolist()
    parsed, first = [], 0
    for sentence, start in zip(sentences, block.starts.tolist(), strict=True):
        heads = trees[start : start + len(sentence) + 1] - np.int32(start)
        heads[0] = NO_HEAD
        parsed.append(with_tree(sentence, heads, tuple(names[first : first + len(sentence)])))
        first += len(sentence)
    return parsed


def _labelled_trees(
    parser: LabelledParser, block: EncodedBlock
) -> tuple[NDArray[np.int32], NDArray[np.float64]] | None:
    """Return the position of each head, int32[positions], and chances of relations, float64[words, L]."""
    sizes, single_root = block.sizes, parser.inference.single_root
    arcs = parser.scorer.score_block(block)
    ends = np.empty((2, len(arcs)), dtype=np.int32)
    counts = np.empty(len(sizes), dtype=np.int64)
    if not possible_arcs(arcs, block.starts, sizes, single_root, parser.least, ends[0], ends[1], counts):
        return None
    heads, dependents = ends[0, : counts.sum()], ends[1, : counts.sum()]
    features = parser.relations.features(block.words)
    scores = parser.relations.candidates.scores(features, heads, dependents, parser.relations.weights)
    chances = np.empty_like(scores)
    trees = np.full(len(block.words) + 1, NO_HEAD, dtype=np.int32)
    places = np.empty(int(sizes.sum()) - len(sizes), dtype=np.int64)
    exact = decode_labelled_block(
        arcs, block.starts, sizes, single_root, heads, dependents, counts, scores, chances, trees, places
    )
    return (trees, chances[places]) if exact else None


def mean_scores(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the logs of chances before there was a tree and of scores by it, both [n, L]."""
    return 0.5 * (np.log(np.maximum(before, LEAST_CHANCE)) + after)
