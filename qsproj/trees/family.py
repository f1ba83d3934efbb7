"""Inference over a family of dependency trees: the common interface to the kernels of each family.

Everywhere ``scores`` is float64[n+1, n+1], [head, dependent], natural log, -inf for a forbidden arc; column 0
and the diagonal are ignored. Words are 1..n, the root is 0. Nothing is mutated. Every method raises
``ValueError`` for scores of the wrong shape or with NaN or +inf, and
:class:`~qsproj.trees.family.NoTreeError` when no tree has a finite score.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qsproj.conventions import ROOT, Floats, Heads, Numbers, Rng, Scores, check_scores
from qsproj.errors import QsprojError, UsageError
from qsproj.kernels.trees.semirings import log_marginals


class NoTreeError(QsprojError, ValueError):
    """The scores allow no tree: too many of them are -inf."""

    def __init__(self, scores: Scores, *, single_root: bool) -> None:
        root = "with exactly one root child " if single_root else ""
        found = f"no tree {root}over {len(scores) - 1} words whose arcs all have a finite score"
        super().__init__(f"found {found}, expected at least one; {_why_no_tree(scores)}")


def _why_no_tree(scores: Scores) -> str:
    allowed = scores > -np.inf
    np.fill_diagonal(allowed, False)
    alone = np.flatnonzero(~allowed[:, 1:].any(axis=0)) + 1
    if alone.size:
        return f"scores[:, {alone[0]}] forbids all arcs to word {alone[0]}: allow one of them"
    reached = np.zeros(len(scores), dtype=np.bool_)
    reached[ROOT] = True
    while (more := reached | allowed[reached].any(axis=0)).sum() > reached.sum():
        reached = more
    cut_off = np.flatnonzero(~reached[1:]) + 1
    if cut_off.size:
        return f"word {cut_off[0]} cannot be reached from the root: allow arcs that lead there"
    return "allow more arcs"


@dataclass(frozen=True, slots=True, eq=False)
class TreePosterior:
    """A distribution over trees, p(tree) proportional to exp(sum of the scores of its arcs).

    ``log_z``: natural log of the normaliser, the sum over trees. ``marginals`` float64[n+1, n+1]: probability
    of each arc [head, dependent]; columns 1..n sum to 1; column 0 and the diagonal are 0. ``log_marginals``:
    their natural logs, -inf only where no tree has the arc; accurate also below underflow. Read-only.
    """

    log_z: float
    marginals: Floats
    log_marginals: Floats

    def __post_init__(self) -> None:
        self.marginals.flags.writeable = False
        self.log_marginals.flags.writeable = False


STEP = 1e-30  # the step of complex scores: its square is nothing beside 1


def tree_shifts(scores: Scores, heads: Heads) -> Floats:
    """Return float64[n+1], the score of the arc into each word of a tree; 0 for the root."""
    shifts = scores[heads, np.arange(heads.size)]
    shifts[ROOT] = 0.0
    return shifts


def allowed_arcs(scores: Scores) -> Scores:
    """Return scores that are 0 where an arc is allowed and -inf elsewhere."""
    return np.where(scores > -np.inf, 0.0, -np.inf)


def checked_values(values: ArrayLike, arcs: Scores) -> Floats:
    """Return arc values as float64[n+1, n+1], 0 (unread) where ``arcs`` forbids the arc."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != arcs.shape:
        raise ValueError(f"arc values have shape {array.shape}, expected that of the scores, {arcs.shape}")
    allowed = arcs > -np.inf
    allowed[:, 0] = False
    np.fill_diagonal(allowed, False)
    bad = np.argwhere(allowed & ~np.isfinite(array))
    if bad.size:
        h, d = bad[0].tolist()
        raise ValueError(f"values[{h}, {d}] is {array[h, d]}, expected finite where the arc is allowed")
    return np.where(allowed, array, 0.0)


