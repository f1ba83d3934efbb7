"""What the projective and the non-projective side share: the posterior, the error, the checks."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.conventions import ROOT, Heads, Scores
from qsproj.errors import QsprojError, UsageError


class NoTreeError(QsprojError):
    """The scores allow no tree: too many of them are -inf."""

    def __init__(self, scores: Scores, *, single_root: bool) -> None:
        root = "with exactly one root child " if single_root else ""
        n = len(scores) - 1
        super().__init__(
            f"found no tree {root}over {n} words whose arcs all have a finite score, expected at least one; "
            f"{_why_no_tree(scores)}"
        )


def _why_no_tree(scores: Scores) -> str:
    """Say which word is in the way, where it is one, and what to do."""
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

    Attributes
    ----------
    log_z : float
        Natural log of the normaliser, the sum over trees.
    marginals : float64[n+1, n+1]
        Probability of each arc [head, dependent]; columns 1..n sum to 1; column 0 and the diagonal are 0.
        Read-only.
    log_marginals : float64[n+1, n+1]
        Their natural logs, -inf only where no tree has the arc: accurate also where the probability is too
        small for a float. Read-only.
    """

    log_z: float
    marginals: NDArray[np.float64]
    log_marginals: NDArray[np.float64]

    def __post_init__(self) -> None:
        self.marginals.flags.writeable = False
        self.log_marginals.flags.writeable = False


def posterior_in_logs(log_z: float, log_marginals: NDArray[np.float64]) -> TreePosterior:
    """Build a posterior from log-marginals alone."""
    return TreePosterior(float(log_z), np.exp(log_marginals), log_marginals)


def tree_shifts(scores: Scores, heads: Heads) -> NDArray[np.float64]:
    """Return float64[n+1], the score of the arc into each word of a tree; 0 for the root."""
    shifts = np.zeros(heads.size)
    shifts[1:] = scores[heads[1:], np.arange(1, heads.size)]
    return shifts


def allowed_arcs(scores: Scores) -> Scores:
    """Return scores that are 0 where an arc is allowed and -inf elsewhere."""
    return np.where(scores > -np.inf, 0.0, -np.inf)


def checked_values(values: ArrayLike, arcs: Scores) -> NDArray[np.float64]:
    """Return arc values as float64[n+1, n+1], 0 where ``arcs`` forbids the arc (they are not read there).

    Raises
    ------
    ValueError
        When the shape is not that of the scores, or the value of an allowed arc is not finite.
    """
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
