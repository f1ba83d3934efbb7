"""Compare inference over trees with another package: ``python against_peers.py OUTPUT PEER N`` writes the speed-up.

Calls of both are timed in turn in one process, in processor time. The script runs with the package of any commit, and
imports nothing else of the checkout.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ROUNDS = 31
MATRICES = 40
SCALE = 3.0
Scores = Any


def lu_posterior(scores: Scores) -> tuple[float, Scores]:
    """Sum over trees by LU: log Z and marginals (Koo et al. 2007), without numerical care."""
    weights = np.exp(scores)
    weights[:, 0] = 0.0
    np.fill_diagonal(weights, 0.0)
    laplacian = (np.diag(weights.sum(axis=0)) - weights)[1:, 1:]
    inverse = np.linalg.inv(laplacian)
    marginals = np.zeros_like(weights)
    marginals[1:, 1:] = weights[1:, 1:] * (np.diag(inverse) - inverse.T)
    marginals[0, 1:] = weights[0, 1:] * np.diag(inverse)
    return float(np.linalg.slogdet(laplacian)[1]), marginals


def _lu(scores: list[Scores]) -> tuple[Callable[[], object], Callable[[], object]]:
    from qsproj.trees import nonprojective

    return (
        lambda: [nonprojective.posterior(one) for one in scores],
        lambda: [lu_posterior(one) for one in scores],
    )


def _arborescence(scores: list[Scores]) -> tuple[Callable[[], object], Callable[[], object]]:
    from qsproj.trees import nonprojective

    find_best = import_module("ufal.chu_liu_edmonds").chu_liu_edmonds
    # [dependent, head]; NaN where there is no arc.
    turned = [np.ascontiguousarray(one.T) for one in scores]
    for one in turned:
        one[0] = np.nan
        np.fill_diagonal(one, np.nan)
    return (
        lambda: [nonprojective.best(one) for one in scores],
        lambda: [find_best(one) for one in turned],
    )


PEERS = {"lu": _lu, "ufal": _arborescence}


def times_as_fast(peer: str, n: int) -> float:
    """Return the median, over rounds, of the peer's time by ours."""
    rng = np.random.default_rng(n)
    scores = [rng.normal(size=(n + 1, n + 1)) * SCALE for _ in range(MATRICES)]
    both = PEERS[peer](scores)
    ratios = []
    for _ in range(ROUNDS):
        taken = []
        for function in both:
            start = time.process_time()
            function()
            taken.append(time.process_time() - start)
        ratios.append(taken[1] / taken[0])
    # The first call loads or compiles.
    return statistics.median(ratios[1:])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(str(times_as_fast(sys.argv[2], int(sys.argv[3]))), encoding="ascii")
