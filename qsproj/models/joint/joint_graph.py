"""The factor graph of a sentence pair, laid out once: scores are put in without building it again.

What is known of a pair decides which factors there are, and over what; scores only say how they weigh. So
a pair that is met again, in every epoch of training, can keep its graphs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.factors.align_hmm import align_hmm
from qsproj.bp.factors.align_itg import align_itg
from qsproj.bp.factors.alignment import fertility, word_starts
from qsproj.bp.factors.any_pair import any_pair_sorted
from qsproj.bp.factors.link import link
from qsproj.bp.factors.pair import all_true
from qsproj.bp.factors.tree import projective_tree, tree
from qsproj.bp.graph import FactorGraph, factor_graph
from qsproj.bp.group import FactorGroup, checked_scores
from qsproj.features.joint_templates import FERTILITY_BINS, JUMP_SCORES
from qsproj.models.graph.graph_factors import Family
from qsproj.models.joint.joint_scores import FamilyScores, JointScores
from qsproj.models.joint.joint_sides import NO_VARIABLE, Side
from qsproj.models.joint.joint_structure import FALSE_STATE, TRUE_STATE, UNKNOWN, JointStructure, free_rows
from qsproj.models.joint.joint_synchronous import synchronous_groups
from qsproj.models.joint.tags.tag_factors import TagFactors, no_scores
from qsproj.models.tree_inference import TreeInference

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointGraph:
    """The factors of a pair, given what is known of its variables; make one with :func:`joint_graph`.

    ``known`` int8[V]: from :func:`~qsproj.models.joint.joint_structure.known_states`.
    ``fixed`` int64[f]: the quasi-synchronous factors that fire in any case.
    ``joining`` tuple of int64[f]: which of them each group of the part ``factors`` is about.
    ``parts``: the groups of each part of the graph: ``sides``, ``source families``, ``target families``,
        ``tags``, ``fertility``, ``jumps``, ``hard``, ``factors``.
    ``graph``: all scores zero.
    """

    structure: JointStructure
    known: NDArray[np.int8]
    fixed: NDArray[np.int64]
    joining: tuple[NDArray[np.int64], ...]
    parts: Mapping[str, slice]
    graph: FactorGraph

    def with_scores(self, scores: JointScores) -> FactorGraph:
        """Return the graph with these scores."""
        groups = list(self.graph.groups)
        groups[0] = replace(_any(groups[0]), scores=_unary_values(self.structure, self.known, scores))
        for side, values in (("source", scores.source_factors), ("target", scores.target_factors)):
            part = self.parts[f"{side} families"]
            if part.start < part.stop:
                families = getattr(self.structure, side).families
                groups[part] = [family.with_scores(own) for family, own in zip(families, values, strict=True)]
        if self.tags is not None and scores.tags is not None:
            groups[self.parts["tags"]] = self.tags.groups(scores.tags)
        rest = {
            "fertility": [scores.fertility],
            "jumps": list(scores.jumps),
            "factors": [scores.factors[chosen] for chosen in self.joining],
        }
        for name, arrays in rest.items():
            part = self.parts[name]
            groups[part] = [
                replace(_any(group), scores=checked_scores(own, group.scores.shape, name))
                for group, own in zip(groups[part], arrays, strict=True)
            ]
        return replace(self.graph, groups=tuple(groups))

    @property
    def tags(self) -> TagFactors | None:
        """The factors of TAG variables; None: all tags are certain."""
        tags = self.structure.tags
        return (
            None if tags is None else TagFactors(tags, self.structure.link_variables[tags.links], self.known)
        )

    def decided(self, families: Sequence[Family]) -> FamilyScores:
        """Return float64[F] for each family, 1 for factors that fire; all their arcs are known."""
        evidence = [
            np.where(self.known[family.group.edges] == TRUE_STATE, np.inf, -np.inf) for family in families
        ]
        return tuple(
            family.expected(family.group, heard) for family, heard in zip(families, evidence, strict=True)
        )

    @property
    def nbytes(self) -> int:
        """How much memory its tables take, without those of the structure."""
        tables: list[NDArray[Any]] = [self.known, self.fixed, *self.joining, self.graph.starts]
        tables += [*self.graph.slots, *self.graph.edge_starts]
        for group in self.graph.groups:
            values: list[Any] = [getattr(group, field.name) for field in fields(_any(group))]
            tables += [value for value in values if isinstance(value, np.ndarray)]
        return sum(table.nbytes for table in tables)


def _any(group: FactorGroup) -> Any:
    """Return the group as one of no particular class: all are dataclasses with ``scores``."""
    return group


def joint_graph(
    structure: JointStructure,
    known: NDArray[np.int8],
    *,
    source_trees: TreeInference,
    target_trees: TreeInference,
) -> JointGraph:
    """Lay out the factors of a pair over what is not known.

    ``known`` int8[V]: from :func:`~qsproj.models.joint.joint_structure.known_states`: factors shrink to what
    is not known.
    """
    fixed, *reduced = free_rows(structure.rows, known)
    joining = [(chosen, variables) for chosen, variables in reduced if len(chosen)]
    # In the order in which they are asked.
    parts: dict[str, list[FactorGroup]] = {
        "sides": [_unary(structure, known), *_trees(structure, known, source_trees, target_trees)],
        "source families": _families(structure.source, known),
        "target families": _families(structure.target, known),
        "tags": _tags(structure, known),
        "fertility": [_fertilities(structure)],
        "jumps": _align_hmms(structure),
        "hard": _hard(structure, known),
        "factors": [all_true(variables, np.zeros(len(chosen))) for chosen, variables in joining],
    }
    ends = np.cumsum([0, *map(len, parts.values())]).tolist()
    return JointGraph(
        structure=structure,
        known=known,
        fixed=fixed[0],
        joining=tuple(chosen for chosen, _ in joining),
        parts=dict(zip(parts, map(slice, ends[:-1], ends[1:]), strict=True)),
        graph=factor_graph(structure.states, list(chain(*parts.values()))),
    )


def is_free(side: Side, known: NDArray[np.int8]) -> bool:
    """Tell whether a side's tree is to be found."""
    return not side.observed and bool((known[side.arcs[side.arcs != NO_VARIABLE]] == UNKNOWN).all())


