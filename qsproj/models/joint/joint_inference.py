"""Belief propagation over a sentence pair: from scores to what is believed of trees and alignment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.beliefs import Beliefs, log_odds
from qsproj.bp.odds import probability
from qsproj.bp.run import run
from qsproj.conventions import Scores
from qsproj.features.joint_templates import JUMP_SCORES
from qsproj.models.joint.joint_graph import JointGraph, is_free, joint_graph
from qsproj.models.joint.joint_options import Propagation
from qsproj.models.joint.joint_scores import FamilyScores, JointBeliefs, JointScores
from qsproj.models.joint.joint_sides import NO_VARIABLE, Side
from qsproj.models.joint.joint_structure import TRUE_STATE, UNKNOWN, JointStructure
from qsproj.models.joint.tags.variables import TagScores
from qsproj.models.tree_inference import TreeInference


def infer_jointly(
    structure: JointStructure,
    scores: JointScores,
    known: NDArray[np.int8],
    *,
    source_trees: TreeInference,
    target_trees: TreeInference,
    propagation: Propagation,
) -> JointBeliefs:
    """Lay out the graph of a pair and pass messages over it.

    ``known`` int8[V]: from :func:`~qsproj.models.joint.joint_structure.known_states`.
    """
    graph = joint_graph(structure, known, source_trees=source_trees, target_trees=target_trees)
    return pass_messages(graph, scores, propagation)


def pass_messages(graph: JointGraph, scores: JointScores, propagation: Propagation) -> JointBeliefs:
    """Pass messages over the graph of a pair."""
    structure, known = graph.structure, graph.known
    beliefs = run(graph.with_scores(scores), propagation.passing())
    factors = np.zeros(len(structure.rows))
    factors[graph.fixed] = 1.0
    for chosen, firing in zip(graph.joining, _expected(graph, "factors", beliefs), strict=True):
        factors[chosen] = firing
    return JointBeliefs(
        source=_arc_probabilities(structure.source, beliefs, known),
        target=_arc_probabilities(structure.target, beliefs, known),
        links=probability(log_odds(beliefs, structure.link_variables)),
        fertility=_expected(graph, "fertility", beliefs)[0],
        factors=factors,
        status=beliefs.status,
        iterations=len(beliefs.residuals),
        jumps=np.array(_expected(graph, "jumps", beliefs)).reshape(-1, JUMP_SCORES),
        target_factors=_second_order(graph, beliefs),
        tags=_tags(graph, beliefs),
    )


def _expected(graph: JointGraph, name: str, beliefs: Beliefs) -> list[NDArray[np.float64]]:
    """Return what the groups of one part of the graph expect of their scores."""
    part = graph.parts[name]
    heard = zip(beliefs.graph.groups[part], beliefs.incoming[part], strict=True)
    return [group.expected(incoming) for group, incoming in heard]


def _tags(graph: JointGraph, beliefs: Beliefs) -> TagScores | None:
    """Return what is believed of TAG variables and their factors, where there are any."""
    if graph.tags is None:
        return None
    arcs = _probabilities(beliefs, graph.tags.tags.arcs, graph.known)
    links = probability(log_odds(beliefs, graph.tags.link_variables))
    return graph.tags.expected(_expected(graph, "tags", beliefs), arcs, links)


def _second_order(graph: JointGraph, beliefs: Beliefs) -> FamilyScores:
    """Return what is believed of the second-order factors over target arcs."""
    target, part = graph.structure.target, graph.parts["target families"]
    if not is_free(target, graph.known):
        return () if target.observed else graph.decided(target.families)
    heard = zip(target.families, beliefs.graph.groups[part], beliefs.incoming[part], strict=True)
    return tuple(family.expected(group, incoming) for family, group, incoming in heard)


def _arc_probabilities(side: Side, beliefs: Beliefs, known: NDArray[np.int8]) -> Scores:
    """Return the probability of every arc of a side, 0 where it has no variable."""
    chances = np.zeros(side.arcs.shape)
    arcs = side.arcs != NO_VARIABLE
    chances[arcs] = _probabilities(beliefs, side.arcs[arcs], known)
    return chances


def _probabilities(
    beliefs: Beliefs, variables: NDArray[np.int32], known: NDArray[np.int8]
) -> NDArray[np.float64]:
    """Return the probabilities of some booleans, 1 or 0 where they are known."""
    states = known[variables]
    found: NDArray[np.float64] = np.where(
        states == UNKNOWN, probability(log_odds(beliefs, variables)), states == TRUE_STATE
    )
    return found