def check_count(name: str, number: int, least: int) -> None:
    """Raise :class:`~qsproj.errors.UsageError` unless ``number`` is whole and at least ``least``."""
    if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
        raise UsageError(f"{name} is {number!r}, expected a whole number of at least {least}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFamily:
    """Kernels of a family of trees, and inference; ``single_root``: the root has just one dependent."""

    # (scores, single_root) -> heads int32[n+1], score: the best tree; -inf when there is none
    find_best: Callable[[Scores, bool], tuple[Heads, float]]
    # (scores, single_root) -> log Z, marginals, derivatives, shifts, in range: sums over trees in probability
    # space, as in kernels.trees.matrix_tree; not in range: precision may be lost, or there is no tree. This
    # and the next also take complex scores.
    sum_up: Callable[[Scores, bool], tuple[float, Scores, Scores, Floats, bool]]
    # (scores, single_root, maximise) -> log Z, and the log of the sum over all trees with each arc; or maxima
    sum_in_logs: Callable[[Scores, bool, bool], tuple[float, Scores]]
    # (scores, best heads, size, rng, single_root) -> int32[size, n+1]: independent trees
    draw: Callable[[Scores, Heads, int, Rng, bool], Numbers]

    def best(self, scores: ArrayLike, *, single_root: bool = False) -> tuple[Heads, float]:
        """Return the heads of the best tree, int32[n+1], ``heads[0] == -1``, and the sum of its arc scores.

        Which of several best trees it is, is not specified.
        """
        return self._best(check_scores(scores), single_root)

    def posterior(self, scores: ArrayLike, *, single_root: bool = False) -> TreePosterior:
        """Sum over all trees; give log Z and the probability of each arc.

        Columns of the marginals sum to 1 within 1e-9 at score scales up to 200 and n up to 300. Computed in
        probability space, or in log space (about ten times slower) where that would not be exact.
        """
        arcs = check_scores(scores)
        log_z, marginals, derivatives, shifts, in_range = self.sum_up(arcs, single_root)
        if in_range:
            logs, lost = log_marginals(arcs, shifts, derivatives)
            if not lost or self._is_impossible(arcs, single_root, derivatives):
                return TreePosterior(log_z, marginals, logs)
        heads, score = self._best(arcs, single_root)
        log_z, with_arc = self.sum_in_logs(arcs - tree_shifts(arcs, heads), single_root, False)
        return TreePosterior(float(log_z + score), np.exp(with_arc - log_z), with_arc - log_z)

    def marginals(self, scores: ArrayLike, *, single_root: bool = False) -> tuple[float, Scores]:
        """Return log Z and the marginals of :meth:`posterior`, faster, without their logarithms."""
        arcs = check_scores(scores)
        log_z, chances, _, _, in_range = self.sum_up(arcs, single_root)
        if not in_range:
            full = self.posterior(arcs, single_root=single_root)
            return full.log_z, full.marginals
        return float(log_z), np.asarray(chances)

    def k_best(self, scores: ArrayLike, k: int, *, single_root: bool = False) -> list[tuple[Heads, float]]:
        """List heads and score of the k best distinct trees, best first; of all trees if there are fewer.

        Exact, by O(k n) searches; UsageError for ``k`` below 1. Sets of trees are split by the first word
        whose head differs from their best tree, and queue by it. *Source*: Lawler (1972).
        """
        arcs = check_scores(scores)
        check_count("k", k, 1)
        order = count()
        heads, score = self._best(arcs, single_root)
        # (minus score, order of arrival, heads, first word whose head is free, heads that word may not have)
        queue = [(-score, next(order), heads, 1, frozenset[int]())]
        ranked: list[tuple[Heads, float]] = []
        while queue and len(ranked) < k:
            minus_score, _, heads, first, banned = heapq.heappop(queue)
            ranked.append((heads, -minus_score))
            for word in range(first, heads.size if len(ranked) < k else first):
                now_banned = (banned if word == first else frozenset()) | {int(heads[word])}
                other, score = self.find_best(_constrained(arcs, heads, word, now_banned), single_root)
                if score > -np.inf:
                    heapq.heappush(queue, (-score, next(order), other, word, now_banned))
        return ranked

    def sample(self, scores: ArrayLike, size: int, rng: Rng, *, single_root: bool = False) -> Numbers:
        """Draw independent trees exactly: heads int32[size, n+1], column 0 is -1; ``rng`` is advanced."""
        arcs = check_scores(scores)
        check_count("size", size, 0)
        if not isinstance(rng, Rng):
            raise UsageError(f"rng is {rng!r}, expected a generator: numpy.random.default_rng(1)")
        heads, _ = self._best(arcs, single_root)
        return self.draw(arcs, heads, size, rng, single_root)

    def entropy(self, scores: ArrayLike, *, single_root: bool = False) -> float:
        """Return the Shannon entropy in nats, to about 1e-14 times the number of words."""
        return self.renyi_entropy(scores, 1.0, single_root=single_root)

    def renyi_entropy(self, scores: ArrayLike, alpha: float, *, single_root: bool = False) -> float:
        """Return the Renyi entropy of order ``alpha`` of the distribution over trees, in nats.

        ``alpha`` is at least 0 (else UsageError); 0 gives the log of the number of trees, 1 Shannon entropy,
        infinity minus the log probability of the best tree. Accurate to about 1e-14 n / abs(1 - alpha).
        """
        arcs = check_scores(scores)
        heads, _ = self._best(arcs, single_root)
        if not (isinstance(alpha, Real) and alpha >= 0.0):
            raise UsageError(f"alpha is {alpha!r}, expected a number of at least 0")
        posterior = partial(self.posterior, single_root=single_root)
        if alpha == 0.0:
            return posterior(allowed_arcs(arcs)).log_z
        # Scores relative to a best tree keep all terms small, which limits cancellation.
        relative = arcs - tree_shifts(arcs, heads)
        result = posterior(relative)
        if alpha == 1.0:
            seen = result.marginals > 0.0
            return max(result.log_z - float(result.marginals[seen] @ relative[seen]), 0.0)
        if alpha == np.inf:
            return max(result.log_z, 0.0)
        return max((posterior(alpha * relative).log_z - alpha * result.log_z) / (1.0 - alpha), 0.0)

    def max_marginals(self, scores: ArrayLike, *, single_root: bool = False) -> Scores:
        """Return the best score of a tree with each arc, float64[n+1, n+1], -inf where none has; O(n^3)."""
        arcs = check_scores(scores)
        heads, score = self._best(arcs, single_root)
        _, with_arc = self.sum_in_logs(arcs - tree_shifts(arcs, heads), single_root, True)
        return np.asarray(with_arc + score)

    def expectation(
        self, scores: ArrayLike, values: ArrayLike, *, single_root: bool = False
    ) -> tuple[float, Floats]:
        """Return the expected sum of the values of a tree's arcs, and its gradient, for minimum risk.

        ``values`` float64[n+1, n+1]: of each arc (loss, or gain); finite where the arc is allowed, not read
        elsewhere. The gradient by scores, float64[n+1, n+1]: covariance of arc and sum; columns sum to 0.

        *Source*: thesis 3.2.4; not by its eq. 3.14 but by complex scores (Squire and Trapp 1998): imaginary
        parts of marginals are slopes along ``values``, times a step too small to change anything. O(n^3).
        """
        arcs = check_scores(scores)
        arc_values = checked_values(values, arcs)
        heads, _ = self._best(arcs, single_root)
        step = STEP / max(float(np.abs(arc_values).max()), 1.0)
        tilted: Any = arcs - tree_shifts(arcs, heads) + 1j * step * arc_values
        _, marginals, _, _, in_range = self.sum_up(tilted, single_root)
        if not in_range:
            log_z, with_arc = self.sum_in_logs(tilted, single_root, False)
            marginals = np.exp(with_arc - log_z)
        return float(np.sum(marginals.real * arc_values)), marginals.imag / step

    def _best(self, arcs: Scores, single_root: bool) -> tuple[Heads, float]:
        heads, score = self.find_best(arcs, single_root)
        if score == -np.inf:
            raise NoTreeError(arcs, single_root=single_root)
        return heads, score

    def _is_impossible(self, arcs: Scores, single_root: bool, derivatives: Scores) -> bool:
        """Return whether every allowed arc of zero probability is in no tree, so that none underflowed."""
        allowed = allowed_arcs(arcs)
        _, _, possible, _, in_range = self.sum_up(allowed, single_root)
        return bool(in_range) and not np.any((possible > 0.0) & (derivatives == 0.0) & (allowed == 0.0))


def _constrained(arcs: Scores, heads: Heads, word: int, banned: frozenset[int]) -> Scores:
    """Return scores with the heads of words before ``word`` fixed and its ``banned`` heads forbidden."""
    scores = arcs.copy()
    before = np.arange(1, word)
    scores[:, before] = -np.inf
    scores[heads[before], before] = arcs[heads[before], before]
    scores[list(banned), word] = -np.inf
    return scores
