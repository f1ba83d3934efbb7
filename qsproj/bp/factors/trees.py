"""TREE and PTREE: the true arcs form a tree; NOCROSS: scores of crossing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp import graph
from qsproj.bp.links import arcs_of
from qsproj.conventions import Floats, Numbers, starts_of
from qsproj.kernels.bp import bp_trees
from qsproj.trees import nonprojective, projective
from qsproj.trees.family import NoTreeError


@dataclass(frozen=True, slots=True, eq=False)
class Tree(graph.HardGroup):
    """TREE, or PTREE if ``projective``: all arcs form a tree (thesis 2.5.4, 3.4.1). O(n^3).

    ``edges``, ``heads``, ``dependents`` int32[E]: the boolean of each arc and its ends. ``size``: n + 1.
    """

    heads: Numbers
    dependents: Numbers
    size: int
    projective: bool
    single_root: bool

    def propagate(self, incoming: graph.Messages, *, maximise: bool = False) -> graph.Messages:
        if self.projective and not maximise:
            outgoing = np.empty(incoming.size)
            arcs = (self.heads, self.dependents, self.size)
            if bp_trees.projective_messages(incoming, *arcs, self.single_root, outgoing):
                return outgoing
        scores = bp_trees.tree_scores(incoming, self.heads, self.dependents, self.size)
        try:
            if maximise:
                with_arc = self._trees.max_marginals(scores, single_root=self.single_root)
            else:
                with_arc = self._trees.posterior(scores, single_root=self.single_root).log_marginals
        except NoTreeError:
            return np.full(incoming.size, np.nan)
        return np.asarray(bp_trees.tree_messages(incoming, self.heads, self.dependents, with_arc, maximise))

    def log_partition(self, incoming: graph.Messages) -> float:
        scores = bp_trees.tree_scores(incoming, self.heads, self.dependents, self.size)
        try:
            return self._trees.posterior(scores, single_root=self.single_root).log_z
        except NoTreeError:
            return -np.inf

    @property
    def _trees(self) -> ModuleType:
        return projective if self.projective else nonprojective


def tree(links: Numbers, *, single_root: bool = False) -> Tree:
    """Make the TREE factor: the true arcs of ``links`` (see :mod:`qsproj.bp.links`) form any tree."""
    heads, dependents, edges = arcs_of(links)
    return Tree(edges, heads, dependents, links.shape[0], False, single_root)


def projective_tree(links: Numbers, *, single_root: bool = False) -> Tree:
    """Make the factor PTREE over ``links`` as :func:`tree` takes them: its trees have no crossing arcs."""
    return replace(tree(links, single_root=single_root), projective=True)


@dataclass(frozen=True, slots=True, eq=False)
class Forest(graph.HardGroup):
    """PTREE over the arcs of concatenated sentences, ``counts`` and ``sizes`` int64[S], in one call."""

    trees: tuple[Tree, ...]
    heads: Numbers
    dependents: Numbers
    counts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def propagate(self, incoming: graph.Messages, *, maximise: bool = False) -> graph.Messages:
        outgoing, done = np.empty(incoming.size), np.zeros(len(self.trees), dtype=np.bool_)
        if not maximise:
            arcs, single_root = (self.heads, self.dependents, self.counts), self.trees[0].single_root
            bp_trees.forest_messages(incoming, *arcs, self.sizes, single_root, outgoing, done)
        parts = self._parts(incoming), self._parts(outgoing)
        for tree, own, answer, answered in zip(self.trees, *parts, done.tolist(), strict=True):
            if not answered:
                answer[:] = tree.propagate(own, maximise=maximise)
        return outgoing

    def log_partition(self, incoming: graph.Messages) -> float:
        parts = zip(self.trees, self._parts(incoming), strict=True)
        return sum(tree.log_partition(part) for tree, part in parts)

    def _parts(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        return np.split(values, np.cumsum(self.counts)[:-1])


def forest(trees: Sequence[Tree]) -> Forest:
    columns = zip(*((tree.edges, tree.heads, tree.dependents) for tree in trees), strict=True)
    edges, heads, dependents = map(np.concatenate, columns)
    sizes = np.array([(tree.edges.size, tree.size) for tree in trees], dtype=np.int64).T.copy()
    return Forest(edges, tuple(trees), heads, dependents, *sizes)


@dataclass(frozen=True, slots=True, eq=False)
class NoCross(graph.FactorGroup):
    """Soft factors over the arcs into two words, which fire if they cross (thesis 3.4.2). O(n) each.

    They include EXACTLY1 for both. ``starts`` int64[2 F + 1]: arcs into the first word, then into the second.
    """

    heads: Numbers
    starts: NDArray[np.int64]
    dependents: Numbers
    scores: Floats
    size: int
    messages = staticmethod(bp_trees.no_cross_messages)
    beliefs = staticmethod(bp_trees.no_cross_beliefs)


def no_cross(links: Numbers, words: ArrayLike, scores: ArrayLike) -> NoCross:
    """Make NOCROSS factors for pairs of different words int[F, 2]; ``scores`` float[F], natural log."""
    pairs = np.ascontiguousarray(words, dtype=np.int32).reshape(-1, 2)
    size = links.shape[0]
    if pairs.size and (pairs.min() < 1 or pairs.max() >= size or (pairs[:, 0] == pairs[:, 1]).any()):
        raise ValueError(f"NOCROSS expects pairs of two different words out of 1..{size - 1}")
    columns = [np.flatnonzero(links[:, word] >= 0) for word in range(size)]
    heads = [columns[word] for word in pairs.reshape(-1)]
    edges = [links[columns[word], word] for word in pairs.reshape(-1)]
    empty = np.zeros(0, dtype=np.int32)
    arcs, of_arcs = (np.concatenate([empty, *parts]).astype(np.int32) for parts in (edges, heads))
    starts = starts_of([column.size for column in heads])
    return NoCross(arcs, of_arcs, starts, pairs, graph.checked_scores(scores, (len(pairs),), "NOCROSS"), size)
