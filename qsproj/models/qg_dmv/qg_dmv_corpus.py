"""Sentence pairs packed into arrays of nodes, as the QG-DMV's kernel reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT
from qsproj.corpus.sentence import Alignment, SentencePair
from qsproj.features.qg_configurations import CONFIGURATION_NAMES, configuration_choices, configurations
from qsproj.models.dmv.dmv_corpus import kept_words, offsets, tag_numbers

# A link that an aligner gave no weight at all is a candidate still, if hardly.
LEAST_PRIOR = 1e-3
NULL_TAG = "NULL"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairNodes:
    """One pair: its target words in each of their senses, N nodes sorted by word.

    ``first`` int32[n+1]: the first node of each word, and N. ``tags``, ``source_tags`` int16[N]: of the
    target word, and of the sense. ``priors`` float64[N]: weight of the link, or 1. ``relations`` int8[N+1,
    N]: configuration of each pair of nodes, [head, dependent]; row 0 is the root. ``choices`` int16[N+1, C]:
    how many senses a dependent of each head could have in each configuration.
    """

    first: NDArray[np.int32]
    tags: NDArray[np.int16]
    source_tags: NDArray[np.int16]
    priors: NDArray[np.float64]
    relations: NDArray[np.int8]
    choices: NDArray[np.int16]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class QgCorpus:
    """P pairs, packed as :func:`qsproj.kernels.dmv.qg_expectation.qg_expectation` reads them."""

    word_starts: NDArray[np.int64]
    first_nodes: NDArray[np.int32]
    node_starts: NDArray[np.int64]
    tags: NDArray[np.int16]
    source_tags: NDArray[np.int16]
    priors: NDArray[np.float64]
    relation_starts: NDArray[np.int64]
    relations: NDArray[np.int8]
    choices: NDArray[np.int16]

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.word_starts) - 1


def pair_nodes(
    pair: SentencePair, inventory: Sequence[str], source_inventory: Sequence[str], *, punctuation: str
) -> PairNodes:
    """Return the nodes of one pair.

    A target word has a node for each source word it is linked to, or one for NULL where it has no link
    (thesis 4.6.3.1). Where it is stripped, target punctuation has none; that of the source stays in its tree.
    """
    return nodes_of(
        pair,
        tag_numbers(pair.target.upos, inventory),
        tag_numbers(pair.source.upos, source_inventory),
        null_tag=len(source_inventory),
        punctuation=punctuation,
    )


def nodes_of(
    pair: SentencePair,
    tags: NDArray[np.int16],
    source_tags: NDArray[np.int16],
    *,
    null_tag: int,
    punctuation: str,
) -> PairNodes:
    """Return the nodes of one pair, given tags int16[n], int16[m], and the number of the tag of NULL."""
    kept = kept_words(pair.target.upos, punctuation=punctuation)
    words, senses, priors = _candidates(pair.alignment, kept, null=len(pair.source) + 1)
    table = configurations(pair.source.heads)
    of_senses = np.concatenate([[0], source_tags, [null_tag]]).astype(np.int16)
    head_senses = np.concatenate([[ROOT], senses])
    return PairNodes(
        first=np.searchsorted(words, np.arange(len(kept) + 1)).astype(np.int32),
        tags=tags[kept - 1][words],
        source_tags=of_senses[senses],
        priors=priors,
        relations=np.ascontiguousarray(table[np.ix_(head_senses, senses)]),
        choices=configuration_choices(table)[head_senses].astype(np.int16),
    )


def _candidates(
    alignment: Alignment, kept: NDArray[np.int64], *, null: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return word (its place among the kept ones, from 0), sense and prior of each node, sorted by word."""
    places = np.full(alignment.n_target + 1, -1, dtype=np.int64)
    places[kept] = np.arange(len(kept))
    links = alignment.links[places[alignment.links[:, 1]] >= 0]
    weights = np.ones(len(alignment.links)) if alignment.weights is None else alignment.weights
    weights = np.maximum(weights[places[alignment.links[:, 1]] >= 0], LEAST_PRIOR)
    linked = places[links[:, 1]]
    unlinked = np.setdiff1d(np.arange(len(kept)), linked)
    words = np.concatenate([linked, unlinked])
    senses = np.concatenate([links[:, 0].astype(np.int64), np.full(len(unlinked), null)])
    order = np.argsort(words, kind="stable")
    return words[order], senses[order], np.concatenate([weights, np.ones(len(unlinked))])[order]


def pack_pairs(nodes: Iterable[PairNodes]) -> QgCorpus:
    pairs = list(nodes)
    node_counts = np.array([len(pair.tags) for pair in pairs], dtype=np.int64)
    kinds = len(CONFIGURATION_NAMES)
    return QgCorpus(
        word_starts=offsets(np.array([len(pair.first) - 1 for pair in pairs], dtype=np.int64)),
        first_nodes=_joined([pair.first for pair in pairs], np.int32),
        node_starts=offsets(node_counts),
        tags=_joined([pair.tags for pair in pairs], np.int16),
        source_tags=_joined([pair.source_tags for pair in pairs], np.int16),
        priors=_joined([pair.priors for pair in pairs], np.float64),
        relation_starts=offsets(node_counts * (node_counts + 1)),
        relations=_joined([pair.relations.ravel() for pair in pairs], np.int8),
        choices=_joined([pair.choices.ravel() for pair in pairs], np.int16).reshape(-1, kinds),
    )


def _joined(arrays: Sequence[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    """Concatenate, also where there is nothing to."""
    return np.concatenate([np.zeros(0, dtype=dtype), *arrays])
