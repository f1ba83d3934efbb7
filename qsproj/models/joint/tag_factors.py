"""TAG variables of a pair's graph, and their factors: TAG, and TAGLINK over arcs and over links.

TAG scores the tags of a word. TAGLINK over an arc scores it together with the tags of both words, where a
certain tag is a variable of one state (thesis 2.2.5). The same factor over a link scores it together with the
tag of its target word: that of the source word is known. Where tags are known, what is left of these factors
is a score of the arc or the link.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.factors.booleans import link
from qsproj.bp.factors.tags import tag, tag_link
from qsproj.bp.group import FactorGroup
from qsproj.models.joint.joint_sides import TRUE_STATE, UNKNOWN, Table

# Stands for a word whose tag is certain.
CERTAIN = -1


@dataclass(frozen=True, slots=True, eq=False)
class TagVariables:
    """The TAG variables of the target words whose tags are uncertain, and what depends on them.

    ``variables`` int32[U]: one for each word, of K states; the variable after the last has one state, for
        tags that are certain.
    ``possible`` bool[U, K]: the tags that each word may have, at least two; the first is that of the
        sentence.
    ``arcs`` int32[F]: variables of the arcs that have an end among these words.
    ``heads``, ``dependents`` int32[F]: places of their words among the U, or CERTAIN.
    ``links`` int32[L]: places, among the candidate links, of those of these words.
    ``linked`` int32[L]: places of their words among the U.
    """

    variables: Table
    possible: NDArray[np.bool_]
    arcs: Table
    heads: Table
    dependents: Table
    links: Table
    linked: Table

    @property
    def states(self) -> list[int]:
        """Number of states of each variable, the last one included."""
        return [*[self.possible.shape[1]] * len(self.variables), 1]


@dataclass(frozen=True, slots=True, eq=False)
class TagScores:
    """Natural-log scores of TAG variables; or what is believed, as probabilities.

    ``words`` float64[U, K]: of each tag of each word. Scores of tags that are not possible are not read.
    ``arcs`` float64[F, K, K]: of an arc together with [tag of its head, tag of its dependent]; a certain tag
        is at 0.
    ``links`` float64[L, K]: of a link together with the tag of its target word.
    """

    words: NDArray[np.float64]
    arcs: NDArray[np.float64]
    links: NDArray[np.float64]

    def less(self, other: TagScores) -> TagScores:
        """Return the difference of both."""
        return TagScores(self.words - other.words, self.arcs - other.arcs, self.links - other.links)

    def mixed(self, other: TagScores, share: float) -> TagScores:
        """Return the mean of both, in which the other has a weight of ``share``."""
        parts = zip((self.words, self.arcs, self.links), (other.words, other.arcs, other.links), strict=True)
        return TagScores(*((1.0 - share) * own + share * its for own, its in parts))


Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TagFactors:
    """The groups of a pair's TAG variables, in the order in which they are asked.

    ``link_variables`` int32[L]: of the links in question. ``known`` int8[V]: what is known of each variable
    of the graph.
    """

    tags: TagVariables
    link_variables: Table
    known: NDArray[np.int8]

    @property
    def decided(self) -> NDArray[np.int8] | None:
        """The tags, int8[U], where they are known; None where they are not."""
        states: NDArray[np.int8] = self.known[self.tags.variables]
        return None if (states == UNKNOWN).any() else states

    def groups(self, scores: TagScores) -> list[FactorGroup]:
        """Return the groups with scores; as many, over the same variables, whatever the scores are."""
        free_arcs = self.known[self.tags.arcs] == UNKNOWN
        if self.decided is not None:
            arcs, links = self._at_tags(scores)
            edges = np.concatenate([self.tags.arcs[free_arcs], self.link_variables])
            return [link(edges, np.concatenate([arcs[free_arcs], links]))]
        tags = self.tags
        last = tags.variables[-1] + 1
        groups: list[FactorGroup] = [
            tag(tags.variables, np.where(tags.possible, scores.words, -np.inf)),
            tag_link(
                self.link_variables,
                np.full(len(tags.links), last),
                tags.variables[tags.linked],
                scores.links[:, None],
            ),
        ]
        for chosen, cells in self._kinds():
            heads, dependents = (
                np.where(end[chosen] == CERTAIN, last, tags.variables[end[chosen]])
                for end in (tags.heads, tags.dependents)
            )
            groups.append(tag_link(tags.arcs[chosen], heads, dependents, scores.arcs[chosen][cells]))
        if not free_arcs.all():
            # The tree is known.
            arcs = tags.arcs[~free_arcs]
            groups.append(link(arcs, np.where(self.known[arcs] == TRUE_STATE, np.inf, -np.inf)))
        return groups

    def expected(self, found: list[Values], arcs: Values, links: Values) -> TagScores:
        """Return the probability that each score is counted.

        ``found`` list of float64[...]: what each of the groups expects of its scores. ``arcs``, ``links``
        float64[F], float64[L]: probabilities of the arcs and links in question.
        """
        u, k = self.tags.possible.shape
        words, of_links = np.zeros((u, k)), np.zeros((len(links), k))
        of_arcs = np.zeros((len(arcs), k, k))
        if self.decided is not None:
            words[np.arange(u), self.decided] = 1.0
            of_links[np.arange(len(links)), self.decided[self.tags.linked]] = links
            of_arcs[(np.arange(len(arcs)), *self._tags_of_arcs(self.decided))] = arcs
            return TagScores(words, of_arcs, of_links)
        for (chosen, cells), own in zip(self._kinds(), found[2:], strict=False):
            part = np.zeros((len(chosen), k, k))
            part[cells] = own
            of_arcs[chosen] = part
        return TagScores(found[0], of_arcs, found[1][:, 0])

    def _kinds(self) -> list[tuple[NDArray[np.intp], tuple[slice, slice, slice]]]:
        """Return the arcs by which of their ends have a choice, and the part of their scores that is read."""
        heads, dependents = self.tags.heads != CERTAIN, self.tags.dependents != CERTAIN
        every = slice(None)
        return [
            (np.flatnonzero((heads == of_head) & (dependents == of_dependent)), (every, *cells))
            for of_head, of_dependent, cells in (
                (False, True, (slice(1), every)),
                (True, False, (every, slice(1))),
                (True, True, (every, every)),
            )
        ]

    def _tags_of_arcs(self, states: NDArray[np.int8]) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return the tags of both ends of each arc, int8[F] each; 0 where it is certain."""
        ends = (self.tags.heads, self.tags.dependents)
        heads, dependents = (np.where(end == CERTAIN, 0, states[end]) for end in ends)
        return heads, dependents

    def _at_tags(self, scores: TagScores) -> tuple[Values, Values]:
        """Return the scores of arcs and links under the tags that are known."""
        states = self.decided
        assert states is not None
        arcs = scores.arcs[(np.arange(len(scores.arcs)), *self._tags_of_arcs(states))]
        return arcs, scores.links[np.arange(len(scores.links)), states[self.tags.linked]]


def no_scores(tags: TagVariables) -> TagScores:
    """Return zeros in the shapes of the scores of TAG variables."""
    u, k = tags.possible.shape
    return TagScores(np.zeros((u, k)), np.zeros((len(tags.arcs), k, k)), np.zeros((len(tags.links), k)))
