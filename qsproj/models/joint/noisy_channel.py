"""Train a target parser as a noisy channel: its trees explain the source trees.

p(source tree, links | target tree, source words) p(target tree | target words). The source tree and the
links are children of the target tree: the second factor alone is a parser of text without a translation.

*Source*: thesis 5.3.2, figure 5.5 and eq. 5.1.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from qsproj.bp.run import Status, odds_of
from qsproj.conventions import Floats, Heads, Scores
from qsproj.models.joint.joint_graph import JointBeliefs, JointScores, infer_jointly
from qsproj.models.joint.joint_options import Propagation
from qsproj.models.joint.joint_structure import ALWAYS_TRUE, NO_VARIABLE, JointStructure, known_states
from qsproj.models.tree_decoder import TreeDecoder, arcs_in

# Messages are clipped to these log-odds; clipped ones, of near-certain arcs, pass no gradient back.
MAX_LOG_ODDS = 9.0
NO_FAMILY = -1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SourceEvidence:
    """Source arcs that count as seen, for the channel to generate."""

    chances: Scores  # float64[m+1, m+1]: probability of each arc
    heads: Heads | None = None  # int32[m+1]: the known tree
    # float64[m+1, m+1]: without ``heads``, arc scores, natural log; a tree drawn by them is the source's
    # (thesis: M).
    forest: Scores | None = None


def tree_evidence(heads: Heads) -> SourceEvidence:
    return SourceEvidence(chances=arcs_in(heads).astype(np.float64), heads=heads)


def forest_evidence(scores: Scores, trees: TreeDecoder) -> SourceEvidence:
    """Return the evidence that the source tree is one drawn by arc scores float64[m+1, m+1], natural log."""
    return SourceEvidence(chances=trees.infer(scores)[1], forest=scores)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SourceTreeLikelihood:
    """Negative log-probability of a source tree, or of one drawn from a forest, given the hidden target tree.

    The target parser's arc marginals are fixed messages into belief propagation over links and source tree.
    The derivative by such a message, a log-odds, is the belief in the arc with the source tree seen minus
    that without; it goes back to the marginals, and through covariances of arcs to the scores. It is a ratio
    of sums over target trees (docs/notes/noisy-channel.md).

    ``structure``: from :func:`channel_structure`, with a variable for each arc of ``seen``.

    *Source*: thesis 5.3.2; 3.2.4 and B.5 for the second derivative.
    """

    structure: JointStructure
    scores: JointScores
    seen: SourceEvidence
    target_trees: TreeDecoder
    propagation: Propagation
    statuses: Counter[Status] = field(default_factory=Counter)  # of all runs of belief propagation so far

    def value_and_gradient(self, scores: Scores) -> tuple[float, Scores]:
        """Return minus the log-beliefs of the seen source arcs in nats, and the gradient; counts statuses.

        The gradient float64[n+1, n+1] is of minus the log-probability of the evidence: exact where the graph
        is acyclic, zero after a contradiction.
        """
        marginals = self.target_trees.infer(scores)[1]
        free = self._beliefs(marginals)
        observed = self._beliefs(marginals, self.seen)
        agreeing = (free.source * self.seen.chances)[:, 1:].sum(axis=0)
        loss = float(-np.log(np.maximum(agreeing, 1e-12)).sum())
        statuses = (free.status, observed.status)
        self.statuses.update(statuses)
        if Status.CONTRADICTION in statuses:
            return loss, np.zeros_like(scores)
        slopes = free.target - observed.target
        arcs, values = self.structure.target.arcs != NO_VARIABLE, np.zeros_like(scores)
        chances = marginals[arcs]
        moving = np.abs(_messages(chances)) < MAX_LOG_ODDS
        values[arcs] = np.where(moving, slopes[arcs], 0.0) / np.where(moving, chances * (1.0 - chances), 1.0)
        return loss, self.target_trees.expect(scores, values)[1]

    def _beliefs(self, marginals: Scores, seen: SourceEvidence | None = None) -> JointBeliefs:
        arcs = self.structure.target.arcs != NO_VARIABLE
        factors = np.concatenate([self.scores.factors, _messages(marginals[arcs])])
        source = self.scores.source
        if seen is not None and seen.forest is not None:
            source = source + seen.forest
        scores = replace(self.scores, factors=factors, source=source)
        known = known_states(self.structure, source_heads=None if seen is None else seen.heads)
        return infer_jointly(self.structure, scores, known, self.propagation)


def channel_structure(structure: JointStructure) -> JointStructure:
    """Return the graph of a pair, and after its factors one for each target arc, scored by its message."""
    # The target's tree counts as observed: messages to it would go against the direction of the model.
    arcs = structure.target.arcs
    own = np.full((np.count_nonzero(arcs != NO_VARIABLE), 4), ALWAYS_TRUE, dtype=np.int32)
    own[:, 0] = arcs[arcs != NO_VARIABLE]
    families = np.concatenate([structure.families, np.full(len(own), NO_FAMILY, dtype=np.int8)])
    rows = np.concatenate([structure.rows, own])
    words = np.concatenate([structure.words, np.zeros_like(own)])
    target = replace(structure.target, trees=None)
    return replace(structure, target=target, families=families, rows=rows, words=words)


def _messages(chances: Floats) -> Floats:
    return np.clip(odds_of(chances), -MAX_LOG_ODDS, MAX_LOG_ODDS)
