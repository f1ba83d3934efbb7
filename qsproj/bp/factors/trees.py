"""TREE and PTREE: the true arcs form a tree; NOCROSS and a hidden projective tree: scores of crossing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp import graph
from qsproj.bp.links import arcs_of
from qsproj.conventions import Scores
from qsproj.kernels.bp import bp_trees
from qsproj.trees import nonprojective, projective
from qsproj.trees.family import NoTreeError


@dataclass(frozen=True, slots=True, eq=False)
class Tree(graph.HardGroup):
    """TREE, or PTREE if ``projective``: all arcs form a tree (thesis 2.5.4, 3.4.1). O(n^3).

    ``edges``, ``heads``, ``dependents`` int32[E]: the boolean of each arc and its ends. ``size``: n + 1.
    """

    edges: graph.Variables
    heads: NDArray[np.int32]
    dependents: NDArray[np.int32]
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
            with_arc = _with_arcs(self, scores, maximise)
        except NoTreeError:
            return np.full(incoming.size, np.nan)
        return np.asarray(bp_trees.tree_messages(incoming, self.heads, self.dependents, with_arc, maximise))

    def log_partition(self, incoming: graph.Messages) -> float:
        return _log_z(self, bp_trees.tree_scores(incoming, self.heads, self.dependents, self.size))


def tree(links: NDArray[np.int32], *, single_root: bool = False) -> Tree:
    """Make the TREE factor: the true arcs of ``links`` (see :mod:`qsproj.bp.links`) form any tree."""
    heads, dependents, edges = arcs_of(links)
    return Tree(edges, heads, dependents, links.shape[0], False, single_root)


def projective_tree(links: NDArray[np.int32], *, single_root: bool = False) -> Tree:
    heads, dependents, edges = arcs_of(links)
    return Tree(edges, heads, dependents, links.shape[0], True, single_root)


@dataclass(frozen=True, slots=True, eq=False)
class Forest(graph.HardGroup):
    """PTREE over the arcs of concatenated sentences, ``counts`` and ``sizes`` int64[S], in one call."""

    edges: graph.Variables
    trees: tuple[Tree, ...]
    heads: NDArray[np.int32]
    dependents: NDArray[np.int32]
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
class NoCross(graph.KernelGroup):
    """Soft factors over the arcs into two words, which fire if they cross (thesis 3.4.2). O(n) each.

    They include EXACTLY1 for both. ``starts`` int64[2 F + 1]: arcs into the first word, then into the second.
    """

    edges: graph.Variables
    heads: NDArray[np.int32]
    starts: NDArray[np.int64]
    dependents: NDArray[np.int32]
    scores: NDArray[np.float64]
    size: int
    messages = staticmethod(bp_trees.no_cross_messages)
    beliefs = staticmethod(bp_trees.no_cross_beliefs)


def no_cross(links: NDArray[np.int32], words: ArrayLike, scores: ArrayLike) -> NoCross:
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
    starts = graph.starts_of([column.size for column in heads])
    return NoCross(arcs, of_arcs, starts, pairs, graph.checked_scores(scores, (len(pairs),), "NOCROSS"), size)


# Score of a hidden arc without a boolean; being finite, it ensures that a hidden tree exists.
UNNAMED = -5.0


@dataclass(frozen=True, slots=True, eq=False)
class HiddenTree(graph.FactorGroup):
    """One factor over all arcs: the sum over projective trees of exp(scores of the arcs that both have).

    The hidden tree may have all arcs between words and root; those without a boolean score UNNAMED. O(n^3).

    *Source*: thesis 5.1.1; unlike there, the hidden arcs have no scores of their own.
    """

    edges: graph.Variables
    scores: NDArray[np.float64]
    heads: NDArray[np.int32]
    dependents: NDArray[np.int32]
    size: int
    single_root: bool
    projective: ClassVar[bool] = True

    def propagate(self, incoming: graph.Messages, *, maximise: bool = False) -> graph.Messages:
        gains = _gain(incoming, self.scores, maximise=maximise)
        try:
            with_arc = _with_arcs(self, self._arcs(gains), maximise)
        except NoTreeError:
            return np.full(incoming.size, np.nan)
        hidden = bp_trees.tree_messages(gains, self.heads, self.dependents, with_arc, maximise)
        return _gain(hidden, self.scores, maximise=maximise)

    def log_partition(self, incoming: graph.Messages) -> float:
        weights = np.where(incoming == np.inf, 0.0, np.logaddexp(0.0, incoming))
        return float(weights.sum()) + _log_z(self, self._arcs(_gain(incoming, self.scores)))

    def expected(self, incoming: graph.Messages) -> NDArray[np.float64]:
        arcs = self._arcs(_gain(incoming, self.scores))
        chances = projective.posterior(arcs, single_root=self.single_root).marginals
        # For a certain arc, the hidden tree alone decides.
        odds = np.where(incoming == np.inf, np.inf, np.where(incoming == np.inf, 0.0, incoming) + self.scores)
        both = np.exp(-np.logaddexp(0.0, -odds))
        return np.asarray(chances[self.heads, self.dependents] * both)

    def _arcs(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        arcs = np.full((self.size, self.size), UNNAMED)
        arcs[self.heads, self.dependents] = scores
        return arcs


def _with_arcs(group: Tree | HiddenTree, scores: Scores, maximise: bool) -> Scores:
    """Return the log weight of the trees with each arc, or the best of them; raise NoTreeError for none."""
    inference = projective if group.projective else nonprojective
    if maximise:
        return inference.max_marginals(scores, single_root=group.single_root)
    return inference.posterior(scores, single_root=group.single_root).log_marginals


def _log_z(group: Tree | HiddenTree, scores: Scores) -> float:
    inference = projective if group.projective else nonprojective
    try:
        return inference.posterior(scores, single_root=group.single_root).log_z
    except NoTreeError:
        return -np.inf


def hidden_tree(links: NDArray[np.int32], scores: ArrayLike, *, single_root: bool = False) -> HiddenTree:
    """Make the factor of a hidden projective tree with scores float[E], natural log, of the arcs."""
    heads, dependents, edges = arcs_of(links)
    checked = graph.checked_scores(scores, edges.shape, "the hidden tree")
    return HiddenTree(edges, checked, heads, dependents, len(links), single_root)


def _gain(
    log_odds: graph.Messages, scores: NDArray[np.float64], *, maximise: bool = False
) -> NDArray[np.float64]:
    plus = np.maximum if maximise else np.logaddexp
    finite = np.where(log_odds == np.inf, 0.0, log_odds)
    return np.where(log_odds == np.inf, scores, plus(0.0, finite + scores) - plus(0.0, finite))
