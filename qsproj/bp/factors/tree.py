"""TREE and PTREE: the arcs that are true form a dependency tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.group import HardGroup, Messages, Variables
from qsproj.bp.links import arcs_of
from qsproj.kernels.bp.bp_trees import tree_messages, tree_scores
from qsproj.trees import nonprojective, projective
from qsproj.trees.family import NoTreeError


@dataclass(frozen=True, slots=True, eq=False)
class Tree(HardGroup):
    """One hard factor over all arcs: they form a tree (thesis 2.5.4, 3.4.1). O(n^3).

    ``edges``, ``heads``, ``dependents`` int32[E]: the boolean of each arc and its ends. ``size``: n + 1.
    ``projective``: PTREE. ``single_root``: the root must have exactly one dependent.
    """

    edges: Variables
    heads: NDArray[np.int32]
    dependents: NDArray[np.int32]
    size: int
    projective: bool
    single_root: bool

    def propagate(self, incoming: Messages, *, maximise: bool = False) -> Messages:
        """Parse with the incoming log-odds as arc scores."""
        inference = projective if self.projective else nonprojective
        scores = tree_scores(incoming, self.heads, self.dependents, self.size)
        try:
            if maximise:
                with_arc = inference.max_marginals(scores, single_root=self.single_root)
            else:
                with_arc = inference.posterior(scores, single_root=self.single_root).log_marginals
        except NoTreeError:
            return np.full(incoming.size, np.nan)
        return np.asarray(tree_messages(incoming, self.heads, self.dependents, with_arc, maximise))

    def log_partition(self, incoming: Messages) -> float:
        inference = projective if self.projective else nonprojective
        scores = tree_scores(incoming, self.heads, self.dependents, self.size)
        try:
            return float(inference.posterior(scores, single_root=self.single_root).log_z)
        except NoTreeError:
            return -np.inf

    def log_score(self, states: NDArray[np.int32]) -> float:
        arcs = [(int(h), int(d)) for h, d, on in zip(self.heads, self.dependents, states) if on]
        head_of = {d: h for h, d in arcs}
        one_head_each = len(arcs) == self.size - 1 == len(head_of)
        if not one_head_each or not all(_reaches_root(word, head_of) for word in head_of):
            return -np.inf
        if self.single_root and list(head_of.values()).count(0) != 1:
            return -np.inf
        return -np.inf if self.projective and _any_cross(arcs) else 0.0


def tree(links: NDArray[np.int32], *, single_root: bool = False) -> Tree:
    """Make the TREE factor: the true arcs, of ``links`` as in :mod:`qsproj.bp.links`, form any tree."""
    heads, dependents, edges = arcs_of(links)
    return Tree(edges, heads, dependents, links.shape[0], False, single_root)


def projective_tree(links: NDArray[np.int32], *, single_root: bool = False) -> Tree:
    """Make the PTREE factor: the true arcs form a projective tree."""
    heads, dependents, edges = arcs_of(links)
    return Tree(edges, heads, dependents, links.shape[0], True, single_root)


def _reaches_root(word: int, head_of: dict[int, int]) -> bool:
    """Follow heads upwards; more steps than words are a cycle."""
    for _ in head_of:
        word = head_of[word]
        if word == 0:
            return True
    return False


def _any_cross(arcs: list[tuple[int, int]]) -> bool:
    """Say whether two arcs cross (thesis eq. 2.2)."""
    spans = [(min(arc), max(arc)) for arc in arcs]
    return any(a < c < b < d for a, b in spans for c, d in spans)
