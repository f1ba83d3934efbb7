"""Word classes learned from raw text: words that keep the same company get the same class.

Exchange clustering for a class bigram model: each word in turn moves to the class that makes the text most
likely. Source: Martin, Liermann and Ney (1998), "Algorithms for bigram and trigram word clustering"; we
start frequent words spread over the classes, as they do, and give no heed to a word's spelling.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qsproj.kernels.tagging.word_classes import exchange_pass

BOUNDARY_CLASS, RARE_CLASS = 0, 1
RESERVED = 2


def word_classes(
    sentences: Sequence[Sequence[str]], n_classes: int, *, rarest: int = 2, passes: int = 8
) -> dict[str, int]:
    """Return the class of each word that occurs at least ``rarest`` times.

    ``sentences``: raw text; lower-case it first if case is not to matter. ``n_classes``: at least 3: one
    stands for sentence boundaries and one for rarer words. ``rarest``: words with fewer occurrences share one
    class that is not returned. ``passes``: rounds over the vocabulary; fewer when a round moves fewer than
    0.5% of the words. Returns class numbers from 2; frequent words first. Empty for text without a word that
    is frequent enough. O(passes * n_classes * distinct bigrams) time at most; n_classes^2 + distinct bigrams
    memory.
    """
    counts = Counter(chain.from_iterable(sentences))
    frequent = [word for word, count in counts.items() if count >= rarest]
    vocabulary = sorted(frequent, key=lambda word: (-counts[word], word))
    numbers = {word: number for number, word in enumerate(vocabulary, start=RESERVED)}
    text = np.fromiter(_numbered(sentences, numbers), dtype=np.int64)
    n_words = len(vocabulary) + RESERVED
    bigrams = sparse.coo_array(
        (np.ones(len(text) - 1, dtype=np.int64), (text[:-1], text[1:])), shape=(n_words, n_words)
    ).tocsr()
    start = (np.arange(n_words) % (n_classes - RESERVED) + RESERVED).astype(np.int32)
    start[:RESERVED] = BOUNDARY_CLASS, RARE_CLASS
    classes = _exchanged(bigrams, start, n_classes, passes)
    return {word: int(classes[number]) for word, number in numbers.items()}


def _numbered(sentences: Iterable[Sequence[str]], numbers: dict[str, int]) -> Iterable[int]:
    """Yield the text as numbers, a boundary before, between and after the sentences."""
    yield BOUNDARY_CLASS
    for sentence in sentences:
        for word in sentence:
            yield numbers.get(word, RARE_CLASS)
        yield BOUNDARY_CLASS


def _exchanged(
    bigrams: sparse.csr_array, classes: NDArray[np.int32], n_classes: int, passes: int
) -> NDArray[np.int32]:
    """Move words between classes until few move."""
    n_words = len(classes)
    member = sparse.csr_array(
        (np.ones(n_words, dtype=np.int64), (np.arange(n_words), classes)), shape=(n_words, n_classes)
    )
    class_bigrams = np.ascontiguousarray((member.T @ bigrams @ member).toarray())
    left, right = class_bigrams.sum(axis=1), class_bigrams.sum(axis=0)
    counts = np.arange(int(bigrams.sum()) + 1, dtype=np.float64)
    entropy = np.zeros(len(counts))
    entropy[1:] = counts[1:] * np.log(counts[1:])
    followers, predecessors = _links(bigrams), _links(bigrams.T.tocsr())
    order = np.arange(RESERVED, n_words)
    for _ in range(passes):
        moved = exchange_pass(order, *followers, *predecessors, classes, class_bigrams, left, right, entropy)
        if moved < 0.005 * n_words:
            break
    return classes


def _links(
    matrix: sparse.csr_array,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data
