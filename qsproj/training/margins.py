"""Margins of gold trees, as linear constraints on the scores of arcs, and in the dual.

A margin has linear ``constraints(scores)``; :class:`LeastChange` moves the weights until they hold.

In the dual (:class:`DualTree`), weights are determined by distributions, one over the trees of each sentence:
C times the sum, over all sentences, of the features of the gold tree minus their expectation. A step makes
a tree exp(its score minus that of the gold tree, plus the number of its wrong heads) times as probable.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.conventions import NO_HEAD, Floats, Hashes, Heads, Mask, Numbers, Scores, starts_of
from qsproj.kernels.features.hildreth import hildreth
from qsproj.training.objectives import Infer
from qsproj.training.optimiser import PlainSteps, Weights

Words = NDArray[np.integer[Any]]
# Tolerance of a constraint's violation, in units of the score, and the maximum number of passes.
TOLERANCE, PASSES = 1e-3, 1000
START = 9.0  # initial score of the gold tree's arcs; it works well in the paper
NEGLIGIBLE = 1e-3  # smaller changes of a probability wait until they have accumulated
# The features of some arcs, row by row: starts int64[rows + 1], buckets uint64[starts[-1]].
FeatureRows = tuple[NDArray[np.int64], Hashes]


@dataclass(frozen=True, slots=True, eq=False)
class Constraints:
    """Lower bounds on signed sums of arc scores."""

    heads: Numbers
    dependents: Numbers
    starts: NDArray[np.int64]  # int64[C + 1]: constraint c is on ``members[starts[c] : starts[c + 1]]``
    members: Numbers
    signs: Floats  # of the shape of ``members``: 1 for a gold arc, -1 for a rival
    bounds: Floats  # float64[C]

    def __len__(self) -> int:
        return len(self.bounds)

    def slacks(self, scores: Scores) -> Floats:
        """Return the violation of each constraint under some scores, float64[C]; negative where it holds."""
        if not len(self):
            return np.zeros(0)
        of_members = self.signs * scores[self.heads, self.dependents][self.members]
        return self.bounds - np.add.reduceat(of_members, self.starts[:-1])

    def chosen(self, which: Mask) -> "Constraints":
        """Return the constraints selected by ``which`` bool[C], with their arcs."""
        lengths = np.diff(self.starts)
        kept = np.repeat(which, lengths)
        arcs, members = np.unique(self.members[kept], return_inverse=True)
        starts = starts_of(lengths[which])
        of_members = members.astype(np.int32), self.signs[kept]
        return Constraints(self.heads[arcs], self.dependents[arcs], starts, *of_members, self.bounds[which])


@dataclass(frozen=True, slots=True)
class TreeMargins:
    """Constraints that the gold tree beats rival trees by their numbers of wrong heads.

    ``heads`` int32[n+1] are -1 where unknown; no head of such a word is wrong. ``right`` returns the best
    tree that agrees with them, ``ranked`` the rivals, the k best trees under scores with ``cost`` added to
    every wrong arc: with 1, the first is the one that violates its margin most. *Source*: McDonald, Crammer
    and Pereira 2006, 3.1.1 (k-best MIRA), without the cost; with it, Crammer et al. 2006 (max-loss updates).
    """

    heads: Heads
    right: Callable[[Scores], Heads]
    ranked: Callable[[Scores], Sequence[Heads]]
    cost: float = 0.0

    def constraints(self, scores: Scores) -> Constraints:
        right, known = self.right(scores), np.flatnonzero(self.heads != NO_HEAD)
        costly = scores + self.cost
        costly[self.heads[known], known] = scores[self.heads[known], known]
        costly[:, self.heads == NO_HEAD] = scores[:, self.heads == NO_HEAD]
        trees = np.reshape(self.ranked(costly), (-1, len(right)))
        errors = np.count_nonzero((trees != self.heads)[:, known], axis=1)
        rivals = trees[errors > 0]
        differing = rivals != right
        rival, words = np.nonzero(differing)
        sizes, bounds = np.count_nonzero(differing, axis=1), errors[errors > 0]
        return versus(right[words], rivals[rival, words], words, sizes=sizes, bounds=bounds)


@dataclass(frozen=True, slots=True)
class ArcMargins:
    """Constraints that every gold arc beats every other arc into the same word by 1.

    They imply that the gold tree beats every tree by its number of wrong heads, but not the reverse.
    ``heads`` int32[n+1]: -1 if unknown. *Source*: McDonald, Crammer and Pereira 2006, 3.1.2 (factored MIRA).
    """

    heads: Heads

    def constraints(self, scores: Scores) -> Constraints:
        wrong = scores > -np.inf
        wrong[:, self.heads == NO_HEAD] = False
        np.fill_diagonal(wrong, False)
        known = np.flatnonzero(self.heads != NO_HEAD)
        wrong[self.heads[known], known] = False
        heads, dependents = np.nonzero(wrong)
        each = np.ones(len(heads), np.int64)
        return versus(self.heads[dependents], heads, dependents, sizes=each, bounds=each)


Margins = TreeMargins | ArcMargins  # the losses that are constraints on the arc scores of one sentence


def versus(
    right: Words, wrong: Words, dependents: Words, *, sizes: ArrayLike, bounds: ArrayLike
) -> Constraints:
    """Return constraints that gold heads beat wrong ones, int[k], concatenated over constraints.

    ``sizes``, ``bounds`` int[C], float[C]: words of each, and the margin of the sum of its gold heads.
    """
    # Arcs are encoded as numbers to find equal ones; words are fewer than 2^31.
    pairs = np.stack([right, wrong], axis=1).astype(np.int64) << 32 | np.asarray(dependents)[:, None]
    arcs, members = np.unique(pairs, return_inverse=True)
    ends = (arcs >> 32).astype(np.int32), (arcs & 0xFFFFFFFF).astype(np.int32)
    of_members = members.reshape(-1).astype(np.int32), np.tile([1.0, -1.0], len(pairs))
    starts = 2 * starts_of(sizes)
    return Constraints(*ends, starts, *of_members, np.asarray(bounds, dtype=np.float64))


class LeastChange(PlainSteps):
    """Hashed weights with minimal changes that satisfy constraints. Mutable; final.

    ``limit``: maximum multiplier of a constraint, which limits its change of the weights. *Source*: Crammer
    and Singer 2003; McDonald, Crammer and Pereira 2006, 3.1. The limit: Crammer et al. 2006 (PA-I).
    """

    def __init__(self, weights: Weights, *, limit: float = np.inf) -> None:
        super().__init__(weights, capacity=1)
        self.limit = limit

    def meet(
        self, constraints: Constraints, rows: FeatureRows, slacks: Floats, multipliers: Floats
    ) -> Floats:
        """Move the weights until they satisfy constraints on ``rows``; return the multipliers.

        ``slacks`` float64[C]: violation of each constraint under the current weights. ``multipliers``
        float64[C]: those of earlier moves for the same example, initially 0; not changed.
        """
        found, vectors = multipliers.copy(), (constraints.starts, constraints.members, constraints.signs)
        hildreth(*vectors, *rows, slacks, self.limit, TOLERANCE, PASSES, found, self.gradient)
        _, self.touched = rows
        self.used = len(self.touched)
        self.move()
        return found


class DualTree:
    """The distribution over trees of one sentence with a whole tree int32[n+1]. Mutable; final.

    ``wrong``: the expected number of wrong heads, 0 until the first step. ``share`` multiplies steps so that
    the dual objective does not fall; the trainer changes it. *Source*: Bartlett et al. 2004; Koo et al. 2007,
    4.2 and figure 2.
    """

    def __init__(self, heads: Heads, infer: Infer) -> None:
        self._infer = infer
        self._in_weights = np.zeros((len(heads), len(heads)))
        self._in_weights[heads[1:], np.arange(1, len(heads))] = 1.0
        self._handicap = 1.0 - self._in_weights
        self._handicap[:, 0] = 0.0
        self._scores = START * (1.0 - self._handicap)
        self.wrong = 0.0
        self.share = 1.0
        self._before = self._scores, self._in_weights, self.wrong

    def ascend(self, scores: Scores, *, share: float, negligible: float = NEGLIGIBLE) -> Scores:
        """Take a step up the dual objective, of ``share`` (at most 1) divided by C.

        ``scores`` float64[n+1, n+1]: arc scores under the current weights. Returns float64[n+1, n+1], the
        change of each arc's expectation that the weights lack: the caller subtracts C times the arcs'
        features, weighted by it, from the weights.
        """
        self._before = self._scores, self._in_weights, self.wrong
        self._scores = self._scores + share * (self._handicap + scores)
        marginals = self._infer(self._scores)[1]
        self.wrong = float((self._handicap * marginals).sum())
        change = marginals - self._in_weights
        change[np.abs(change) < negligible] = 0.0
        self._in_weights = self._in_weights + change
        return change

    def take_back(self) -> None:
        self._scores, self._in_weights, self.wrong = self._before

    def gain(self, change: Scores, scores: Scores, moved: Scores) -> float:
        """Return the increase of the dual objective by a step, divided by C; negative where it fell.

        The objective is C times the expected number of wrong heads, minus half the squared norm of the
        weights, whose change follows from ``scores`` before and ``moved`` after the step.
        """
        return self.wrong - self._before[2] + float((change * 0.5 * (scores + moved)).sum())
