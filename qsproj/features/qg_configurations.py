"""Relations of two nodes of a source tree: the configurations of quasi-synchronous grammar.

When a target head with sense x' generates a dependent with sense y', the configuration is the relation of x'
and y' in the source tree. To add one, add a row to CONFIGURATIONS; the first match wins.

*Source*: Smith and Eisner 2006b; thesis 4.3 and figure 4.4.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD, Heads, Mask, Numbers


@dataclass(frozen=True, slots=True, eq=False)
class SourceTree:
    """Relations bool[m+1, m+1] of a source tree, 0 the root: head of, ancestor of; nothing over a -1."""

    heads: Heads
    parent: Mask
    dominates: Mask


def source_tree(heads: Heads) -> SourceTree:
    size = len(heads)
    parent, dominates = np.zeros((size, size), dtype=np.bool_), np.zeros((size, size), dtype=np.bool_)
    nodes = np.flatnonzero(heads != NO_HEAD)
    parent[heads[nodes], nodes] = True
    ancestors = heads[nodes]
    # At most m steps up, so that a cycle does not loop forever.
    for _ in range(size):
        if not len(nodes):
            break
        dominates[ancestors, nodes] = True
        ancestors = heads[ancestors]
        nodes, ancestors = nodes[ancestors != NO_HEAD], ancestors[ancestors != NO_HEAD]
    return SourceTree(heads, parent, dominates)


def _is_grandparent(tree: SourceTree) -> Mask:
    grandparent = np.zeros_like(tree.parent)
    nodes = np.flatnonzero(tree.heads > 0)
    nodes = nodes[tree.heads[tree.heads[nodes]] != NO_HEAD]
    grandparent[tree.heads[tree.heads[nodes]], nodes] = True
    return grandparent


def _c_commands(tree: SourceTree) -> Mask:
    """Return whether neither dominates the other and the head of the row dominates the column."""
    below_its_head: Mask = tree.dominates[tree.heads] & (tree.heads != NO_HEAD)[:, None]
    # This also excludes that the column dominates the row: no ancestor is below the row's head.
    return below_its_head & ~tree.dominates & ~np.eye(len(tree.heads), dtype=np.bool_)


# By name, whether each pair of nodes has it: bool[m+1, m+1], [x', y'] with x' the sense of the head.
CONFIGURATIONS: dict[str, Callable[[SourceTree], Mask]] = {
    "parent-child": lambda tree: tree.parent,
    "child-parent": lambda tree: tree.parent.T,
    "same-node": lambda tree: np.eye(len(tree.heads), dtype=np.bool_),
    "siblings": lambda tree: (tree.heads[:, None] == tree.heads) & (tree.heads != NO_HEAD),
    "grandparent-grandchild": _is_grandparent,
    "c-command": _c_commands,
    "other": lambda tree: np.ones_like(tree.parent),
}
CONFIGURATION_NAMES = (*CONFIGURATIONS, "null")
PARENT_CHILD, NULL_CONFIGURATION = map(CONFIGURATION_NAMES.index, ("parent-child", "null"))


def configurations(heads: Heads) -> NDArray[np.int8]:
    """Return configurations int8[m+2, m+2] by CONFIGURATION_NAMES, [head's sense, dependent's sense].

    Senses: 0 (the root), 1..m, and m + 1 for NULL. ``heads`` int32[m+1] are -1 where missing.
    """
    tree, size = source_tree(heads), len(heads)
    found = np.full((size + 1, size + 1), NULL_CONFIGURATION, dtype=np.int8)
    inner = found[:size, :size]
    for number, holds in reversed(list(enumerate(CONFIGURATIONS.values()))):
        inner[holds(tree)] = number
    return found


def configuration_choices(found: NDArray[np.int8]) -> Numbers:
    """Count for each sense of the head a dependent's senses by configuration: int32[m+2, C]."""
    senses, size = len(found), len(CONFIGURATION_NAMES)
    cells = np.arange(senses)[:, None] * size + found[:, 1:]
    counts = np.bincount(cells.ravel(), minlength=senses * size)
    return counts.reshape(senses, size).astype(np.int32)
