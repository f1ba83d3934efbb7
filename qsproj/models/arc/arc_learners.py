"""Training of arc weights by MIRA, by exponentiated gradient, and by batch optimisers."""

from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats, Scores
from qsproj.kernels.features.arc_features import ArcFeatures, gather_arcs, list_arcs
from qsproj.models.arc.arc_scorer import ArcExample, ArcLearner, ArcScorer, LossExample
from qsproj.progress import notice
from qsproj.training.loop import EpochRecord
from qsproj.training.margins import NEGLIGIBLE, TOLERANCE, DualTree, LeastChange, Margins
from qsproj.training.objectives import Objective
from qsproj.training.optimiser import PlainSteps, SparseOptimiser, Weights

# Up to this number, all constraints are solved together; beyond it, the violated ones, until none is left.
FEW = 64
ROUNDS = 10


class MarginTrainer(ArcLearner[Margins, ArcScorer, LeastChange]):
    """Learns the weights of an arc scorer by MIRA, one sentence a step. Mutable; final."""

    def step(self, example: LossExample[Margins]) -> float:
        features = self.live.features(example.encoded)
        scores = self.live.scores(features)
        constraints = example.objective.constraints(scores)
        slacks = constraints.slacks(scores)
        worst = max(0.0, float(slacks.max(initial=0.0)))
        multipliers = np.zeros(len(constraints))
        for _ in range(ROUNDS):
            broken = (slacks > TOLERANCE) & (multipliers < self.rule.limit)
            if not broken.any():
                break
            among = broken | (multipliers > 0.0) | (len(constraints) <= FEW)
            chosen = constraints.chosen(among)
            rows = list_arcs(features, chosen.heads, chosen.dependents, self.support)
            multipliers[among] = self.rule.meet(chosen, rows, slacks[among], multipliers[among])
            if among.all():
                break
            slacks = constraints.slacks(self.live.scores(features))
        self.rule.steps += 1
        return worst


# Factor on the step of a sentence that would lower the dual objective, its maximum number, and the growth of
# the step otherwise: the line search of Collins et al. 2008, 8.
SHORTER, HALVINGS, LONGER = 0.5, 60, 1.05
# Training is ineffective where half of the sentences take shorter steps than this.
SHORTEST = 1e-6
# Relative decrease of the dual objective that skipped small changes may cause.
ROUNDING = 1e-3


class ExponentiatedTrainer(ArcLearner[DualTree, ArcScorer, PlainSteps]):
    """Learns the weights of an arc scorer by exponentiated gradient, one sentence a step. Mutable; final.

    ``cost`` is C: the cost of a missed margin, relative to half the squared norm of the weights. ``dual`` is
    the dual objective after the last epoch; where it has fallen, steps are halved. A step that would lower it
    is undone and halved until it does not: the larger C, the shorter the steps.

    *Source*: Koo et al. 2007, figure 2; step sizes: Collins et al. 2008, 8. The first step of a sentence also
    adds its initial contribution to the weights, which saves an initial pass over the data.
    """

    def __init__(self, start: ArcScorer, support: NDArray[np.uint64] | None = None, *, cost: float) -> None:
        super().__init__(start, support, rule=PlainSteps)
        self.dual = 0.0
        self._cost = cost
        # The larger C, the smaller the changes that must be applied: with C = 10, skipped changes grew to
        # half of the dual objective.
        self._negligible = NEGLIGIBLE * min(1.0, 0.1 / cost)
        self._shares: list[float] = []
        self._share = 1.0
        self._wrong = 0.0

    def step(self, example: LossExample[DualTree]) -> float:
        features, tree = self.live.features(example.encoded), example.objective
        scores = self.live.scores(features)
        for halving in range(HALVINGS):
            change = tree.ascend(scores, share=self._share * tree.share, negligible=self._negligible)
            self._put_in(features, change)
            moved, arcs = scores.copy(), np.nonzero(change)
            moved[arcs] = self.live.scores_of(features, *(ends.astype(np.int32) for ends in arcs))
            if tree.gain(change, scores, moved) >= -ROUNDING * tree.wrong:
                tree.share = tree.share if halving else min(1.0, LONGER * tree.share)
                break
            tree.take_back()
            self._put_in(features, -change)
            tree.share *= SHORTER
        self.rule.steps += 1
        self._wrong += tree.wrong
        self._shares.append(tree.share)
        return tree.wrong

    def _put_in(self, features: ArcFeatures, change: Scores) -> None:
        """Subtract C times the features of arcs, weighted by float64[n+1, n+1], from the weights."""
        self.rule.gather(gather_arcs, features, self._cost * change, self.support, 0.0)
        self.rule.move()

    def regularise(self) -> None:
        weights = self.rule.weights.astype(np.float64)
        dual = self._cost * self._wrong - 0.5 * float(weights @ weights)
        if dual < self.dual - ROUNDING * abs(self.dual):
            self._share /= 2.0
        if np.median(self._shares or [1.0]) < SHORTEST:
            few = f"few steps of exponentiated gradient are possible with a cost of {self._cost:g}"
            notice(f"{few}, so little is learned; use a smaller --cost")
        self.dual, self._wrong, self._shares = dual, 0.0, []

    def averaged(self) -> ArcScorer:
        return self.live.with_weights(self.live.weights)


