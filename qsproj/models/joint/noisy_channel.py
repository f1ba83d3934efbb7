"""The noisy channel: a parser of the target learns from source trees that its own trees should explain.

p(source tree, links | target tree, source words) p(target tree | target words). The source tree and the
links are children of the target tree, so without them the second factor parses alone: what is learned is a
parser of target text that has no translation.

*Source*: thesis 5.3.2, figure 5.5 and eq. 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.odds import odds_of
from qsproj.bp.status import Status
from qsproj.conventions import Heads, Scores
from qsproj.models.joint.joint_inference import infer_jointly
from qsproj.models.joint.joint_options import Propagation
from qsproj.models.joint.joint_scores import JointBeliefs, JointScores
from qsproj.models.joint.joint_sides import ALWAYS_TRUE, NO_VARIABLE
from qsproj.models.joint.joint_structure import JointStructure, known_states
from qsproj.models.tree_inference import TreeInference

# A message beyond these log-odds is held there and passes no gradient back: the parser is sure.
MAX_LOG_ODDS = 9.0
NO_FAMILY = -1


class Explanation(NamedTuple):
    """How well target trees explain a source tree.

    Attributes
    ----------
    loss : float
        In nats; it stands for minus the log-probability of the source tree, which takes longer.
    gradient : float64[n+1, n+1]
        Of minus that log-probability; exact where the graph is acyclic, zero after a contradiction.
    statuses : (Status, Status)
        How the runs of belief propagation ended, without the source tree observed and with it.
    """

    loss: float
    gradient: Scores
    statuses: tuple[Status, Status]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SourceTreeLikelihood:
    """Negative log-probability of a source tree that the target tree, which is not known, gives rise to.

    The target parser's arc marginals are fixed messages into belief propagation over links and source tree.
    The derivative of the tree's log-probability by such a message, a log-odds, is what is believed of the arc
    with the source tree minus what is believed without. From there it goes back through the log-odds to the
    marginals, and through their derivatives by the arc scores, which are covariances of arcs (second
    derivatives of log Z).

    Attributes
    ----------
    structure : JointStructure
        Of the pair, with a source tree that is free; from :func:`channel_structure`.
    scores : JointScores
        Of all but the target's arcs, which are not read. Fixed: the channel itself is not learned here.
    source_heads : int32[m+1]
        The source tree that is taken as observed; ``structure`` has a variable for each of its arcs.
    source_trees, target_trees : TreeInference
        Which trees are possible.
    propagation : Propagation
        How long messages are passed.

    Notes
    -----
    That log-probability is a ratio of sums over target trees, each weighed by the target parser, not the mean
    over target trees of a ratio, which has no gradient by belief propagation (docs/notes/noisy-channel.md).

    *Source*: thesis 5.3.2; 3.2.4 and B.5 for the second derivative.
    """

    structure: JointStructure
    scores: JointScores
    source_heads: Heads
    source_trees: TreeInference
    target_trees: TreeInference
    propagation: Propagation

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        """Return loss and gradient as :meth:`explain` does."""
        return self.explain(scores)[:2]

    def explain(self, scores: Scores) -> Explanation:
        """Return minus the log-beliefs of the source tree's arcs, and a gradient by the target's arc scores.

        Parameters
        ----------
        scores : float64[n+1, n+1]
            Of the target's arcs, natural log.

        """
        marginals = self.target_trees.infer(scores)[1]
        free, clamped = (self._beliefs(marginals, heads) for heads in (None, self.source_heads))
        statuses = (free.status, clamped.status)
        words = np.arange(1, len(self.source_heads))
        loss = -np.log(np.maximum(free.source[self.source_heads[1:], words], 1e-12)).sum()
        if Status.CONTRADICTION in statuses:
            return Explanation(float(loss), np.zeros_like(scores), statuses)
        gradient = self._through_marginals(scores, marginals, free.target - clamped.target)
        return Explanation(float(loss), gradient, statuses)

    def _beliefs(self, marginals: Scores, source_heads: Heads | None) -> JointBeliefs:
        """Pass messages, with the source tree observed or not."""
        arcs = self.structure.target.arcs != NO_VARIABLE
        factors = np.concatenate([self.scores.factors, _messages(marginals[arcs])])
        return infer_jointly(
            self.structure,
            replace(self.scores, factors=factors),
            known_states(self.structure, source_heads=source_heads),
            source_trees=self.source_trees,
            target_trees=self.target_trees,
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


def channel_structure(structure: JointStructure) -> JointStructure:
    """Return the graph of a pair in which the target's arcs are booleans with fixed messages.

    Each target arc has a factor of its own, whose score is its message, after the factors of ``structure``.
    There is no factor for the target's tree, which counts as observed: messages to it would go against the
    direction of the model.
    """
    arcs = structure.target.arcs
    own = np.full((np.count_nonzero(arcs != NO_VARIABLE), 4), ALWAYS_TRUE, dtype=np.int32)
    own[:, 0] = arcs[arcs != NO_VARIABLE]
    return replace(
        structure,
        target=replace(structure.target, observed=True),
        families=np.concatenate([structure.families, np.full(len(own), NO_FAMILY, dtype=np.int8)]),
        rows=np.concatenate([structure.rows, own]),
        words=np.concatenate([structure.words, np.zeros_like(own)]),
    )


def _messages(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log-odds, held within MAX_LOG_ODDS."""
    held: NDArray[np.float64] = np.clip(odds_of(chances), -MAX_LOG_ODDS, MAX_LOG_ODDS)
    return held
