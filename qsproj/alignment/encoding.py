"""A bitext as arrays: words as numbers, and the word pairs that share a sentence pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Two sides of 2,000 words: about 200 MB while the pair is aligned. Beyond it, it is no sentence pair.
MAX_CELLS = 2**22

Words = Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class EncodedBitext:
    """A bitext as arrays. Words are case-folded and numbered in the order in which they first occur.

    Attributes
    ----------
    source_words, target_words : int32[T]
        Vocabulary numbers of all tokens. Pairs with an empty side, or too long, have no token.
    source_offsets, target_offsets, cell_offsets : int64[S+1]
        Where each sentence begins; pair s has m * n cells (source token, target token).
    source_vocabulary, target_vocabulary : tuple of str
        The folded words.
    lengths : tuple of (int, int)
        Words of each sentence pair, whether encoded or not.
    """

    source_words: NDArray[np.int32]
    target_words: NDArray[np.int32]
    source_offsets: NDArray[np.int64]
    target_offsets: NDArray[np.int64]
    cell_offsets: NDArray[np.int64]
    source_vocabulary: tuple[str, ...]
    target_vocabulary: tuple[str, ...]
    lengths: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class WordPairs:
    """The P distinct word pairs that share a sentence pair, sorted by source word.

    Attributes
    ----------
    starts : int64[V+1]
        The pairs of source word v are ``starts[v]`` to ``starts[v + 1]`` - 1.
    sources, targets : int32[P]
        Source and target word of each pair.
    of_cells : int32[cells]
        The pair in each cell of the bitext.
    """

    starts: NDArray[np.int64]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    of_cells: NDArray[np.int32]


def alignable(n_source: int, n_target: int) -> bool:
    """Return whether a pair of these lengths takes part: no side empty, at most ``MAX_CELLS`` cells."""
    return 0 < n_source * n_target <= MAX_CELLS


def encode_bitext(pairs: Iterable[tuple[Words, Words]]) -> EncodedBitext:
    """Number the words of (source words, target words) pairs; see :class:`EncodedBitext`."""
    vocabularies: tuple[dict[str, int], dict[str, int]] = ({}, {})
    words: tuple[list[int], list[int]] = ([], [])
    offsets: tuple[list[int], list[int]] = ([0], [0])
    lengths = []
    for pair in pairs:
        size = (len(pair[0]), len(pair[1]))
        lengths.append(size)
        for sentence, vocabulary, numbers, ends in zip(pair, vocabularies, words, offsets):
            if alignable(*size):
                # casefold also makes German "daß" and "dass" one word.
                numbers.extend(vocabulary.setdefault(word.casefold(), len(vocabulary)) for word in sentence)
            ends.append(len(numbers))
    source_offsets, target_offsets = (np.array(ends, dtype=np.int64) for ends in offsets)
    cells = np.diff(source_offsets) * np.diff(target_offsets)
    return EncodedBitext(
        source_words=np.array(words[0], dtype=np.int32),
        target_words=np.array(words[1], dtype=np.int32),
        source_offsets=source_offsets,
        target_offsets=target_offsets,
        cell_offsets=np.concatenate(([0], np.cumsum(cells))),
        source_vocabulary=tuple(vocabularies[0]),
        target_vocabulary=tuple(vocabularies[1]),
        lengths=tuple(lengths),
    )


def find_word_pairs(bitext: EncodedBitext) -> WordPairs:
    """Return the word pairs of a bitext. O(cells) time."""
    from qsproj.kernels.align.ibm1_cooccurrence import number_pairs, token_order

    starts, tokens, sentences = token_order(
        bitext.source_words, bitext.source_offsets, len(bitext.source_vocabulary)
    )
    pair_starts, targets, of_cells = number_pairs(
        starts,
        tokens,
        sentences,
        bitext.source_offsets,
        bitext.target_words,
        bitext.target_offsets,
        bitext.cell_offsets,
        len(bitext.target_vocabulary),
    )
    sources = np.repeat(np.arange(len(pair_starts) - 1, dtype=np.int32), np.diff(pair_starts))
    return WordPairs(pair_starts, sources, targets[: len(sources)].copy(), of_cells)


def letters(vocabulary: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the code points of all words one after the other, and int64[V+1] where each begins."""
    points = np.fromiter(map(ord, "".join(vocabulary)), dtype=np.int32)
    starts = np.concatenate(([0], np.cumsum([len(word) for word in vocabulary], dtype=np.int64)))
    return points, starts
