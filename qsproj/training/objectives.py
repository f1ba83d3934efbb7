"""Losses of tree models as functions of the arc scores of one sentence.

Each objective is an object with ``value_and_gradient(scores) -> (loss, derivative by each arc score)``; the
loss is in nats unless stated. Inference is passed in, so that projective and non-projective models share
objectives: ``infer(scores) -> (log_z, marginals)`` with marginals float64[n+1, n+1].
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats, Heads, Mask, Numbers, Scores
from qsproj.kernels.features.label_features import sum_relations

Infer = Callable[[Scores], tuple[float, Scores]]
Expect = Callable[[Scores, Scores], tuple[float, Scores]]
UNKNOWN = -1


@runtime_checkable
class Objective(Protocol):
    """A loss of one sentence's arc scores."""

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        """Return the loss and its derivative float64[n+1, n+1] by every arc score."""


@dataclass(frozen=True, slots=True)
class TreeLikelihood:
    """Negative log-probability of one tree int32[n+1], with ``margin`` added to the score of wrong arcs.

    A margin of 0 is conditional log-likelihood; a positive one (natural log) is required per wrong arc.
    *Source*: thesis 3.2.3; the margin: Gimpel and Smith 2010, softmax-margin training of log-linear models.
    """

    heads: Heads
    infer: Infer
    margin: float = 0.0

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        arcs = self.heads[1:], np.arange(1, len(self.heads))
        right, handicapped = scores[arcs], scores + self.margin
        handicapped[arcs] = right
        log_z, marginals = self.infer(handicapped)
        gradient = marginals.copy()
        gradient[arcs] -= 1.0
        return log_z - float(right.sum()), gradient


@dataclass(frozen=True, slots=True)
class EvidenceLikelihood:
    """Negative log-probability of uncertain evidence for arcs, summed over all trees.

    ``evidence`` float64[n+1, n+1]: log-likelihood ratio of the observations with and without each arc, 0
    where nothing is known, -inf for an impossible arc. Without evidence, loss and gradient are 0. *Source*:
    virtual evidence (Pearl 1988, 2.2.2), summed over trees as hidden variables are in thesis 3.2.5.
    """

    evidence: Scores
    infer: Infer

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        log_z, marginals = self.infer(scores)
        seen_log_z, seen_marginals = self.infer(scores + self.evidence)
        return log_z - seen_log_z, marginals - seen_marginals


def partial_tree_likelihood(allowed: Mask, infer: Infer) -> EvidenceLikelihood:
    """Return the likelihood of the set of all trees within ``allowed`` bool[n+1, n+1], at least one.

    *Source*: thesis 3.2.5 (hidden variables), 4.6.3.3.
    """
    return EvidenceLikelihood(np.where(allowed, 0.0, -np.inf), infer)


@dataclass(frozen=True, slots=True)
class AboveBase:
    """An objective of the sum of scores and fixed ones, ``base`` float64[n+1, n+1]."""

    base: Scores
    objective: Objective

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        return self.objective.value_and_gradient(self.base + scores)


@dataclass(frozen=True, slots=True)
class Weighed:
    """An objective multiplied by ``weight``, 0 or more."""

    weight: float
    objective: Objective

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        loss, gradient = self.objective.value_and_gradient(scores)
        return self.weight * loss, self.weight * gradient


@dataclass(frozen=True, slots=True)
class Annealed:
    """An objective that is replaced by ``stages``, one per epoch from ``first`` on; the last stays."""

    objective: Objective
    first: int
    stages: tuple[Objective, ...]

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        return self.objective.value_and_gradient(scores)

    def in_epoch(self, epoch: int) -> Objective:
        return self.objective if epoch < self.first else self.stages[: epoch - self.first + 1][-1]


def weighed(weight: float, objective: Objective) -> Objective:
    if isinstance(objective, Annealed):
        stages = tuple(Weighed(weight, stage) for stage in objective.stages)
        return Annealed(Weighed(weight, objective.objective), objective.first, stages)
    return Weighed(weight, objective)


@dataclass(frozen=True, slots=True)
class CrossEntropy:
    """Cross-entropy against arc marginals ``target`` float64[n+1, n+1]; every column 1..n sums to one."""

    target: Scores
    infer: Infer

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        log_z, marginals = self.infer(scores)
        wanted = self.target > 0
        return log_z - float((scores[wanted] * self.target[wanted]).sum()), marginals - self.target


@dataclass(frozen=True, slots=True)
class LabelLikelihood:
    """Negative log-probability of words' labels int32[n], -1 for unknown, by scores float64[n, L]."""

    known: Numbers

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        words = np.flatnonzero(self.known >= 0)
        slopes = np.zeros_like(scores)
        log_probabilities = scores[words] - np.logaddexp.reduce(scores[words], axis=1, keepdims=True)
        slopes[words] = np.exp(log_probabilities)
        slopes[words, self.known[words]] -= 1.0
        return -float(log_probabilities[np.arange(len(words)), self.known[words]].sum()), slopes


