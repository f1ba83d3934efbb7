"""SOURCEFERT and TARGETFERT, ALIGNHMM, ALIGNITG: factors over candidate word links.

Candidate links are booleans. Fertility, a variable in the thesis, is summed out exactly by VALENCE over them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp import graph
from qsproj.bp.factors.chains import Valence, valence
from qsproj.conventions import Floats, Numbers, starts_of
from qsproj.kernels.bp import bp_alignment
from qsproj.kernels.trees.semirings import LOG, MAXIMUM, PROBABILITY


def fertility(variables: ArrayLike, words: ArrayLike, scores: ArrayLike) -> Valence:
    """Make SOURCEFERT or TARGETFERT factors (thesis 4.7.1.2) on ``variables`` of ``words`` int[E], 1..n.

    ``scores`` float[n, B+1]: natural log, row w - 1 for word w: of 0, 1, ..., B - 1 links, and of B or more.
    """
    edges, owners = graph.checked_edges(variables, "fertility"), graph.checked_edges(words, "fertility")
    n = np.shape(scores)[0]
    if owners.shape != edges.shape or (owners.size and not (owners.min() >= 1 and owners.max() <= n)):
        raise ValueError(f"fertility has {edges.size} links and {owners.size} words, expected words 1..{n}")
    return valence(edges[np.argsort(owners, kind="stable")], word_starts(owners, n), scores)


def word_starts(words: Numbers, n: int) -> NDArray[np.int64]:
    return starts_of(np.bincount(words, minlength=n + 1)[1:])


@dataclass(frozen=True, slots=True, eq=False)
class AlignHmm(graph.FactorGroup):
    """One factor over the candidate links of a sentence pair; O(n m c) for c candidates a word.

    Each target word has one link at most, and each jump from the last linked source word to the next is
    scored by its length. For the other direction, exchange the sides.

    *Source*: thesis 4.7.1.2; Vogel et al. 1996, with the NULL of Och and Ney 2003.
    """

    starts: NDArray[np.int64]
    positions: Numbers
    scores: Floats
    n_source: int
    messages = staticmethod(bp_alignment.align_hmm_messages)
    beliefs = staticmethod(bp_alignment.align_hmm_beliefs)


def align_hmm(
    variables: ArrayLike, starts: ArrayLike, positions: ArrayLike, scores: ArrayLike, *, n_source: int
) -> AlignHmm:
    """Make the ALIGNHMM factor of a sentence pair.

    ``variables`` int[E]: booleans of the candidate links, grouped by target word with ``starts`` int[n+1].
    ``positions`` int[E]: source word of each, 1..m. ``scores`` float[2 W + 2], W >= 1: natural log of jumps
    -W..W, then of a word without a link.
    """
    edges = graph.checked_edges(variables, "ALIGNHMM")
    places = graph.checked_edges(positions, "ALIGNHMM")
    begins = np.ascontiguousarray(starts, dtype=np.int64)
    size = np.size(scores)
    if size < 4 or size % 2 or places.shape != edges.shape or begins[-1] != edges.size:
        found = (
            f"{edges.size} links, {places.size} positions, candidates up to {begins[-1]} and {size} scores"
        )
        raise ValueError(f"ALIGNHMM has {found}, expected as many of each and 2 W + 2 scores")
    if edges.size and not (places.min() >= 1 and places.max() <= n_source):
        raise ValueError(f"a position of ALIGNHMM is outside 1..{n_source}")
    return AlignHmm(edges, begins, places, graph.checked_scores(scores, (size,), "ALIGNHMM"), n_source)


# Up to this limit sums of products of weights do not overflow; beyond it, logs take ten times as long.
MOST_LOG_WEIGHT = 600.0


@dataclass(frozen=True, slots=True, eq=False)
class AlignItg(graph.HardGroup):
    """One hard factor over candidate links, a word having one at most, in ITG order; O(m^3 n^3).

    ``of_source``, ``of_target`` int64[E]: ends of each link among words with candidates, of ``shape``.

    *Source*: thesis 4.7.1.2; Wu 1997; a normal form like that of Huang et al. 2009.
    """

    of_source: NDArray[np.int64]
    of_target: NDArray[np.int64]
    shape: tuple[int, int]

    def propagate(self, incoming: graph.Messages, *, maximise: bool = False) -> graph.Messages:
        weights, must_source, must_target, semiring, possible = self._charted(incoming, maximise=maximise)
        total, without, unlinked = bp_alignment.itg_sums(weights, must_source, must_target, semiring)
        if not possible or total == (0.0 if semiring == PROBABILITY else -np.inf):
            return np.full(incoming.size, np.nan)
        sums = weights, without, unlinked
        return np.asarray(bp_alignment.itg_messages(*sums, self.of_source, self.of_target, semiring))

    def log_partition(self, incoming: graph.Messages) -> float:
        weights, must_source, must_target, semiring, possible = self._charted(incoming)
        if not possible:
            return -np.inf
        whole = bp_alignment.itg_inside(weights, must_source, must_target, semiring)[0]
        total = bp_alignment.itg_total(whole, must_source, must_target, semiring)
        return float(np.log(total) if semiring == PROBABILITY else total)

    def _charted(
        self, incoming: graph.Messages, *, maximise: bool = False
    ) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64], int, bool]:
        """Return weights float64[m, n], how many words before each must be linked, semiring, feasibility."""
        links = np.full(self.shape, -np.inf)
        links[self.of_source, self.of_target] = incoming
        certain = links == np.inf
        of_source, of_target = certain.sum(axis=1), certain.sum(axis=0)
        links[of_source > 0] = -np.inf
        links[:, of_target > 0] = -np.inf
        links[certain] = 0.0
        possible = max(of_source.max(initial=0), of_target.max(initial=0)) <= 1
        largest = np.abs(links[links > -np.inf]).max(initial=0.0) * min(self.shape)
        semiring = MAXIMUM if maximise else PROBABILITY if largest <= MOST_LOG_WEIGHT else LOG
        weights = np.exp(links) if semiring == PROBABILITY else links
        must_be_linked = starts_of(of_source > 0), starts_of(of_target > 0)
        return weights, *must_be_linked, semiring, bool(possible)


def align_itg(variables: ArrayLike, source_words: ArrayLike, target_words: ArrayLike) -> AlignItg:
    """Make the factor ALIGNITG over links int[k] with these ends; ValueError for invalid ones."""
    edges = graph.checked_edges(variables, "ALIGNITG")
    ends = [graph.checked_edges(words, "ALIGNITG") for words in (source_words, target_words)]
    if any(words.shape != edges.shape for words in ends):
        raise ValueError(f"ALIGNITG has {edges.size} links, expected as many source and target words")
    (sources, of_source), (targets, of_target) = (np.unique(words, return_inverse=True) for words in ends)
    if len({*zip(of_source.tolist(), of_target.tolist(), strict=True)}) < edges.size:
        raise ValueError("two links of ALIGNITG join the same words")
    shape = len(sources), len(targets)
    return AlignItg(edges, of_source.astype(np.int64), of_target.astype(np.int64), shape)
