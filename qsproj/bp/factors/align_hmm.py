"""ALIGNHMM: the true links form an alignment of a hidden Markov model, scored by its jumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.group import KernelGroup, Messages, Variables, checked_edges, checked_scores
from qsproj.kernels.bp.bp_alignment import align_hmm_beliefs, align_hmm_messages


@dataclass(frozen=True, slots=True, eq=False)
class AlignHmm(KernelGroup):
    """One factor over the candidate links of a sentence pair; O(n m c) for c candidates a word.

    Each target word has one link at most, and the way from the source word that was linked last to the next
    is scored by its length. For the other direction, exchange the sides.

    *Source*: thesis 4.7.1.2; Vogel et al. 1996, with the NULL of Och and Ney 2003.
    """

    edges: Variables
    scores: NDArray[np.float64]
    starts: NDArray[np.int64]
    positions: NDArray[np.int32]
    n_source: int
    messages = staticmethod(align_hmm_messages)
    beliefs = staticmethod(align_hmm_beliefs)

    def given(self, incoming: Messages) -> tuple[Any, ...]:
        return incoming, self.starts, self.positions, self.scores, self.n_source

    def log_score(self, states: NDArray[np.int32]) -> float:
        widest = (self.scores.size - 2) // 2
        total, last = 0.0, 0
        for start, stop in zip(self.starts, self.starts[1:]):
            taken = [int(self.positions[e]) for e in range(start, stop) if states[e]]
            if len(taken) > 1:
                return -np.inf
            if not taken:
                total += float(self.scores[-1])
                continue
            jump = max(-widest, min(widest, taken[0] - last))
            total += float(self.scores[jump + widest])
            last = taken[0]
        return total


def align_hmm(
    variables: ArrayLike, starts: ArrayLike, positions: ArrayLike, scores: ArrayLike, *, n_source: int
) -> AlignHmm:
    """Make the ALIGNHMM factor of a sentence pair.

    ``variables`` int[E]: booleans of the candidate links, target word after target word, whose candidates
    begin at ``starts`` int[n+1]. ``positions`` int[E]: source word of each, 1..m. ``scores`` float[2 W + 2],
    W >= 1: natural log of jumps -W..W, then of a word without a link.
    """
    edges = checked_edges(variables, "ALIGNHMM")
    places = checked_edges(positions, "ALIGNHMM")
    begins = np.ascontiguousarray(starts, dtype=np.int64)
    size = np.size(scores)
    if size < 4 or size % 2 or places.shape != edges.shape or begins[-1] != edges.size:
        raise ValueError(
            f"ALIGNHMM has {edges.size} links, {places.size} positions, candidates up to {begins[-1]} and "
            f"{size} scores, expected as many of each and 2 W + 2 scores"
        )
    if edges.size and not (places.min() >= 1 and places.max() <= n_source):
        raise ValueError(f"a position of ALIGNHMM is outside 1..{n_source}")
    return AlignHmm(edges, checked_scores(scores, (size,), "ALIGNHMM"), begins, places, n_source)
