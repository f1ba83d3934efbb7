"""CHILDSEQ and VALENCE: scores over the dependents of a head on a side, a chain of booleans."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp import graph
from qsproj.conventions import Floats, Numbers, starts_of
from qsproj.kernels.bp import bp_chains


@dataclass(frozen=True, slots=True, eq=False)
class ChildSequence(graph.FactorGroup):
    """Chains of booleans with bigram scores of the true ones (thesis 2.2.5); O(m^2) a chain."""

    starts: NDArray[np.int64]
    scores: Floats
    score_starts: NDArray[np.int64]
    messages = staticmethod(bp_chains.child_sequence_messages)
    beliefs = staticmethod(bp_chains.child_sequence_beliefs)


def child_sequence(variables: ArrayLike, starts: ArrayLike, scores: ArrayLike) -> ChildSequence:
    """Make CHILDSEQ factors over chains as :func:`qsproj.bp.links.dependent_chains` lists them.

    ``variables`` int[E]: the booleans, grouped by chain with ``starts`` int[F+1], from the head outwards.
    ``scores`` float[sum of (m + 1)^2]: a chain of m booleans has a block of (m + 1) x (m + 1) natural logs,
    [previous, next - 1]: 1..m are the booleans, 0 and m + 1 the boundaries "#"; only next > previous is read.
    """
    edges = graph.checked_edges(variables, "CHILDSEQ")
    begins = np.ascontiguousarray(starts, dtype=np.int64)
    score_starts = step_starts(begins)
    array = graph.checked_scores(scores, (int(score_starts[-1]),), "CHILDSEQ")
    graph.check_empty_families(begins, array[score_starts[:-1]], "CHILDSEQ")
    return ChildSequence(edges, begins, array, score_starts)


def step_starts(starts: ArrayLike) -> NDArray[np.int64]:
    """Return int64[F+1], the start of each chain's block of scores."""
    begins = np.asarray(starts, dtype=np.int64)
    sizes = begins[1:] - begins[:-1] + 1
    return starts_of(sizes * sizes)


def step_table(starts: ArrayLike) -> Numbers:
    """Return int32[S, 4] of CHILDSEQ: chain, place of the previous and the next, 1 if the score is read."""
    begins = np.asarray(starts, dtype=np.int64)
    sizes = np.diff(begins) + 1
    chain = np.repeat(np.arange(sizes.size), sizes * sizes)
    inside = np.arange(chain.size) - np.repeat(step_starts(begins)[:-1], sizes * sizes)
    previous, following = inside // sizes[chain], inside % sizes[chain] + 1
    return np.stack([chain, previous, following, following > previous], axis=1).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Valence(graph.FactorGroup):
    """Families of booleans, scored by the number of true ones (thesis 2.2.5). O(m B) for m booleans."""

    starts: NDArray[np.int64]
    scores: Floats
    messages = staticmethod(bp_chains.valence_messages)
    beliefs = staticmethod(bp_chains.valence_beliefs)


def valence(variables: ArrayLike, starts: ArrayLike, scores: ArrayLike) -> Valence:
    """Make VALENCE factors over families as :func:`qsproj.bp.links.dependent_chains` lists them.

    ``variables`` int[E], grouped by family with ``starts`` int[F+1]. ``scores`` float[F, B+1], B >= 1:
    natural log for 0, 1, ..., B - 1 and for B or more true ones.
    """
    edges = graph.checked_edges(variables, "VALENCE")
    begins = np.ascontiguousarray(starts, dtype=np.int64)
    bins = max(np.shape(scores)[1:] or (0,))
    if bins < 2:
        expected = "(families, 2 or more bins)"
        raise ValueError(f"scores of VALENCE have shape {np.shape(scores)}, expected {expected}")
    array = graph.checked_scores(scores, (begins.size - 1, bins), "VALENCE")
    graph.check_empty_families(begins, array[:, 0], "VALENCE")
    return Valence(edges, begins, array)
