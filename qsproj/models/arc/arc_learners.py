"""Training examples of arc weights, dev scores; MIRA, exponentiated gradient and batch optimisers."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import MAX_WORDS, NO_HEAD, ROOT, Floats, Hashes, Heads, Mask, Scores, is_whole
from qsproj.corpus.sentence import Sentence, has_tree
from qsproj.errors import UsageError
from qsproj.features.atoms import EncodedSentence
from qsproj.kernels.features.arc_features import ArcFeatures, gather_arcs, list_arcs
from qsproj.models.arc.arc_scorer import ArcExample, ArcLearner, ArcScorer, ArcWeights, LossExample
from qsproj.models.arc.training_options import TrainingOptions, objective_named
from qsproj.models.parser import Parser
from qsproj.models.tree_decoder import TreeDecoder, arcs_in, has_several_roots, reachable
from qsproj.progress import notice
from qsproj.training import margins, objectives
from qsproj.training.loop import EpochRecord
from qsproj.training.margins import DualTree, LeastChange, Margins
from qsproj.training.optimiser import PlainSteps, SparseOptimiser, Weights

# Sharpness of the risk in each of the last epochs; cost of a wrong head in the likelihood before, in nats.
SHARPNESS, RISK_WEIGHT = (1.0, 1.0, 1.5), 3.0

# The objective of a sentence's gold trees: a loss of its arc scores, margins, or a distribution.
ArcLoss = objectives.Objective | Margins | DualTree
Example = LossExample[ArcLoss]


@dataclass(frozen=True, slots=True, eq=False)
class GoldTrees:
    """The trees of a model, at least one, that agree with ``heads`` int32[n+1], whole or partial."""

    heads: Heads
    inference: TreeDecoder

    @property
    def allowed(self) -> Mask:
        """Return the arcs of these trees, bool[n+1, n+1]."""
        allowed = arcs_in(self.heads)
        if self.inference.single_root and ROOT in self.heads.tolist():
            allowed[ROOT, self.heads != ROOT] = False
        return allowed

    @property
    def whole(self) -> bool:
        return is_whole(self.heads)

    def best(self, scores: Scores) -> Heads:
        return self.heads if self.whole else self.inference.best(np.where(self.allowed, scores, -np.inf))

    def likelihood(self, margin: float = 0.0) -> objectives.Objective:
        """Return the negative log-likelihood of these trees, for a whole tree with a margin per wrong arc."""
        if self.whole:
            return objectives.TreeLikelihood(self.heads, self.inference.infer, margin)
        return objectives.partial_tree_likelihood(self.allowed, self.inference.infer)

    def annealed_risk(self, epochs: int) -> objectives.Objective:
        """Return the likelihood, then ever sharper risk; alone, it ends in bad optima (-2.5 UAS, Danish)."""
        if not self.whole:
            return self.likelihood()
        risks = (objectives.Risk(self.heads, self.inference.expect, sharpness) for sharpness in SHARPNESS)
        stages = tuple(objectives.Weighed(RISK_WEIGHT, risk) for risk in risks)
        return objectives.Annealed(self.likelihood(), max(epochs - len(SHARPNESS), 1), stages)

    def mistakes(self) -> objectives.Objective:
        return objectives.Mistakes(self.best, self.inference.best)

    def margins(self, *, k: int, cost: float = 0.0) -> Margins:
        """Return margins against the k best trees under scores with ``cost`` added to every wrong arc."""
        return margins.TreeMargins(self.heads, self.best, partial(self.inference.ranked, k=k), cost)

    def arc_margins(self) -> Margins:
        return margins.ArcMargins(self.heads)

    def distribution(self) -> DualTree | None:
        """Return a distribution over trees for exponentiated gradient; None for a partial tree."""
        return DualTree(self.heads, self.inference.infer) if self.whole else None


def gold_trees(heads: Heads, inference: TreeDecoder) -> GoldTrees | None:
    """Return the trees that agree with heads int32[n+1]; None when the model can build none."""
    found = GoldTrees(reachable(heads, inference), inference)
    if found.whole:
        return None if inference.single_root and has_several_roots(found.heads) else found
    return found if inference.admits(found.allowed) else None


def why_unusable(sentence: Sentence) -> str | None:
    """Return why a sentence cannot be learned from (too many words, or no head), or None."""
    if len(sentence) > MAX_WORDS:
        return f"more than {MAX_WORDS} words"
    return None if has_tree(sentence) else "no head given"


def usable_sentences(sentences: Iterable[Sentence]) -> tuple[list[Sentence], dict[str, int]]:
    judged = [(sentence, why_unusable(sentence)) for sentence in sentences]
    skipped = Counter(reason for _, reason in judged if reason)
    return [sentence for sentence, reason in judged if not reason], dict(skipped)


def tree_loss(heads: Heads, inference: TreeDecoder, options: TrainingOptions) -> ArcLoss | None:
    """Return the objective of heads int32[n+1]; None when the model can build no such tree."""
    right = gold_trees(heads, inference)
    return objective_named(options.objective).loss_for(right, options) if right else None


def tree_objective(
    heads: Heads, inference: TreeDecoder, name: str = "likelihood"
) -> objectives.Objective | None:
    """Return :func:`tree_loss` for the named objective, which has a gradient."""
    loss = tree_loss(heads, inference, TrainingOptions(objective=name))
    assert loss is None or isinstance(loss, objectives.Objective)
    return loss


def tree_examples(
    sentences: Iterable[Sentence], scorer: ArcWeights, inference: TreeDecoder, *, objective: str
) -> list[ArcExample | None]:
    losses = ((sentence, tree_objective(sentence.heads, inference, objective)) for sentence in sentences)
    return [ArcExample(scorer.encode(sentence), loss) if loss else None for sentence, loss in losses]


def training_examples(
    sentences: Iterable[Sentence], scorer: ArcScorer, inference: TreeDecoder, options: TrainingOptions
) -> list[Example | None]:
    """Encode sentences, each with the objective of its tree; None for a sentence without one."""
    losses = ((sentence, tree_loss(sentence.heads, inference, options)) for sentence in sentences)
    return [LossExample(scorer.encode(sentence), loss) if loss else None for sentence, loss in losses]


def weighed_example(example: Example, weight: float, options: TrainingOptions) -> ArcExample:
    """Return the example with its loss times ``weight``; UsageError where it has no gradient."""
    if not isinstance(example.objective, objectives.Objective):
        raise UsageError(f"weighted sentences need an objective with a gradient, not {options.objective}")
    return ArcExample(example.encoded, objectives.weighed(weight, example.objective))


def entropy_examples(
    sentences: Sequence[Sentence], scorer: ArcScorer, inference: TreeDecoder, options: TrainingOptions
) -> list[ArcExample]:
    """Encode sentences of at most MAX_WORDS, with the entropy of their trees, for a loss in nats."""
    entropy = objectives.Weighed(options.entropy, objectives.Entropy(inference.infer, inference.expect))
    return [ArcExample(scorer.encode(one), entropy) for one in sentences if len(one) <= MAX_WORDS]


def right_heads(sentences: Sequence[Sentence], trees: Iterable[Heads]) -> float:
    """Return the percentage of correct heads in trees int32[n+1], among the words with a gold head."""
    right = total = 0
    for sentence, heads in zip(sentences, trees, strict=True):
        known = sentence.heads[1:] != NO_HEAD
        right += int(((heads == sentence.heads)[1:] & known).sum())
        total += int(known.sum())
    return 100.0 * right / max(total, 1)


def dev_score(dev: Sequence[Sentence]) -> Callable[[Parser], float] | None:
    """Return a function that scores a parser by correct heads on held-out trees; None without such trees."""
    # ``parse`` refuses sentences without tags; training does not.
    return (lambda parser: right_heads(dev, (one.heads for one in parser.parse_all(dev)))) if dev else None


def scorer_score(
    dev: Sequence[Sentence],
    encode: Callable[[Sentence], EncodedSentence],
    inference: TreeDecoder,
    *,
    decode: str = "mbr",
) -> Callable[[ArcWeights], float] | None:
    """Return a function that scores arc weights as :func:`dev_score` does parsers; None without trees."""
    encoded = [encode(sentence) for sentence in dev]

    def score(scorer: ArcWeights) -> float:
        matrices = (scorer.scores(scorer.features(one)) for one in encoded)
        return right_heads(dev, (inference.decode(matrix, decode) for matrix in matrices))

    return score if dev else None


def check_finite(*scores: NDArray[Any]) -> None:
    """Raise UsageError when a score is NaN or infinite: training has diverged."""
    if not all(np.isfinite(values).all() for values in scores):
        raise UsageError("training has diverged: a score is NaN or infinite; raise --l2")


# Up to FEW constraints are solved together; of more, the violated ones, until none is left or for ROUNDS.
FEW, ROUNDS = 64, 10


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
            broken = (slacks > margins.TOLERANCE) & (multipliers < self.rule.limit)
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


# Line search of Collins et al. 2008, 8: shrinking of a step that would lower the dual objective, the maximum
# number of shrinkings, and the growth of other steps.
SHORTER, HALVINGS, LONGER = 0.5, 60, 1.05
SHORTEST = 1e-6  # training is ineffective where half of the sentences take shorter steps than this
ROUNDING = 1e-3  # relative decrease of the dual objective that skipped small changes may cause


class ExponentiatedTrainer(ArcLearner[DualTree, ArcScorer, PlainSteps]):
    """Learns the weights of an arc scorer by exponentiated gradient, one sentence a step. Mutable; final.

    ``cost`` is C: the cost of a missed margin, relative to half the squared norm of the weights. ``dual`` is
    the dual objective after the last epoch; where it has fallen, steps are halved. A step that would lower it
    is undone and halved until it does not: the larger C, the shorter the steps.

    *Source*: Koo et al. 2007, figure 2, with the initial pass in the first steps; Collins et al. 2008, 8.
    """

    def __init__(self, start: ArcScorer, support: Hashes | None = None, *, cost: float) -> None:
        super().__init__(start, support, rule=PlainSteps)
        self.dual = 0.0
        self._cost = cost
        # With C = 10, skipped changes grew to half of the dual objective.
        self._negligible = margins.NEGLIGIBLE * min(1.0, 0.1 / cost)
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


class BatchLoss(ArcLearner[objectives.Objective, ArcScorer, GradientSum]):
    """The loss of all sentences under given weights, with the L2 penalty. Mutable; final.

    The penalty, half of ``l2`` times the squared norm of the weights, is that of AdaGrad. ``buckets``
    int64[k] are those of all features of all candidate arcs, ``last`` the last loss of all sentences.
    """

    def __init__(self, start: ArcScorer, support: Hashes | None = None, *, l2: float) -> None:
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

    Returns the best scorer on held-out data, or the last one. *Source*: Koo et al. 2007, 6.2; thesis A.4.
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
