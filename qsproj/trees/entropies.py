"""Entropies of distributions over trees, given how to sum over them and the best one's arcs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.errors import UsageError
from qsproj.trees.posterior import TreePosterior, allowed_arcs

Sum = Callable[[Scores], TreePosterior]


def shannon_entropy(arcs: Scores, shifts: NDArray[np.float64], posterior: Sum) -> float:
    """Return log Z minus the expected score, in nats.

    ``shifts`` float64[n+1] are the scores of a best tree: relative to them neither term is large, so that
    little cancels.
    """
    relative = arcs - shifts
    result = posterior(relative)
    seen = result.marginals > 0.0
    expected = float(result.marginals[seen] @ relative[seen])
    return max(result.log_z - expected, 0.0)


def renyi_entropy(arcs: Scores, shifts: NDArray[np.float64], alpha: float, posterior: Sum) -> float:
    """Return log(sum of p^alpha) / (1 - alpha) over trees, in nats.

    ``alpha`` 0 gives the log of the number of trees, 1 Shannon's entropy, infinity minus the log probability
    of the best tree.
    """
    if not alpha >= 0.0:
        raise UsageError(f"alpha is {alpha}, expected a number of at least 0")
    if alpha == 1.0:
        return shannon_entropy(arcs, shifts, posterior)
    if alpha == 0.0:
        return posterior(allowed_arcs(arcs)).log_z
    relative = arcs - shifts
    log_z = posterior(relative).log_z
    if alpha == np.inf:
        return max(log_z, 0.0)
    return max((posterior(alpha * relative).log_z - alpha * log_z) / (1.0 - alpha), 0.0)
