"""Training examples for arc weights: the trees that agree with a known one, their loss; and dev scores."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import MAX_WORDS, NO_HEAD, ROOT, Heads, Mask, Scores, is_whole
from qsproj.corpus.sentence import Sentence, has_tree
from qsproj.errors import UsageError
from qsproj.features.atoms import EncodedSentence
from qsproj.models.arc.arc_scorer import ArcExample, ArcScorer, ArcWeights, LossExample
from qsproj.models.arc.training_options import TrainingOptions, names_of, objective_named
from qsproj.models.parser import Parser
from qsproj.models.tree_decoder import TreeDecoder, arcs_in, has_several_roots, reachable
from qsproj.training import objectives
from qsproj.training.margins import ArcMargins, DualTree, Margins, TreeMargins

# Sharpness of the risk in each of the last epochs; cost of a wrong head in the likelihood before, in nats.
SHARPNESS = (1.0, 1.0, 1.5)
RISK_WEIGHT = 3.0

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
        return TreeMargins(self.heads, self.best, partial(self.inference.ranked, k=k), cost)

    def arc_margins(self) -> Margins:
        return ArcMargins(self.heads)

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
    return objective_named(options.objective).taught_by(right, options) if right else None


def tree_objective(
    heads: Heads, inference: TreeDecoder, name: str = "likelihood"
) -> objectives.Objective | None:
    """Return :func:`tree_loss` for the named objective; UsageError when it has no gradient."""
    loss = tree_loss(heads, inference, TrainingOptions(objective=name))
    if loss is not None and not isinstance(loss, objectives.Objective):
        raise UsageError(f"the objective {name} has no gradient; choose one that has")
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
    """Encode sentences that are not too long, with the entropy of their trees; may raise UsageError."""
    if sentences and "unlabelled" not in objective_named(options.objective).reads:
        beside = ", ".join(names_of(lambda one: "unlabelled" in one.reads))
        raise UsageError(f"unlabelled sentences require the objective {beside}, not {options.objective}")
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

    def score(parser: Parser) -> float:
        # ``parse`` refuses sentences without tags; training does not.
        return right_heads(dev, (sentence.heads for sentence in parser.parse_all(dev)))

    return score if dev else None


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
