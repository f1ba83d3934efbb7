"""Trees made into what arc weights are learned from, and what all trainers of parsers do with trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import MAX_WORDS, NO_HEAD, ROOT, Heads, Scores
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.features.atoms import EncodedSentence
from qsproj.models.arc.arc_scorer import AnnealedExample, ArcExample, ArcScorer
from qsproj.models.arc.exponentiated_trainer import DualExample
from qsproj.models.arc.margin_trainer import MarginExample
from qsproj.models.storage import BlockParser, Parser
from qsproj.models.tree_inference import TreeInference, agreeing_arcs, is_whole, reachable
from qsproj.training.exponentiated_gradient import DualTree
from qsproj.training.margins import ArcMargins, Margins, TreeMargins
from qsproj.training.objectives import (
    Entropy,
    Mistakes,
    Objective,
    PartialTreeLikelihood,
    Risk,
    TreeLikelihood,
    Weighed,
)

# How sharp the risk is in each of the last epochs of its training, and what a wrong head costs in nats of the
# likelihood before.
SHARPNESS = (1.0, 1.0, 1.5)
RISK_WEIGHT = 3.0

Lesson = TypeVar("Lesson")
Example = TypeVar("Example")
# The margins of a tree; None when no possible tree agrees with it.
MarginsOf = Callable[[Heads, TreeInference], Margins | None]

# How much more a wrong arc scores in training with the objective ``margin``, natural log. On the dev files of
# English, Greek, Hungarian and Turkish 1 gave 0.1 to 0.25 UAS over none, 2 hardly more, and worse
# probabilities.
MARGIN = 1.0


def why_unusable(sentence: Sentence) -> str | None:
    """Say why nothing can be learned from a sentence: too many words, or no head; None otherwise."""
    if len(sentence) > MAX_WORDS:
        return f"more than {MAX_WORDS} words"
    return "no head given" if np.all(sentence.heads[1:] == NO_HEAD) else None


def usable_sentences(sentences: Iterable[Sentence]) -> tuple[list[Sentence], dict[str, int]]:
    """Leave out unusable sentences, and count them by the reason."""
    judged = [(sentence, why_unusable(sentence)) for sentence in sentences]
    skipped = Counter(reason for _, reason in judged if reason)
    return [sentence for sentence, reason in judged if not reason], dict(skipped)


def agreeing_trees(heads: Heads, inference: TreeInference) -> NDArray[np.bool_] | None:
    """Return the arcs of the trees that agree with a whole or partial one that is reachable.

    Parameters
    ----------
    heads : int32[n+1]
        As :func:`~qsproj.models.tree_inference.reachable` returns them.

    Returns
    -------
    bool[n+1, n+1] or None
        None when the model can build no such tree.
    """
    allowed = agreeing_arcs(heads, inference)
    if inference.single_root and np.any(heads[1:] == ROOT):
        if is_whole(heads) and np.count_nonzero(heads[1:] == ROOT) != 1:
            return None
        allowed[ROOT, heads != ROOT] = False
    return allowed if is_whole(heads) or inference.admits(allowed) else None


@dataclass(frozen=True, slots=True, eq=False)
class RightTrees:
    """The trees that agree with a whole or partial one, among those that a model can build; at least one.

    Attributes
    ----------
    heads : int32[n+1]
        Those that are known, or those of the nearest tree that the model can build.
    allowed : bool[n+1, n+1]
        The arcs of these trees.
    inference : TreeInference
    """

    heads: Heads
    allowed: NDArray[np.bool_]
    inference: TreeInference

    @property
    def whole(self) -> bool:
        """Whether all heads are known."""
        return is_whole(self.heads)

    def best(self, scores: Scores) -> Heads:
        """Return the best of these trees under some scores."""
        return self.heads if self.whole else self.inference.best(np.where(self.allowed, scores, -np.inf))


def right_trees(heads: Heads, inference: TreeInference) -> RightTrees | None:
    """Return the trees that agree with heads int32[n+1]; None when the model can build none."""
    heads = reachable(heads, inference)
    allowed = agreeing_trees(heads, inference)
    return None if allowed is None else RightTrees(heads, allowed, inference)


def tree_objective(heads: Heads, inference: TreeInference, name: str) -> Objective | None:
    """Return the objective of one whole or partial tree, or of the nearest one that the model can build.

    Parameters
    ----------
    heads : int32[n+1]
    name : str
        ``margin``, ``likelihood``, ``risk`` or ``perceptron``; see
        :class:`~qsproj.models.arc.training_options.TrainingOptions`.

    Returns
    -------
    Objective or None
        None when no possible tree agrees with it.
    """
    right = right_trees(heads, inference)
    if right is None:
        return None
    if name == "perceptron":
        return Mistakes(right.best, inference.best)
    if not right.whole:
        return PartialTreeLikelihood(right.allowed, inference.infer)
    if name == "risk":
        return Risk(right.heads, inference.expect)
    return TreeLikelihood(right.heads, inference.infer, MARGIN if name == "margin" else 0.0)


def tree_margins(heads: Heads, inference: TreeInference, *, k: int, cost: float = 0.0) -> Margins | None:
    """Return the margins of one whole or partial tree, or of the nearest one that the model can build.

    Parameters
    ----------
    heads : int32[n+1]
    k : int
        How many of the best trees it is to win against.
    cost : float
        How much more every wrong arc scores while these are looked for.

    Returns
    -------
    Margins or None
        None when no possible tree agrees with it.
    """
    right = right_trees(heads, inference)
    return TreeMargins(right.heads, right.best, partial(inference.ranked, k=k), cost) if right else None


def arc_margins(heads: Heads, inference: TreeInference) -> Margins | None:
    """As :func:`tree_margins`, of each known arc against all others into the same word."""
    right = right_trees(heads, inference)
    return ArcMargins(right.heads) if right else None


def _examples(
    kind: Callable[[EncodedSentence, Lesson], Example],
    lesson_of: Callable[[Heads], Lesson | None],
    sentences: Iterable[Sentence],
    scorer: ArcScorer,
) -> list[Example | None]:
    """Encode sentences, each with the lesson of its tree; None where it has none."""
    lessons = ((sentence, lesson_of(sentence.heads)) for sentence in sentences)
    return [kind(scorer.encode(sentence), lesson) if lesson else None for sentence, lesson in lessons]


def tree_examples(
    sentences: Iterable[Sentence], scorer: ArcScorer, inference: TreeInference, *, objective: str
) -> list[ArcExample | None]:
    """Encode sentences, each with the objective of its tree; None as of :func:`tree_objective`."""
    return _examples(ArcExample, lambda heads: tree_objective(heads, inference, objective), sentences, scorer)


def annealed_examples(
    sentences: Iterable[Sentence], scorer: ArcScorer, inference: TreeInference, *, epochs: int
) -> list[ArcExample | None]:
    """Encode sentences, each with the likelihood of its tree, and in the last epochs with ever sharper risk.

    Risk alone, from weights of zero, ends in a bad local optimum: 78.0 UAS on Danish, likelihood 80.5.

    Parameters
    ----------
    epochs : int
        How often each sentence will be visited.
    """
    likelihoods = tree_examples(sentences, scorer, inference, objective="likelihood")
    first = max(epochs - len(SHARPNESS), 1)
    examples: list[ArcExample | None] = []
    for example in likelihoods:
        if example is not None and isinstance(tree := example.objective, TreeLikelihood):
            risks = (Risk(tree.heads, inference.expect, sharpness) for sharpness in SHARPNESS)
            stages = tuple(Weighed(RISK_WEIGHT, risk) for risk in risks)
            example = AnnealedExample(example.encoded, tree, first, stages)
        examples.append(example)
    return examples


def entropy_examples(
    sentences: Iterable[Sentence], scorer: ArcScorer, inference: TreeInference, *, weight: float
) -> list[ArcExample]:
    """Encode sentences without trees, each with the entropy of its trees, which counts ``weight`` times."""
    entropy = Weighed(weight, Entropy(inference.infer, inference.expect))
    return [ArcExample(scorer.encode(sentence), entropy) for sentence in sentences]


def margin_examples(
    sentences: Iterable[Sentence], scorer: ArcScorer, inference: TreeInference, *, margins_of: MarginsOf
) -> list[MarginExample | None]:
    """Encode sentences, each with the margins of its tree; None where it has none."""
    return _examples(MarginExample, lambda heads: margins_of(heads, inference), sentences, scorer)


def dual_examples(
    sentences: Iterable[Sentence], scorer: ArcScorer, inference: TreeInference
) -> list[DualExample | None]:
    """Encode sentences, each with a distribution over trees; None where a head is missing or impossible."""

    def distribution(heads: Heads) -> DualTree | None:
        right = right_trees(heads, inference)
        return DualTree(right.heads, inference.infer) if right and right.whole else None

    return _examples(DualExample, distribution, sentences, scorer)


def right_heads(sentences: Sequence[Sentence], trees: Iterable[Heads]) -> float:
    """Return the percentage of right heads in trees int32[n+1], among the words whose head is given."""
    right = total = 0
    for sentence, heads in zip(sentences, trees, strict=True):
        known = sentence.heads[1:] != NO_HEAD
        right += int(((heads == sentence.heads)[1:] & known).sum())
        total += int(known.sum())
    return 100.0 * right / max(total, 1)


def dev_score(dev: Sequence[Sentence]) -> Callable[[Parser], float] | None:
    """Return what scores a parser by its right heads on held-out trees; None where there are none."""
    if not dev:
        return None

    def score(parser: Parser) -> float:
        # Not by ``parse`` where it refuses a sentence without tags: training does not.
        parsed = parser.parse_all(dev) if isinstance(parser, BlockParser) else map(parser.parse, dev)
        return right_heads(dev, (sentence.heads for sentence in parsed))

    return score


def check_finite(*scores: NDArray[Any]) -> None:
    """Raise UsageError when a score is NaN or infinite: training has diverged."""
    if not all(np.isfinite(values).all() for values in scores):
        raise UsageError("training has diverged: a score is NaN or infinite; raise --l2")
