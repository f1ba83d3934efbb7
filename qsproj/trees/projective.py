"""Inference over projective dependency trees, exact, in O(n^3) (Eisner 1996; thesis appendix B).

Everywhere ``scores`` is float64[n+1, n+1], [head, dependent], natural log, -inf for a forbidden arc; column 0
and the diagonal are ignored. Words are 1..n, the root is 0. Nothing is mutated. Every function raises
``ValueError`` for scores of the wrong shape or with NaN or +inf in them, and
:class:`~qsproj.trees.posterior.NoTreeError` when no tree has a finite score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qsproj.conventions import Heads, Scores, check_scores
from qsproj.kernels.eisner_best import eisner_best
from qsproj.kernels.eisner_log import eisner_log
from qsproj.kernels.eisner_posterior import eisner_posterior
from qsproj.kernels.log_marginals import log_marginals
from qsproj.trees.posterior import (
    NoTreeError,
    TreePosterior,
    allowed_arcs,
    posterior_in_logs,
    tree_shifts,
)


def best(scores: ArrayLike, *, single_root: bool = False) -> tuple[Heads, float]:
    """Find the best tree.

    Parameters
    ----------
    scores : float64[n+1, n+1]
        Arc scores, natural log, -inf where forbidden.
    single_root : bool
        Whether the root must have exactly one dependent.

    Returns
    -------
    heads : int32[n+1]
        The head of each word, ``heads[0] == -1``. Which of several best trees it is, is not specified.
    score : float
        The sum of its arc scores.
    """
    arcs = check_scores(scores)
    return _best(arcs, single_root)


def posterior(scores: ArrayLike, *, single_root: bool = False) -> TreePosterior:
    """Sum over all trees; give log Z and the probability of each arc.

    Parameters
    ----------
    scores : float64[n+1, n+1]
        Arc scores, natural log, -inf where forbidden.
    single_root : bool
        Whether the root must have exactly one dependent.

    Returns
    -------
    TreePosterior
        Columns of the marginals sum to 1 within 1e-9 at score scales up to 200 and n up to 300. Computed in
        probability space, or in log space (about ten times slower) where that would not be exact.
    """
    arcs = check_scores(scores)
    heads, _ = _best(arcs, single_root)
    shifts = tree_shifts(arcs, heads)
    log_z, marginals, derivatives, in_range = eisner_posterior(arcs, heads, single_root)
    if in_range:
        logs, lost = log_marginals(arcs, shifts, derivatives)
        if not lost or _is_impossible(arcs, heads, single_root, derivatives):
            return TreePosterior(log_z, marginals, logs)
    log_z, with_arc = eisner_log(arcs - shifts, single_root, False)
    return posterior_in_logs(log_z + shifts.sum(), with_arc - log_z)


def _best(arcs: Scores, single_root: bool) -> tuple[Heads, float]:
    """Find the best tree of checked scores."""
    heads, score = eisner_best(arcs, single_root)
    if score == -np.inf:
        raise NoTreeError(arcs.shape[0] - 1, single_root=single_root)
    return heads, score


def _is_impossible(arcs: Scores, heads: Heads, single_root: bool, derivatives: Scores) -> bool:
    """Say whether every allowed arc of zero probability is one that no tree has, so that none underflowed."""
    allowed = allowed_arcs(arcs)
    _, _, possible, in_range = eisner_posterior(allowed, heads, single_root)
    return bool(in_range) and not np.any((possible > 0.0) & (derivatives == 0.0) & (allowed == 0.0))
