"""Pairs that the joint weights learn from, and their graphs, which are kept from epoch to epoch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Heads
from qsproj.corpus.sentence import Alignment, SentencePair
from qsproj.errors import counted
from qsproj.features.joint_templates import ALIGN_HMMS, ALIGN_ITG
from qsproj.models.joint.joint_graph import JointGraph, joint_graph
from qsproj.models.joint.joint_sides import FALSE_STATE, TRUE_STATE, UNKNOWN
from qsproj.models.joint.joint_structure import known_states
from qsproj.models.joint.joint_weights import PreparedPair
from qsproj.models.tree_inference import TreeInference

# Which ends of a link belong to words that a factor links once at most.
_ENDS = {**dict(zip(ALIGN_HMMS, ((1,), (0,)), strict=True)), ALIGN_ITG: (0, 1)}


def observed_links(
    candidates: Alignment, hand: Alignment, families: tuple[str, ...] = ()
) -> NDArray[np.int8]:
    """Return what is known of each candidate, int8[k]: UNKNOWN, FALSE_STATE or TRUE_STATE.

    Sure links are true and links that are not even possible are false; those that annotators only called
    possible stay hidden. Where ALIGNHMM or ALIGNITG among ``families`` allows a word one link and it has
    several sure ones, which of them it is stays hidden, too. Hand links that are no candidates teach nothing
    (:func:`count_hand_links` counts them): they have no posterior, and no false link would be like them.
    """
    judged = dict(zip(map(tuple, hand.links.tolist()), hand.sure.tolist()))
    known = [judged.get(tuple(link)) for link in candidates.links.tolist()]
    by_judgement = {None: FALSE_STATE, True: TRUE_STATE, False: UNKNOWN}
    states = np.array([by_judgement[sure] for sure in known], dtype=np.int8)
    for family in families:
        sure = states == TRUE_STATE
        for end in _ENDS.get(family, ()):
            words = candidates.links[:, end]
            states[sure & (np.bincount(words[sure], minlength=words.max(initial=0) + 1)[words] > 1)] = UNKNOWN
    return states


@dataclass(frozen=True, slots=True)
class HandLinkCounts:
    """How hand alignments met candidate links.

    ``pairs``: pairs that have a hand alignment. ``sure``, ``missed``: their sure hand links, and those of
    them that are no candidates.
    """

    pairs: int
    sure: int
    missed: int

    def summary(self) -> str:
        """Say it in a line."""
        return (
            f"hand alignments of {counted(self.pairs, 'pair')}; {self.missed:,} of "
            f"{counted(self.sure, 'sure link')} not among the candidates"
        )


def count_hand_links(pairs: Iterable[SentencePair]) -> HandLinkCounts | None:
    """Count the sure hand links of some pairs, and those that are no candidates; None: there are none."""
    by_hand = sure = missed = 0
    for pair in pairs:
        if pair.hand is None:
            continue
        links = set(map(tuple, pair.hand.links[pair.hand.sure].tolist()))
        by_hand += 1
        sure += len(links)
        missed += len(links - set(map(tuple, pair.alignment.links.tolist())))
    return HandLinkCounts(by_hand, sure, missed) if by_hand else None


# What the tables of graphs that are kept may take: those of all pairs of LinES, about.
MOST_BYTES = 1 << 29


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class JointExample:
    """A pair to learn from.

    ``target_heads`` int32[n+1]: its target tree (one that the model can build); all of its arcs have
        variables.
    ``link_states`` int8[k] or None: what hand alignments say of its candidate links
        (:mod:`qsproj.models.joint.joint_examples`).
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
