"""ALIGN, SOURCEFERT and TARGETFERT: which words are linked, and to how many.

Candidate links are booleans, each with its words. The fertility of a word, which the thesis makes a variable
of its own, is a function of them: VALENCE over a word's links sums it out exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.factors.link import Link, link
from qsproj.bp.factors.valence import Valence, valence
from qsproj.bp.group import checked_edges


def align(variables: ArrayLike, scores: ArrayLike) -> Link:
    """Make ALIGN factors (thesis 4.7.1.2): unary rewards, natural log float[F], on links int[F]."""
    return link(variables, scores)


def fertility(variables: ArrayLike, words: ArrayLike, scores: ArrayLike) -> Valence:
    """Make SOURCEFERT or TARGETFERT factors (thesis 4.7.1.2): scores by how many links a word has.

    ``variables`` int[E]: booleans of the candidate links. ``words`` int[E]: the word of each on the side that
    is scored, 1..n. ``scores`` float[n, B+1]: natural log, row w - 1 for word w: of 0, 1, ..., B - 1 links,
    and of B or more.
    """
    edges, owners = checked_edges(variables, "fertility"), checked_edges(words, "fertility")
    n = np.shape(scores)[0]
    if owners.shape != edges.shape or (owners.size and not (owners.min() >= 1 and owners.max() <= n)):
        raise ValueError(f"fertility has {edges.size} links and {owners.size} words, expected words 1..{n}")
    order = np.argsort(owners, kind="stable")
    return valence(edges[order], word_starts(owners, n), scores)


def word_starts(words: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """Return int64[n+1], where the links of each word 1..n begin when they are sorted by it."""
    starts = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(words, minlength=n + 1)[1:], out=starts[1:])
    return starts