def logistic_loss(log_odds: Floats, outcomes: Mask) -> tuple[float, Floats]:
    """Return the loss of yes-or-no outcomes bool[n], and its derivatives; infinite odds are fixed."""
    decided = np.isfinite(log_odds)
    probability = 1.0 / (1.0 + np.exp(-log_odds))
    gradient = np.where(decided, probability - outcomes, 0.0)
    signed = np.where(outcomes, -log_odds, log_odds)[decided]
    return float(np.logaddexp(0.0, signed).sum()), gradient


@dataclass(frozen=True, slots=True)
class Mistakes:
    """The perceptron loss: the score of the best tree minus that of the gold tree (Collins 2002)."""

    right: Callable[[Scores], Heads]
    best: Callable[[Scores], Heads]

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        gradient, words = np.zeros_like(scores), np.arange(1, len(scores))
        gradient[self.best(scores)[1:], words] += 1.0
        gradient[self.right(scores)[1:], words] -= 1.0
        moved = gradient != 0.0
        return float((gradient[moved] * scores[moved]).sum()), gradient


@dataclass(frozen=True, slots=True)
class Risk:
    """Expected number of wrong heads (not in nats), compared with int32[n+1].

    Scores are multiplied by ``sharpness``: below 1, the risk is smoother; far above, it approaches the number
    of wrong heads of the best tree. *Source*: thesis 3.2.4, A.8; sharpness: Smith and Eisner 2006.
    """

    heads: Heads
    expect: Expect
    sharpness: float = 1.0

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        wrong = np.ones_like(scores)
        wrong[self.heads[1:], np.arange(1, len(self.heads))] = 0.0
        risk, slopes = self.expect(self.sharpness * scores, wrong)
        return risk, self.sharpness * slopes


@dataclass(frozen=True, slots=True)
class Entropy:
    """Entropy of the distribution over trees, in nats, as a loss (thesis A.10; Smith and Eisner 2007)."""

    infer: Infer
    expect: Expect

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        log_z, _ = self.infer(scores)
        expected, covariances = self.expect(scores, scores)
        return log_z - expected, -covariances


@dataclass(frozen=True, slots=True, eq=False)
class LabelledScores:
    """Scores of labelled arcs, natural log: ``arcs[head, dependent] + relations[k, relation]``.

    ``arcs`` float64[n+1, n+1]; column 0 and the diagonal are not read. ``heads``, ``dependents`` int32[k]:
    the possible arcs. ``relations`` float64[k, L]: -inf for impossible ones, not all of a row.
    """

    arcs: Scores
    heads: Numbers
    dependents: Numbers
    relations: Floats

    def summed(self) -> tuple[Scores, Floats]:
        """Return float64[n+1, n+1] with relations summed out, and their probabilities float64[k, L]."""
        summed, chances = np.empty_like(self.arcs), np.empty_like(self.relations)
        sum_relations(self.arcs, self.heads, self.dependents, self.relations, summed, chances)
        return summed, chances

    def tempered(self, temperature: float) -> "LabelledScores":
        arcs, relations = self.arcs / temperature, self.relations / temperature
        return LabelledScores(arcs, self.heads, self.dependents, relations)

    def maximised(self) -> Scores:
        """Return float64[n+1, n+1], the score of the best relation of each arc, -inf where there is none."""
        scores, ends = np.full_like(self.arcs, -np.inf), (self.heads, self.dependents)
        scores[ends] = self.arcs[ends] + self.relations.max(axis=1)
        return scores


@dataclass(frozen=True, slots=True, eq=False)
class LabelledTree:
    """The loss of one labelled tree, whole or partial, in nats.

    The probability of a labelled tree is that of its tree times that of each relation given its arc. So its
    loss is ``objective`` under arc scores that sum over relations, plus that of a softmax for each arc.
    ``heads`` int32[n+1] are -1 where missing; UNKNOWN ``relations`` int64[n+1] are summed over. ``margin`` is
    added to the scores of wrong relations of gold arcs in training. *Source*: Koo, Globerson, Carreras and
    Collins 2007, 3.4 (labelled trees, marginals by the chain rule).
    """

    objective: Objective
    heads: Heads
    relations: NDArray[np.int64]
    margin: float = 0.0

    def value_and_gradient(self, scores: LabelledScores) -> tuple[float, Scores, Floats]:
        """Return the loss, its derivatives by ``arcs`` and ``relations``, which must allow the tree."""
        heads, dependents = scores.heads, scores.dependents
        known = (self.heads[dependents] == heads) & (self.relations[dependents] != UNKNOWN)
        right = np.flatnonzero(known)
        wanted = self.relations[dependents[right]]
        handicapped = scores.relations.copy()
        handicapped[right] += self.margin
        handicapped[right, wanted] = scores.relations[right, wanted]
        summed, chances = LabelledScores(scores.arcs, heads, dependents, handicapped).summed()
        loss, arc_slopes = self.objective.value_and_gradient(summed)
        slopes = arc_slopes[heads, dependents][:, None] * chances
        slopes[right] += chances[right]
        slopes[right, wanted] -= 1.0
        # In logs, since probabilities may underflow.
        loss += float((np.logaddexp.reduce(handicapped[right], axis=1) - handicapped[right, wanted]).sum())
        return loss, arc_slopes, slopes
