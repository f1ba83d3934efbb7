"""Belief propagation over a sentence pair: from scores to what is believed of trees and alignment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.beliefs import Beliefs, log_odds
from qsproj.bp.factors.align_hmm import align_hmm
from qsproj.bp.factors.alignment import fertility, word_starts
from qsproj.bp.factors.any_pair import any_pair_sorted
from qsproj.bp.factors.link import link
from qsproj.bp.factors.pair import all_true
from qsproj.bp.factors.tree import projective_tree, tree
from qsproj.bp.graph import factor_graph
from qsproj.bp.group import FactorGroup
from qsproj.bp.odds import probability
from qsproj.bp.run import run
from qsproj.bp.status import Status
from qsproj.conventions import Scores
from qsproj.features.joint_templates import JUMP_SCORES
from qsproj.models.joint.joint_options import Propagation
from qsproj.models.joint.joint_sides import NO_VARIABLE, Side
from qsproj.models.joint.joint_structure import FALSE_STATE, TRUE_STATE, UNKNOWN, JointStructure, free_rows
from qsproj.models.joint.joint_synchronous import synchronous_groups
from qsproj.models.tree_inference import TreeInference


def _no_jumps() -> NDArray[np.float64]:
    return np.zeros((0, JUMP_SCORES))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointScores:
    """Natural-log scores of everything in a pair's graph.

    Attributes
    ----------
    source : float64[m+1, m+1]
        Arcs; not read where the source tree is observed.
    target : float64[n+1, n+1]
    links : float64[k]
        Candidate links.
    fertility : float64[m + n, B]
        By number of links, the last bin open: source words, then target words.
    factors : float64[F]
        Quasi-synchronous factors.
    jumps : float64[A, JUMP_SCORES]
        One row for each ALIGNHMM: jumps by width, then no link.
    """

    source: Scores
    target: Scores
    links: NDArray[np.float64]
    fertility: NDArray[np.float64]
    factors: NDArray[np.float64]
    jumps: NDArray[np.float64] = field(default_factory=_no_jumps)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointBeliefs:
    """What belief propagation found; probabilities, in the shapes of :class:`JointScores`.

    Attributes
    ----------
    source, target : float64[m+1, m+1], float64[n+1, n+1]
        Probability of each arc; 1 and 0 where a tree is observed.
    links : float64[k]
    fertility : float64[m + n, B]
    factors : float64[F]
        That each factor fires.
    status : Status
        How the run ended.
    iterations : int
    jumps : float64[A, JUMP_SCORES]
        How often each jump is expected.
    """

    source: Scores
    target: Scores
    links: NDArray[np.float64]
    fertility: NDArray[np.float64]
    factors: NDArray[np.float64]
    status: Status
    iterations: int
    jumps: NDArray[np.float64] = field(default_factory=_no_jumps)


def infer_jointly(
    structure: JointStructure,
    scores: JointScores,
    known: NDArray[np.int8],
    *,
    source_trees: TreeInference,
    target_trees: TreeInference,
    propagation: Propagation,
) -> JointBeliefs:
    """Pass messages over the graph of a pair.

    Parameters
    ----------
    structure : JointStructure
    scores : JointScores
    known : int8[V]
        From :func:`~qsproj.models.joint.joint_structure.known_states`: factors shrink to what is not known.
    source_trees, target_trees : TreeInference
        Which trees are possible.
    propagation : Propagation
    """
    fixed, *reduced = free_rows(structure.rows, known)
    joining = [(chosen, variables) for chosen, variables in reduced if len(chosen)]
    # In the order in which they are asked.
    parts: dict[str, list[FactorGroup]] = {
        "sides": [_unary(structure, scores, known), *_trees(structure, known, source_trees, target_trees)],
        "fertility": [_fertilities(structure, scores.fertility)],
        "jumps": _align_hmms(structure, scores.jumps),
        "hard": _hard(structure, known),
        "factors": [all_true(variables, scores.factors[chosen]) for chosen, variables in joining],
    }
    beliefs = run(
        factor_graph(np.full(structure.n_variables, 2), list(chain(*parts.values()))),
        propagation.passing(),
    )
    factors = np.zeros(len(structure.rows))
    factors[fixed[0]] = 1.0
    for (chosen, _), firing in zip(joining, _expected(parts, "factors", beliefs), strict=True):
        factors[chosen] = firing
    return JointBeliefs(
        source=_arc_probabilities(structure.source, beliefs, known),
        target=_arc_probabilities(structure.target, beliefs, known),
        links=probability(log_odds(beliefs, structure.link_variables)),
        fertility=_expected(parts, "fertility", beliefs)[0],
        factors=factors,
        status=beliefs.status,
        iterations=len(beliefs.residuals),
        jumps=np.array(_expected(parts, "jumps", beliefs)).reshape(-1, JUMP_SCORES),
    )


def mixed(first: JointBeliefs, second: JointBeliefs, share: float) -> JointBeliefs:
    """Return the mean of two beliefs of the same graph, in which the second has a weight of ``share``.

    It contradicts itself where the second does; else status and iterations are the first's.
    """
    of_arrays = {
        name: (1.0 - share) * getattr(first, name) + share * getattr(second, name)
        for name in ("source", "target", "links", "fertility", "factors", "jumps")
    }
    status = second.status if second.status is Status.CONTRADICTION else first.status
    return replace(first, **of_arrays, status=status)


def _expected(
    parts: Mapping[str, Sequence[FactorGroup]], name: str, beliefs: Beliefs
) -> list[NDArray[np.float64]]:
    """Return what the groups of one part of the graph expect of their scores."""
    names = list(parts)
    first = sum(len(parts[earlier]) for earlier in names[: names.index(name)])
    return [group.expected(heard) for group, heard in zip(parts[name], beliefs.incoming[first:])]


def _trees(
    structure: JointStructure,
    known: NDArray[np.int8],
    source_trees: TreeInference,
    target_trees: TreeInference,
) -> list[FactorGroup]:
    """Return TREE or PTREE over each side whose tree is to be found."""
    groups: list[FactorGroup] = []
    for side, trees in ((structure.source, source_trees), (structure.target, target_trees)):
        if _is_free(side, known):
            factor = projective_tree if trees.projective else tree
            groups.append(factor(side.arcs, single_root=trees.single_root))
    return groups


def _hard(structure: JointStructure, known: NDArray[np.int8]) -> list[FactorGroup]:
    """Return what ties grandparents and siblings to arcs, as far as they are not known, and SYNCH."""
    groups: list[FactorGroup] = []
    undecided = known[structure.results] == UNKNOWN
    if undecided.any():
        groups.append(any_pair_sorted(structure.results[undecided], structure.pairs[undecided]))
    if structure.synchronous:
        groups += synchronous_groups(structure, known)
    return groups


def _fertilities(structure: JointStructure, scores: NDArray[np.float64]) -> FactorGroup:
    """Return SOURCEFERT and TARGETFERT as one group: source words, then target words."""
    m = len(structure.source.arcs) - 1
    words = np.concatenate([structure.links[:, 0], structure.links[:, 1] + m])
    return fertility(np.tile(structure.link_variables, 2), words, scores)


def _align_hmms(structure: JointStructure, scores: NDArray[np.float64]) -> list[FactorGroup]:
    """Return ALIGNHMM over the words of each side that has one."""
    groups: list[FactorGroup] = []
    for name, jumps in zip(structure.align_hmms, scores, strict=True):
        sides = structure.target, structure.source
        words, positions = structure.links[:, 1], structure.links[:, 0]
        if name == "SOURCEHMM":
            sides, words, positions = sides[::-1], positions, words
        n, n_positions = (len(side.arcs) - 1 for side in sides)
        order = np.argsort(words, kind="stable")
        groups.append(
            align_hmm(
                structure.link_variables[order],
                word_starts(words, n),
                positions[order],
                jumps,
                n_source=n_positions,
            )
        )
    return groups


def _is_free(side: Side, known: NDArray[np.int8]) -> bool:
    """Tell whether a side's tree is to be found."""
    return not side.observed and bool((known[side.arcs[side.arcs != NO_VARIABLE]] == UNKNOWN).all())


def _unary(structure: JointStructure, scores: JointScores, known: NDArray[np.int8]) -> FactorGroup:
    """Return LINK of the arcs and ALIGN of the links, or what is known of these, as one group."""
    states = known[structure.link_variables]
    links = np.where(states == TRUE_STATE, np.inf, np.where(states == FALSE_STATE, -np.inf, scores.links))
    variables, values = [structure.link_variables], [links]
    for side, arc_scores in ((structure.source, scores.source), (structure.target, scores.target)):
        if _is_free(side, known):
            arcs = side.arcs != NO_VARIABLE
            variables.append(side.arcs[arcs])
            values.append(arc_scores[arcs])
    return link(np.concatenate(variables), np.concatenate(values))


def _arc_probabilities(side: Side, beliefs: Beliefs, known: NDArray[np.int8]) -> Scores:
    """Return the probability of every arc of a side, 0 where it has no variable."""
    chances = np.zeros(side.arcs.shape)
    arcs = side.arcs != NO_VARIABLE
    states = known[side.arcs[arcs]]
    chances[arcs] = np.where(
        states == UNKNOWN, probability(log_odds(beliefs, side.arcs[arcs])), states == TRUE_STATE
    )
    return chances