# For each optimiser, scipy's method and its options. L-BFGS keeps five pairs of vectors over all features.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {"lbfgs": ("L-BFGS-B", {"maxcor": 5}), "cg": ("CG", {})}


class GradientSum(SparseOptimiser):
    """Fixed hashed weights and the sum of gradients. Mutable; final."""

    def __init__(self, weights: Weights) -> None:
        # The mean of fixed weights needs no sums.
        super().__init__(weights, weights[:0], np.zeros(len(weights)), capacity=1 << 20)

    def move(self) -> None:
        """Make room for more buckets; keep their gradient."""
        self.used = 0


class BatchLoss(ArcLearner[Objective, ArcScorer, GradientSum]):
    """The loss of all sentences under given weights, with the L2 penalty. Mutable; final.

    The penalty, half of ``l2`` times the squared norm of the weights, is that of AdaGrad. ``buckets``
    int64[k] are those of all features of all candidate arcs, ``last`` the last loss of all sentences.
    """

    def __init__(self, start: ArcScorer, support: NDArray[np.uint64] | None = None, *, l2: float) -> None:
        super().__init__(start, support, rule=GradientSum)
        self._l2 = l2
        self._examples: Sequence[ArcExample] = ()
        self.last = 0.0
        self.buckets = np.zeros(0, np.int64)

    def prepare(self, examples: Sequence[ArcExample]) -> None:
        self._examples = examples
        self.rule.gradient[:] = 0.0
        for example in examples:
            everywhere = np.ones((len(example.encoded) + 1,) * 2)
            self.rule.gather(gather_arcs, self.live.features(example.encoded), everywhere, self.support, 0.0)
        self.buckets = np.flatnonzero(self.rule.gradient)

    def step(self, example: ArcExample) -> float:
        features = self.live.features(example.encoded)
        loss, slopes = example.objective.value_and_gradient(self.live.scores(features))
        self.rule.gather(gather_arcs, features, slopes, self.support, 0.0)
        return loss

    def value_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Return the loss under weights float64[k] of ``buckets``, and its gradient float64[k]."""
        self.rule.weights[self.buckets] = weights
        self.rule.gradient[:] = 0.0
        penalty = 0.5 * self._l2 * float(weights @ weights)
        self.last = sum(map(self.step, self._examples)) + penalty
        return self.last, self.rule.gradient[self.buckets] + self._l2 * weights

    def scorer(self, weights: Floats) -> ArcScorer:
        self.live.weights[self.buckets] = weights
        return self.live.with_weights(self.live.weights)


def minimise(
    loss: BatchLoss,
    examples: Sequence[ArcExample],
    *,
    optimizer: str,
    iterations: int,
    score: Callable[[ArcScorer], float] | None = None,
) -> tuple[ArcScorer, list[EpochRecord]]:
    """Minimise the loss of all sentences by a key of METHODS, in ``iterations`` of a few passes at most.

    Returns the scorer with the best score on held-out data, or the last one, and records.

    *Source*: Koo et al. 2007, 6.2 (conjugate gradient); thesis A.4.
    """
    method, more = METHODS[optimizer]
    loss.prepare(examples)
    records: list[EpochRecord] = []
    best: tuple[float, ArcScorer] | None = None
    began = process_time()

    def after(weights: Floats) -> None:
        nonlocal best, began
        seconds, scored = process_time() - began, None
        if score is not None:
            scorer = loss.scorer(weights)
            scored = score(scorer)
            if best is None or scored > best[0]:
                best = scored, scorer
        records.append(EpochRecord(len(records) + 1, loss.last / len(examples), scored, seconds))
        began = process_time()

    from scipy.optimize import minimize

    start, limits = np.zeros(len(loss.buckets)), {"maxiter": iterations, **more}
    found = minimize(loss.value_and_gradient, start, jac=True, method=method, callback=after, options=limits)
    return (best[1] if best else loss.scorer(found.x)), records
