"""What a parser says of arcs under other tags of their words than those that the sentence has."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.sentence import Sentence
from qsproj.features.arcs import arc_features
from qsproj.features.atoms import PADDING, EncodedSentence
from qsproj.kernels.features.arc_features import ArcFeatures
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.joint.tags.choices import TagChoices

Numbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class TaggedArcs:
    """The arcs of which a word, or both, have a choice of tags.

    ``heads``, ``dependents`` int32[F]. ``scores`` float64[F, K, K]: how much more the arc scores under [tag
    of head, tag of dependent] than under the tags that the sentence has, natural log; a word whose tag is
    certain has its tag at 0. 0 where there is no such tag.
    """

    heads: Numbers
    dependents: Numbers
    scores: NDArray[np.float64]

    def growth(self, choices: TagChoices, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the sum over trees grows by under each tag of a word, float64[U, K], natural log.

        A parser scores trees given tags: what that sum is under one tag and under another says nothing of
        which tag is right.

        ``chances`` float64[n+1, n+1]: probability of each arc under the tags that the sentence has. Heads of
        a word exclude each other; arcs to different words are taken to be independent.
        """
        own = chances[self.heads, self.dependents]
        numbers = np.full(len(chances), -1)
        numbers[choices.words] = np.arange(len(choices.words))
        weights = np.exp(choices.scores)
        certain = np.eye(1, weights.shape[1])
        tags = np.vstack([weights / weights.sum(axis=1, keepdims=True), certain])
        factors = np.exp(self.scores)
        as_head = np.einsum("frs,fs->fr", factors, tags[numbers[self.dependents]]) - 1.0
        as_dependent = np.einsum("frs,fr->fs", factors, tags[numbers[self.heads]]) - 1.0
        result = np.zeros(choices.scores.shape)
        for u, word in enumerate(choices.words.tolist()):
            below, above = self.heads == word, self.dependents == word
            grown = own[below, None] * as_head[below]
            result[u] = np.log1p(np.maximum(grown, LEAST_GROWTH)).sum(axis=0)
            grown = (own[above, None] * as_dependent[above]).sum(axis=0)
            result[u] += np.log1p(np.maximum(grown, LEAST_GROWTH))
        growth: NDArray[np.float64] = np.where(choices.possible, result - result[:, :1], 0.0)
        return growth


# The sum over trees does not vanish under any tag.
LEAST_GROWTH = -1.0 + 1e-9


def tagged_arcs(
    scorer: ArcScorer, sentence: Sentence, choices: TagChoices, kept: NDArray[np.bool_]
) -> TaggedArcs:
    """Score arcs under the tags that their words may choose.

    An arc scores under two tags as in the sentence in which its two words have them; other words have the
    tags that ``sentence`` has.

    ``kept`` bool[n+1, n+1]: the arcs that matter.
    """
    numbers = np.zeros(len(sentence) + 1, dtype=np.int64)
    numbers[choices.words] = np.arange(1, len(choices.words) + 1)
    heads, dependents = (ends.astype(np.int32) for ends in np.nonzero(kept))
    chosen = (numbers[heads] > 0) | (numbers[dependents] > 0)
    heads, dependents = heads[chosen], dependents[chosen]
    counts = np.append(1, choices.possible.sum(axis=1))
    n_tags = choices.scores.shape[1]
    cells = [
        np.stack([arcs, np.full_like(arcs, r), np.full_like(arcs, s)], axis=1)
        for r, s in product(range(n_tags), repeat=2)
        if r or s
        for arcs in [np.flatnonzero((r < counts[numbers[heads]]) & (s < counts[numbers[dependents]]))]
    ]
    arcs, head_tags, dependent_tags = np.concatenate(cells).T
    own_heads, own_dependents = heads[arcs], dependents[arcs]
    # The words that have another tag than in the sentence, and which; 0 is the root, which has no other.
    changed = np.stack(
        [
            np.where(head_tags > 0, own_heads, 0),
            head_tags,
            np.where(dependent_tags > 0, own_dependents, 0),
            dependent_tags,
        ],
        axis=1,
    )
    turned = changed[:, 0] > changed[:, 2]
    changed[turned] = changed[turned][:, [2, 3, 0, 1]]
    variants, places = np.unique(changed, axis=0, return_inverse=True)
    features, stride = _variants(scorer, sentence, choices, variants)
    starts = (places.reshape(-1) * stride).astype(np.int32)
    found = scorer.scores_of(features, starts + own_heads, starts + own_dependents)
    plain = scorer.scores_of(scorer.features(scorer.encode(sentence)), heads, dependents)
    scores = np.zeros((len(heads), n_tags, n_tags))
    scores[arcs, head_tags, dependent_tags] = found - plain[arcs]
    return TaggedArcs(heads, dependents, scores)


def _variants(
    scorer: ArcScorer, sentence: Sentence, choices: TagChoices, variants: NDArray[np.integer]
) -> tuple[ArcFeatures, int]:
    """Return features of a sentence retagged in several ways, one after the other, and how far apart.

    ``variants``, int[V, 4], are two words each, with the number of each one's tag.
    """
    n_tags = choices.scores.shape[1]
    versions = [
        scorer.encode(choices.applied(sentence, np.full(len(choices.words), tag))) for tag in range(n_tags)
    ]
    atoms = np.stack([version.atoms for version in versions])
    padded = np.stack([np.pad(version.tags, PADDING) for version in versions])
    all_atoms = np.repeat(atoms[:1], len(variants), axis=0)
    all_tags = np.repeat(padded[:1], len(variants), axis=0)
    order = np.arange(len(variants))
    for words, tags in (variants[:, :2].T, variants[:, 2:].T):
        all_atoms[order, words + PADDING] = atoms[tags, words + PADDING]
        all_tags[order, words + PADDING] = padded[tags, words + PADDING]
    encoded = EncodedSentence(
        all_atoms.reshape(-1, atoms.shape[2]), all_tags.reshape(-1)[PADDING : all_tags.size - PADDING]
    )
    return arc_features(encoded, scorer.templates, len(scorer.weights)), atoms.shape[1]
