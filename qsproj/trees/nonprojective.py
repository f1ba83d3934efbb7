"""Inference over all dependency trees, projective or not, exact: the best in O(n^2), sums in O(n^3).

The best tree by contraction of cycles, sums over trees by the Matrix-Tree theorem (thesis 3.1, 3.2; Koo et
al. 2007), by an elimination without subtraction that keeps full relative accuracy at every scale
(docs/notes/tree-inference.md).

Everywhere ``scores`` is float64[n+1, n+1], [head, dependent], natural log, -inf for a forbidden arc; column 0
and the diagonal are ignored. Words are 1..n, the root is 0. Nothing is mutated. Every function raises
``ValueError`` for scores of the wrong shape or with NaN or +inf in them, and
:class:`~qsproj.trees.posterior.NoTreeError` when no tree has a finite score.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.conventions import Heads, Scores, check_scores
from qsproj.kernels.arborescence import arborescence
from qsproj.kernels.log_marginals import log_marginals
from qsproj.kernels.matrix_tree import matrix_tree
from qsproj.kernels.matrix_tree_covariance import matrix_tree_covariance
from qsproj.kernels.matrix_tree_log import matrix_tree_log
from qsproj.trees.entropies import renyi_entropy as order_alpha_entropy
from qsproj.trees.entropies import shannon_entropy
from qsproj.trees.posterior import (
    NoTreeError,
    TreePosterior,
    allowed_arcs,
    check_count,
    checked_values,
    posterior_in_logs,
    tree_shifts,
)
from qsproj.trees.ranking import ranked_trees
from qsproj.trees.sampling import sampled_trees


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
    log_z, marginals, derivatives, shifts, in_range = matrix_tree(arcs, single_root)
    if in_range:
        logs, lost = log_marginals(arcs, shifts, derivatives)
        if not lost or _is_impossible(arcs, single_root, derivatives):
            return TreePosterior(log_z, marginals, logs)
    heads, score = _best(arcs, single_root)
    log_z, with_arc = matrix_tree_log(arcs - tree_shifts(arcs, heads), single_root, False)
    return posterior_in_logs(log_z + score, with_arc - log_z)


def marginals(scores: ArrayLike, *, single_root: bool = False) -> tuple[float, Scores]:
    """Return log Z and the marginals of :func:`posterior`, faster for not taking their logarithms."""
    arcs = check_scores(scores)
    log_z, chances, _, _, in_range = matrix_tree(arcs, single_root)
    if not in_range:
        full = posterior(arcs, single_root=single_root)
        return full.log_z, full.marginals
    return float(log_z), np.asarray(chances)


def k_best(scores: ArrayLike, k: int, *, single_root: bool = False) -> list[tuple[Heads, float]]:
    """List the k best trees, best first, all distinct; all there are when there are fewer.

    Parameters
    ----------
    scores : float64[n+1, n+1]
        Arc scores, natural log, -inf where forbidden.
    k : int
        At least 1, else :class:`~qsproj.errors.UsageError`.
    single_root : bool
        Whether the root must have exactly one dependent.

    Returns
    -------
    list of (int32[n+1], float)
        Heads and score of each tree, exact. O(k n) searches for a best tree, O(k n^3) at worst.
    """
    arcs = check_scores(scores)
    check_count("k", k, 1)
    _best(arcs, single_root)
    return ranked_trees(arcs, k, arborescence, single_root=single_root)


def sample(
    scores: ArrayLike, size: int, rng: np.random.Generator, *, single_root: bool = False
) -> NDArray[np.int32]:
    """Draw independent trees, exactly from the distribution.

    Parameters
    ----------
    scores : float64[n+1, n+1]
        Arc scores, natural log, -inf where forbidden.
    size : int
        Number of trees, at least 0, else :class:`~qsproj.errors.UsageError`.
    rng : numpy.random.Generator
        Source of randomness; advanced.
    single_root : bool
        Whether the root must have exactly one dependent.

    Returns
    -------
    int32[size, n+1]
        Heads of each tree; column 0 is -1. O(n^3) once, then a random walk a tree; where that would
        wander for long (strong cycles), one posterior for each distinct beginning of the trees drawn.
    """
    arcs = check_scores(scores)
    check_count("size", size, 0)
    _best(arcs, single_root)
    return sampled_trees(arcs, size, rng, posterior, single_root=single_root)


def entropy(scores: ArrayLike, *, single_root: bool = False) -> float:
    """Return the Shannon entropy of the distribution over trees, in nats.

    Parameters as for :func:`posterior`. Accurate to about 1e-14 times the number of words.
    """
    arcs = check_scores(scores)
    heads, _ = _best(arcs, single_root)
    return shannon_entropy(arcs, tree_shifts(arcs, heads), partial(posterior, single_root=single_root))


def renyi_entropy(scores: ArrayLike, alpha: float, *, single_root: bool = False) -> float:
    """Return the Renyi entropy of order ``alpha`` of the distribution over trees, in nats.

    Parameters as for :func:`posterior`, and ``alpha``: at least 0 (else
    :class:`~qsproj.errors.UsageError`); 0 gives the log of the number of trees, 1 Shannon's entropy,
    infinity minus the log probability of the best tree. Accurate to about 1e-14 n / abs(1 - alpha).
    """
    arcs = check_scores(scores)
    heads, _ = _best(arcs, single_root)
    shifts = tree_shifts(arcs, heads)
    return order_alpha_entropy(arcs, shifts, alpha, partial(posterior, single_root=single_root))


def max_marginals(scores: ArrayLike, *, single_root: bool = False) -> Scores:
    """Return the best score of a tree with each arc, exact, in O(n^3).

    Parameters as for :func:`posterior`. Returns float64[n+1, n+1], [head, dependent], natural log; -inf in
    column 0, on the diagonal, and where no tree has the arc.
    """
    arcs = check_scores(scores)
    heads, score = _best(arcs, single_root)
    _, with_arc = matrix_tree_log(arcs - tree_shifts(arcs, heads), single_root, True)
    return np.asarray(with_arc + score)


def expectation(
    scores: ArrayLike, values: ArrayLike, *, single_root: bool = False
) -> tuple[float, NDArray[np.float64]]:
    """Return the expected sum of the values of a tree's arcs, and its gradient: for minimum-risk training.

    Parameters
    ----------
    scores : float64[n+1, n+1]
        Arc scores, natural log, -inf where forbidden.
    values : float64[n+1, n+1]
        Value of each arc (loss, or gain); must be finite where the arc is allowed, is not read elsewhere.
    single_root : bool
        Whether the root must have exactly one dependent.

    Returns
    -------
    expected : float
        E[sum over the arcs of the tree of their values].
    gradient : float64[n+1, n+1]
        d expected / d scores: the covariance of each arc's presence with that sum. Columns sum to 0.

    *Source*: thesis 3.2.4; computed in forward mode instead of by its eq. 3.14. O(n^3), in log space.
    """
    arcs = check_scores(scores)
    arc_values = checked_values(values, arcs)
    heads, _ = _best(arcs, single_root)
    shifted = arcs - tree_shifts(arcs, heads)
    marginals, gradient = matrix_tree_covariance(shifted, arc_values, single_root)
    return float(np.sum(marginals * arc_values)), gradient


def _best(arcs: Scores, single_root: bool) -> tuple[Heads, float]:
    """Find the best tree of checked scores."""
    heads, score = arborescence(arcs, single_root)
    if score == -np.inf:
        raise NoTreeError(arcs.shape[0] - 1, single_root=single_root)
    return heads, score


def _is_impossible(arcs: Scores, single_root: bool, derivatives: Scores) -> bool:
    """Say whether every allowed arc of zero probability is one that no tree has, so that none underflowed."""
    allowed = allowed_arcs(arcs)
    _, _, possible, _, in_range = matrix_tree(allowed, single_root)
    return bool(in_range) and not np.any((possible > 0.0) & (derivatives == 0.0) & (allowed == 0.0))
