"""Lessons of trees for arc weights, and the dev score of all parsers."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import MAX_WORDS, NO_HEAD, ROOT, Heads, Mask, Scores
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.features.atoms import EncodedSentence
from qsproj.models.arc.arc_learners import DualExample, MarginExample
from qsproj.models.arc.arc_scorer import ArcExample, ArcScorer, ArcWeights
from qsproj.models.arc.training_options import TrainingOptions, names_of, objective_named
from qsproj.models.storage import Parser, parse_each
from qsproj.models.tree_inference import TreeInference, agreeing_arcs, is_whole, reachable
from qsproj.training import objectives
from qsproj.training.margins import ArcMargins, DualTree, Margins, TreeMargins

# How sharp the risk is in each of the last epochs of its training, and what a wrong head costs in nats of the
# likelihood before.
SHARPNESS = (1.0, 1.0, 1.5)
RISK_WEIGHT = 3.0

# What the right trees of a sentence teach: a loss of its scores, margins of these, or a distribution.
Lesson = objectives.Objective | Margins | DualTree
Example = ArcExample | MarginExample | DualExample


def why_unusable(sentence: Sentence) -> str | None:
    """Say why nothing can be learned from a sentence: too many words, or no head; None otherwise."""
    if len(sentence) > MAX_WORDS:
        return f"more than {MAX_WORDS} words"
    return "no head given" if np.all(sentence.heads[1:] == NO_HEAD) else None


def usable_sentences(sentences: Iterable[Sentence]) -> tuple[list[Sentence], dict[str, int]]:
    judged = [(sentence, why_unusable(sentence)) for sentence in sentences]
    skipped = Counter(reason for _, reason in judged if reason)
    return [sentence for sentence, reason in judged if not reason], dict(skipped)


@dataclass(frozen=True, slots=True, eq=False)
class RightTrees:
    """The trees that agree with a whole or partial one, among those that a model can build; at least one.

    ``heads`` int32[n+1]: those that are known, or those of the nearest tree that the model can build.
    ``allowed`` bool[n+1, n+1]: the arcs of these trees.
    """

    heads: Heads
    allowed: Mask
    inference: TreeInference

    @property
    def whole(self) -> bool:
        return is_whole(self.heads)

    def best(self, scores: Scores) -> Heads:
        return self.heads if self.whole else self.inference.best(np.where(self.allowed, scores, -np.inf))

    def likelihood(self, margin: float = 0.0) -> objectives.Objective:
        """Return the loss of these trees, of a whole one with a margin for each wrong arc."""
        if self.whole:
            return objectives.TreeLikelihood(self.heads, self.inference.infer, margin)
        return objectives.PartialTreeLikelihood(self.allowed, self.inference.infer)

    def annealed_risk(self, epochs: int) -> objectives.Objective:
        """Return the likelihood, and in the last of some epochs ever sharper risk; of partial trees no risk.

        Risk alone, from weights of zero, ends in a bad local optimum: 78.0 UAS on Danish, likelihood 80.5.
        """
        if not self.whole:
            return self.likelihood()
        risks = (objectives.Risk(self.heads, self.inference.expect, sharpness) for sharpness in SHARPNESS)
        stages = tuple(objectives.Weighed(RISK_WEIGHT, risk) for risk in risks)
        return objectives.Annealed(self.likelihood(), max(epochs - len(SHARPNESS), 1), stages)

    def mistakes(self) -> objectives.Objective:
        return objectives.Mistakes(self.best, self.inference.best)

    def margins(self, *, k: int, cost: float = 0.0) -> Margins:
        """Return margins against the k best trees, found with every wrong arc scoring ``cost`` more."""
        return TreeMargins(self.heads, self.best, partial(self.inference.ranked, k=k), cost)

    def arc_margins(self) -> Margins:
        return ArcMargins(self.heads)

    def distribution(self) -> DualTree | None:
        """Return a distribution over trees for exponentiated gradient; None of a partial tree."""
        return DualTree(self.heads, self.inference.infer) if self.whole else None


def right_trees(heads: Heads, inference: TreeInference) -> RightTrees | None:
    """Return the trees that agree with heads int32[n+1]; None when the model can build none."""
    heads = reachable(heads, inference)
    allowed = agreeing_arcs(heads, inference)
    roots = np.count_nonzero(heads[1:] == ROOT)
    if inference.single_root and roots:
        if is_whole(heads) and roots != 1:
            return None
        allowed[ROOT, heads != ROOT] = False
    possible = is_whole(heads) or inference.admits(allowed)
    return RightTrees(heads, allowed, inference) if possible else None


def tree_objective(
    heads: Heads, inference: TreeInference, name: str = "likelihood"
) -> objectives.Objective | None:
    """Return the objective, by its name, of heads int32[n+1]; None when the model can build no such tree.

    UsageError when it is no loss with a gradient.
    """
    right = right_trees(heads, inference)
    lesson = right and objective_named(name).taught_by(right, TrainingOptions(objective=name))
    if lesson is not None and not isinstance(lesson, objectives.Objective):
        raise UsageError(f"the objective {name} has no gradient; choose one that has")
    return lesson


def tree_examples(
    sentences: Iterable[Sentence], scorer: ArcWeights, inference: TreeInference, *, objective: str
) -> list[ArcExample | None]:
    losses = ((sentence, tree_objective(sentence.heads, inference, objective)) for sentence in sentences)
    return [ArcExample(scorer.encode(sentence), loss) if loss else None for sentence, loss in losses]


def training_examples(
    sentences: Iterable[Sentence], scorer: ArcScorer, inference: TreeInference, options: TrainingOptions
) -> list[Example | None]:
    """Encode sentences, each with what the objective makes of its tree; None where it teaches nothing."""
    objective = objective_named(options.objective)
    examples: list[Example | None] = []
    for sentence in sentences:
        right = right_trees(sentence.heads, inference)
        lesson = right and objective.taught_by(right, options)
        examples.append(_example(scorer.encode(sentence), lesson) if lesson else None)
    return examples


def _example(encoded: EncodedSentence, lesson: Lesson) -> Example:
    if isinstance(lesson, DualTree):
        return DualExample(encoded, lesson)
    return MarginExample(encoded, lesson) if isinstance(lesson, Margins) else ArcExample(encoded, lesson)


def weighed_example(example: Example, weight: float, options: TrainingOptions) -> ArcExample:
    """Return the example, counting ``weight`` times; UsageError where it has no gradient."""
    if not isinstance(example, ArcExample):
        raise UsageError(
            f"sentences that count more or less need an objective with a gradient, not {options.objective}"
        )
    return ArcExample(example.encoded, objectives.weighed(weight, example.objective))


def entropy_examples(
    sentences: Sequence[Sentence], scorer: ArcScorer, inference: TreeInference, options: TrainingOptions
) -> list[ArcExample]:
    """Encode sentences without trees, each with the entropy of its trees, but for those that are too long.

    UsageError when there are some, and the objective is no loss in nats.
    """
    if sentences and "unlabelled" not in objective_named(options.objective).reads:
        beside = ", ".join(names_of(lambda one: "unlabelled" in one.reads))
        raise UsageError(f"unlabelled sentences are learned from beside {beside}, not {options.objective}")
    entropy = objectives.Weighed(options.entropy, objectives.Entropy(inference.infer, inference.expect))
    return [ArcExample(scorer.encode(one), entropy) for one in sentences if len(one) <= MAX_WORDS]


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
        return right_heads(dev, (sentence.heads for sentence in parse_each(parser, dev)))

    return score


def scorer_score(
    dev: Sequence[Sentence],
    encode: Callable[[Sentence], EncodedSentence],
    inference: TreeInference,
    *,
    decode: str = "mbr",
) -> Callable[[ArcWeights], float] | None:
    """Return what scores arc weights by right heads on held-out trees; None where there are none."""
    if not dev:
        return None
    encoded = [encode(sentence) for sentence in dev]

    def score(scorer: ArcWeights) -> float:
        matrices = (scorer.scores(scorer.features(one)) for one in encoded)
        return right_heads(dev, (inference.decode(matrix, decode) for matrix in matrices))

    return score


def check_finite(*scores: NDArray[Any]) -> None:
    """Raise UsageError when a score is NaN or infinite: training has diverged."""
    if not all(np.isfinite(values).all() for values in scores):
        raise UsageError("training has diverged: a score is NaN or infinite; raise --l2")
