"""The k best trees, from any exact solver for the best one."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

import numpy as np

from qsproj.conventions import Heads, Scores

Solver = Callable[[Scores, bool], tuple[Heads, float]]


def ranked_trees(arcs: Scores, k: int, solver: Solver, *, single_root: bool) -> list[tuple[Heads, float]]:
    """List the k best trees, best first, all distinct; fewer when there are fewer.

    The trees other than the best are split by the first word whose head differs: for each word in turn, the
    words before it keep their heads, it may not have its own, those after it are free. The best tree of each
    such set waits in a queue, and its set is split in turn when it comes out. At most n solver calls a tree.

    Parameters
    ----------
    arcs : float64[n+1, n+1]
        Checked arc scores, natural log.
    k : int
        At least 1.
    solver : callable
        ``solver(scores, single_root)`` gives the best heads and score, -inf where there is no tree.
    single_root : bool
        Passed on to the solver.

    *Source*: Lawler (1972).
    """
    order = count()
    heads, score = solver(arcs, single_root)
    # (minus score, order of arrival, heads, first word whose head is free, heads that word may not have)
    queue = [(-score, next(order), heads, 1, frozenset[int]())]
    ranked: list[tuple[Heads, float]] = []
    while queue and len(ranked) < k:
        minus_score, _, heads, first, banned = heapq.heappop(queue)
        if minus_score == np.inf:
            break
        ranked.append((heads, -minus_score))
        for word in range(first, heads.size if len(ranked) < k else first):
            now_banned = (banned if word == first else frozenset()) | {int(heads[word])}
            other, score = solver(_constrained(arcs, heads, word, now_banned), single_root)
            if score > -np.inf:
                heapq.heappush(queue, (-score, next(order), other, word, now_banned))
    return ranked


def _constrained(arcs: Scores, heads: Heads, word: int, banned: frozenset[int]) -> Scores:
    """Return a copy in which the words before ``word`` keep their heads and its ``banned`` ones are -inf."""
    scores = arcs.copy()
    before = np.arange(1, word)
    scores[:, before] = -np.inf
    scores[heads[before], before] = arcs[heads[before], before]
    scores[list(banned), word] = -np.inf
    return scores
