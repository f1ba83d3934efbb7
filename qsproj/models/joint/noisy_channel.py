"""The noisy channel: a parser of the target learns from source trees that its own trees should explain.

p(source tree, links | target tree, source words) p(target tree | target words). The source tree and the
links are children of the target tree, so without them the second factor parses alone: what is learned is a
parser of target text that has no translation.

*Source*: thesis 5.3.2, figure 5.5 and eq. 5.1.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from qsproj.bp.run import Status, odds_of
from qsproj.conventions import Floats, Heads, Scores
from qsproj.models.joint.joint_graph import JointBeliefs, JointScores, infer_jointly
from qsproj.models.joint.joint_options import Propagation
from qsproj.models.joint.joint_structure import ALWAYS_TRUE, NO_VARIABLE, JointStructure, known_states
from qsproj.models.tree_decoder import TreeDecoder, arcs_in, of_tree

# A message beyond these log-odds is held there and passes no gradient back: the parser is sure.
MAX_LOG_ODDS = 9.0
NO_FAMILY = -1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SourceEvidence:
    """Source arcs that are taken as seen, for the channel to generate.

    ``chances`` float64[m+1, m+1]: probability of each arc. ``heads`` int32[m+1] or None: the tree, where it
    is known; else ``forest`` float64[m+1, m+1]: scores of arcs, natural log, a tree drawn by which is the
    source tree (the agreement variable M of the thesis). ``weight``: among other such evidence; weights sum
    to one.
    """

    chances: Scores
    heads: Heads | None = None
    forest: Scores | None = None
    weight: float = 1.0


def tree_evidence(heads: Heads, *, weight: float = 1.0) -> SourceEvidence:
    return SourceEvidence(chances=arcs_in(heads).astype(np.float64), heads=heads, weight=weight)


def forest_evidence(scores: Scores, trees: TreeDecoder) -> SourceEvidence:
    """Return as seen that the source tree is one drawn by arc scores float64[m+1, m+1], natural log."""
    return SourceEvidence(chances=trees.infer(scores)[1], forest=scores)


def ranked_evidence(scores: Scores, trees: TreeDecoder, k: int) -> tuple[SourceEvidence, ...]:
    """Return the k best trees by arc scores float64[m+1, m+1], each as probable as it is among these."""
    ranked = trees.ranked(scores, k)
    sums = np.array([of_tree(scores, heads).sum() for heads in ranked])
    weights = np.exp(sums - sums.max())
    return tuple(
        tree_evidence(heads, weight=float(weight))
        for heads, weight in zip(ranked, weights / weights.sum(), strict=True)
    )


class Explanation(NamedTuple):
    """Loss in nats, its gradient float64[n+1, n+1], and how the runs of belief propagation ended.

    The gradient is of minus the log-probability of what is seen: exact where the graph is acyclic, zero after
    a contradiction. The first status is of the run with nothing seen.
    """

    loss: float
    gradient: Scores
    statuses: tuple[Status, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SourceTreeLikelihood:
    """Negative log-probability of a source tree that the target tree, which is not known, gives rise to.

    Of several trees it is the mean, by their weights; of a forest, the negative log-probability that the
    source tree is one drawn from it. The forest's scores then join those of the source's arcs.

    The target parser's arc marginals are fixed messages into belief propagation over links and source tree.
    The derivative of the log-probability by such a message, a log-odds, is what is believed of the arc with
    the source tree seen minus what is believed without. From there it goes back through the log-odds to the
    marginals, and through their derivatives by the arc scores, which are covariances of arcs.

    ``structure``: from :func:`channel_structure`, with a variable for each arc of ``seen``. ``scores``: of
    all but the target's arcs; the channel itself is not learned here.

    That log-probability is a ratio of sums over target trees, each weighed by the target parser, not the mean
    over target trees of a ratio, which has no gradient by belief propagation (docs/notes/noisy-channel.md).

    *Source*: thesis 5.3.2; 3.2.4 and B.5 for the second derivative.
    """

    structure: JointStructure
    scores: JointScores
    seen: tuple[SourceEvidence, ...]
    target_trees: TreeDecoder
    propagation: Propagation

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        return self.explain(scores)[:2]

    def explain(self, scores: Scores) -> Explanation:
        """Return minus the log-beliefs of the source arcs that are seen, and the gradient."""
        marginals = self.target_trees.infer(scores)[1]
        free = self._beliefs(marginals)
        observed = [self._beliefs(marginals, own) for own in self.seen]
        statuses = (free.status, *(own.status for own in observed))
        loss = sum(own.weight * _cost(free.source, own.chances) for own in self.seen)
        if Status.CONTRADICTION in statuses:
            return Explanation(loss, np.zeros_like(scores), statuses)
        target = sum(own.weight * beliefs.target for own, beliefs in zip(self.seen, observed, strict=True))
        return Explanation(loss, self._through_marginals(scores, marginals, free.target - target), statuses)

    def _beliefs(self, marginals: Scores, seen: SourceEvidence | None = None) -> JointBeliefs:
        arcs = self.structure.target.arcs != NO_VARIABLE
        factors = np.concatenate([self.scores.factors, _messages(marginals[arcs])])
        source = self.scores.source
        if seen is not None and seen.forest is not None:
            source = source + seen.forest
        return infer_jointly(
            self.structure,
            replace(self.scores, factors=factors, source=source),
            known_states(self.structure, source_heads=None if seen is None else seen.heads),
            propagation=self.propagation,
        )

    def _through_marginals(self, scores: Scores, marginals: Scores, slopes: Scores) -> Scores:
        """Take derivatives by messages back to derivatives by arc scores."""
        arcs = self.structure.target.arcs != NO_VARIABLE
        values = np.zeros_like(scores)
        chances = marginals[arcs]
        moving = np.abs(_messages(chances)) < MAX_LOG_ODDS
        values[arcs] = np.where(moving, slopes[arcs], 0.0) / np.where(moving, chances * (1.0 - chances), 1.0)
        return self.target_trees.expect(scores, values)[1]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ExpectedMatches(SourceTreeLikelihood):
    """Minus the expected number of source arcs that are as seen, in place of the log-probability of all.

    The derivative of this number by a message is that of the belief in the target arc by a tilt of the source
    scores towards the arcs seen: both are the same second derivative of log Z. Two runs, tilted by ``step``
    either way, give it up to the square of the step.

    *Source*: thesis 5.3.2, which names it.
    """

    step: float = 0.1

    def explain(self, scores: Scores) -> Explanation:
        marginals = self.target_trees.infer(scores)[1]
        free = self._beliefs(marginals)
        loss, slopes, statuses = 0.0, np.zeros_like(free.target), [free.status]
        for own in self.seen:
            tilts = (sign * self.step * own.chances for sign in (1.0, -1.0))
            tilted = [self._beliefs(marginals, replace(own, heads=None, forest=tilt)) for tilt in tilts]
            loss -= own.weight * float((free.source * own.chances)[:, 1:].sum())
            slopes += own.weight * (tilted[1].target - tilted[0].target) / (2.0 * self.step)
            statuses += [one.status for one in tilted]
        if Status.CONTRADICTION in statuses:
            return Explanation(loss, np.zeros_like(scores), tuple(statuses))
        return Explanation(loss, self._through_marginals(scores, marginals, slopes), tuple(statuses))


def channel_structure(structure: JointStructure) -> JointStructure:
    """Return the graph of a pair in which each target arc has a factor whose score is its message.

    These come after the factors of ``structure``. The target's tree counts as observed, without a factor:
    messages to it would go against the direction of the model.
    """
    arcs = structure.target.arcs
    own = np.full((np.count_nonzero(arcs != NO_VARIABLE), 4), ALWAYS_TRUE, dtype=np.int32)
    own[:, 0] = arcs[arcs != NO_VARIABLE]
    return replace(
        structure,
        target=replace(structure.target, trees=None),
        families=np.concatenate([structure.families, np.full(len(own), NO_FAMILY, dtype=np.int8)]),
        rows=np.concatenate([structure.rows, own]),
        words=np.concatenate([structure.words, np.zeros_like(own)]),
    )


def _cost(beliefs: Scores, chances: Scores) -> float:
    """Return minus the log-probability, word by word, that the heads believed in are those of ``chances``."""
    agreeing = (beliefs * chances)[:, 1:].sum(axis=0)
    return float(-np.log(np.maximum(agreeing, 1e-12)).sum())


def _messages(chances: Floats) -> Floats:
    return np.clip(odds_of(chances), -MAX_LOG_ODDS, MAX_LOG_ODDS)
