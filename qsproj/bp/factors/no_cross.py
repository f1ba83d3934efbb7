"""NOCROSS: a score for each pair of words whose arcs cross."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.group import KernelGroup, Messages, Variables, checked_scores
from qsproj.kernels.bp.bp_trees import no_cross_beliefs, no_cross_messages


@dataclass(frozen=True, slots=True, eq=False)
class NoCross(KernelGroup):
    """Soft factors over the arcs into two words; each fires if they cross (thesis 3.4.2). O(n) each.

    They take in EXACTLY1 for both words: each has one head. Edges are the arcs into the first word of a
    factor, then those into the second; ``starts`` int64[2 F + 1] says where either begin.
    """

    edges: Variables
    heads: NDArray[np.int32]
    starts: NDArray[np.int64]
    dependents: NDArray[np.int32]
    scores: NDArray[np.float64]
    size: int
    messages = staticmethod(no_cross_messages)
    beliefs = staticmethod(no_cross_beliefs)

    def given(self, incoming: Messages) -> tuple[Any, ...]:
        return incoming, self.heads, self.starts, self.dependents, self.scores, self.size

    def log_score(self, states: NDArray[np.int32]) -> float:
        total = 0.0
        for f, words in enumerate(self.dependents):
            spans = []
            for side, word in enumerate(words):
                edges = range(self.starts[2 * f + side], self.starts[2 * f + side + 1])
                spans += [sorted((int(self.heads[e]), int(word))) for e in edges if states[e]]
                if len(spans) != side + 1:
                    return -np.inf
            (a, b), (c, d) = spans
            total += float(self.scores[f]) if a < c < b < d or c < a < d < b else 0.0
        return total


def no_cross(links: NDArray[np.int32], words: ArrayLike, scores: ArrayLike) -> NoCross:
    """Make NOCROSS factors for pairs of different words int[F, 2], all of them: :func:`word_pairs`.

    ``links`` as in :mod:`qsproj.bp.links`. ``scores`` float[F]: natural log of F where the arcs into the two
    words cross; -inf forbids that.
    """
    pairs = np.ascontiguousarray(words, dtype=np.int32).reshape(-1, 2)
    size = links.shape[0]
    if pairs.size and (pairs.min() < 1 or pairs.max() >= size or (pairs[:, 0] == pairs[:, 1]).any()):
        raise ValueError(f"NOCROSS expects pairs of two different words out of 1..{size - 1}")
    columns = [np.flatnonzero(links[:, word] >= 0) for word in range(size)]
    heads = [columns[word] for word in pairs.reshape(-1)]
    edges = [links[columns[word], word] for word in pairs.reshape(-1)]
    starts = np.zeros(len(heads) + 1, dtype=np.int64)
    np.cumsum([column.size for column in heads], out=starts[1:])
    empty = np.zeros(0, dtype=np.int32)
    return NoCross(
        np.concatenate([empty, *edges]).astype(np.int32),
        np.concatenate([empty, *heads]).astype(np.int32),
        starts,
        pairs,
        checked_scores(scores, (len(pairs),), "NOCROSS"),
        size,
    )


def word_pairs(n: int) -> NDArray[np.int32]:
    """Return int32[n (n - 1) / 2, 2], all pairs of words, the lower first."""
    return np.stack(np.triu_indices(n, k=1), axis=1).astype(np.int32) + 1
