"""Pairs that the joint weights learn from, and their graphs, which are kept from epoch to epoch."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Heads
from qsproj.models.joint.joint_graph import JointGraph, joint_graph
from qsproj.models.joint.joint_structure import known_states
from qsproj.models.joint.joint_weights import PreparedPair
from qsproj.models.tree_inference import TreeInference

# What the tables of graphs that are kept may take: those of all pairs of LinES, about.
MOST_BYTES = 1 << 29


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class JointExample:
    """A pair to learn from.

    ``target_heads`` int32[n+1]: its target tree (one that the model can build); all of its arcs have
        variables.
    ``link_states`` int8[k] or None: what hand alignments say of its candidate links
        (:mod:`qsproj.models.joint.joint_evidence`).
    ``source_heads`` int32[m+1] or None: the source parser's own tree, where the source tree is inferred; all
        of its arcs have variables.
    ``target_tags`` int8[U] or None: which of its possible tags each TAG variable has, where there are any.
    """

    pair: PreparedPair
    target_heads: Heads
    link_states: NDArray[np.int8] | None = None
    source_heads: Heads | None = None
    target_tags: NDArray[np.int8] | None = None

    def known(self) -> list[NDArray[np.int8]]:
        """Return what is known, int8[V], in each graph of the pair.

        First nothing; then the target's tree and tags, and links by hand; and where the source tree is
        inferred, the source parser's tree as well.
        """
        structure, observed = self.pair.structure, (self.target_heads, self.link_states)
        tags = self.target_tags
        known = [known_states(structure), known_states(structure, *observed, target_tags=tags)]
        if self.source_heads is not None:
            heads = self.source_heads
            known.append(known_states(structure, *observed, source_heads=heads, target_tags=tags))
        return known


class KeptGraphs:
    """The graphs of pairs, laid out when a pair is first met and kept for the epochs to come. Mutable."""

    def __init__(
        self, source_trees: TreeInference, target_trees: TreeInference, *, most_bytes: int = MOST_BYTES
    ) -> None:
        self._trees = {"source_trees": source_trees, "target_trees": target_trees}
        self._left = most_bytes
        self._kept: WeakKeyDictionary[JointExample, list[JointGraph]] = WeakKeyDictionary()

    def of(self, example: JointExample) -> list[JointGraph]:
        """Return the graphs of a pair by what is known of it (:meth:`JointExample.known`)."""
        kept = self._kept.get(example)
        if kept is not None:
            return kept
        structure = example.pair.structure
        graphs = [joint_graph(structure, known, **self._trees) for known in example.known()]
        size = sum(graph.nbytes for graph in graphs)
        if size <= self._left:
            self._left -= size
            self._kept[example] = graphs
        return graphs