def _families(side: Side, known: NDArray[np.int8]) -> list[FactorGroup]:
    """Return the second-order factors over a side's arcs, where they are not known."""
    return [family.group for family in side.families] if is_free(side, known) else []


def _tags(structure: JointStructure, known: NDArray[np.int8]) -> list[FactorGroup]:
    """Return TAG and TAGLINK of the target words whose tags are uncertain."""
    if structure.tags is None:
        return []
    factors = TagFactors(structure.tags, structure.link_variables[structure.tags.links], known)
    return factors.groups(no_scores(structure.tags))


def _trees(
    structure: JointStructure,
    known: NDArray[np.int8],
    source_trees: TreeInference,
    target_trees: TreeInference,
) -> list[FactorGroup]:
    """Return TREE or PTREE over each side whose tree is to be found."""
    groups: list[FactorGroup] = []
    for side, trees in ((structure.source, source_trees), (structure.target, target_trees)):
        if is_free(side, known):
            factor = projective_tree if trees.projective else tree
            groups.append(factor(side.arcs, single_root=trees.single_root))
    return groups


def _hard(structure: JointStructure, known: NDArray[np.int8]) -> list[FactorGroup]:
    """Return what ties grandparents and siblings to arcs, where they are not known, ALIGNITG and SYNCH."""
    groups: list[FactorGroup] = []
    undecided = known[structure.results] == UNKNOWN
    if undecided.any():
        groups.append(any_pair_sorted(structure.results[undecided], structure.pairs[undecided]))
    if structure.align_itg:
        groups.append(align_itg(structure.link_variables, *structure.links.T))
    if structure.synchronous:
        groups += synchronous_groups(structure, known)
    return groups


def _fertilities(structure: JointStructure) -> FactorGroup:
    """Return SOURCEFERT and TARGETFERT as one group: source words, then target words."""
    m, n = (len(side.arcs) - 1 for side in (structure.source, structure.target))
    words = np.concatenate([structure.links[:, 0], structure.links[:, 1] + m])
    return fertility(np.tile(structure.link_variables, 2), words, np.zeros((m + n, FERTILITY_BINS)))


def _align_hmms(structure: JointStructure) -> list[FactorGroup]:
    """Return ALIGNHMM over the words of each side that has one."""
    groups: list[FactorGroup] = []
    for name in structure.align_hmms:
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
                np.zeros(JUMP_SCORES),
                n_source=n_positions,
            )
        )
    return groups


def _unary(structure: JointStructure, known: NDArray[np.int8]) -> FactorGroup:
    """Return LINK of the arcs and ALIGN of the links, or what is known of these, as one group."""
    variables = [structure.link_variables]
    for side in (structure.source, structure.target):
        if is_free(side, known):
            variables.append(side.arcs[side.arcs != NO_VARIABLE])
    edges = np.concatenate(variables)
    return link(edges, np.zeros(len(edges)))


def _unary_values(structure: JointStructure, known: NDArray[np.int8], scores: JointScores) -> Values:
    """Return the scores of :func:`_unary`; infinite ones say what is known of links."""
    states = known[structure.link_variables]
    values = [np.where(states == TRUE_STATE, np.inf, np.where(states == FALSE_STATE, -np.inf, scores.links))]
    for side, arc_scores in ((structure.source, scores.source), (structure.target, scores.target)):
        if is_free(side, known):
            values.append(arc_scores[side.arcs != NO_VARIABLE])
    joined = np.concatenate(values)
    if np.isnan(joined).any():
        raise ValueError("a score is NaN; NaN often comes from weights that diverged in training")
    return joined
