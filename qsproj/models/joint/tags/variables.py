"""TAG variables of a pair's graph: what they are about, and how they score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.models.joint.joint_sides import Table
from qsproj.models.joint.tags.choices import TagChoices
from qsproj.models.joint.tags.tagged_arcs import TaggedArcs

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


def tag_variables(
    choices: TagChoices, arcs: TaggedArcs, arc_variables: Table, links: Table, first: int
) -> TagVariables:
    """Lay out the TAG variables of a pair.

    ``arc_variables`` int32[n+1, n+1]: of the target. ``links`` int32[k, 2]: candidate links.
    """
    numbers = np.full(len(arc_variables), CERTAIN, dtype=np.int32)
    numbers[choices.words] = np.arange(len(choices.words))
    of_links = np.flatnonzero(numbers[links[:, 1]] != CERTAIN).astype(np.int32)
    return TagVariables(
        variables=np.arange(first, first + len(choices.words), dtype=np.int32),
        possible=choices.possible,
        arcs=arc_variables[arcs.heads, arcs.dependents],
        heads=numbers[arcs.heads],
        dependents=numbers[arcs.dependents],
        links=of_links,
        linked=numbers[links[of_links, 1]],
    )


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
