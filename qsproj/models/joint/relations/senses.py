"""What the words of a target tree are linked to, and how that stands in the source tree: beliefs as a table.

A *sense* of a word is a source word that it may be linked to, in one of the configurations of
quasi-synchronous grammar: how that word stands in the source tree to the one that the head is linked to.

*Source*: thesis 4.3 for senses and configurations, 4.7.2.3 for the factors that stand for them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT, Heads
from qsproj.features.joint_templates import EVERY_FAMILY
from qsproj.models.joint.joint_scores import JointBeliefs
from qsproj.models.joint.joint_structure import JointStructure

# Families that ask for an arc between the target words, then any other way to be linked. Model files have
# rows of a table for these, in this order: a family that is added later is one of the other ways.
ARC_FAMILIES = ("MONO", "SWAP", "TDOUBLE", "SGRAND", "SSIB")
LINKED = "LINKED"
CONFIGURATIONS = (*ARC_FAMILIES, LINKED)
# Senses that are less probable are left out.
LEAST_CHANCE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Senses:
    """What the words of a target tree may be linked to.

    ``words`` int32[E]: target words, ascending.
    ``configurations`` int8[E]: places in CONFIGURATIONS.
    ``sources`` int32[E]: the source word whose relation counts: the one linked to the word; where the
        source's arc is turned (SWAP), its head is the dependent, and counts.
    ``chances`` float64[E]: those of a word sum to one at most; what is missing is that it is linked to
        nothing.
    """

    words: NDArray[np.int32]
    configurations: NDArray[np.int8]
    sources: NDArray[np.int32]
    chances: NDArray[np.float64]


def expected_senses(structure: JointStructure, beliefs: JointBeliefs, target_heads: Heads) -> Senses:
    """Return the senses of the words of a target tree.

    ``target_heads`` int32[n+1].

    A sense's chance is the expected number of ways to be in its configuration. A word that has several links,
    or whose head does, may be in several at once; then the chances of the word are divided by their sum.
    """
    heads, words, source_heads, sources = structure.words.T
    numbers = np.array([_NUMBERS.get(name, -1) for name in EVERY_FAMILY], dtype=np.int8)[structure.families]
    turned = numbers == CONFIGURATIONS.index("SWAP")
    told = (numbers >= 0) & (words > 0) & (target_heads[words] == heads)
    # The root of the source has no relation.
    told &= np.where(turned, source_heads, sources) != ROOT
    fired = np.zeros((len(target_heads), len(structure.source.arcs)))
    np.add.at(fired, (words[told], sources[told]), beliefs.factors[told])
    of_links = structure.links[:, 1], structure.links[:, 0]
    chances = np.concatenate([beliefs.factors[told], np.maximum(beliefs.links - fired[of_links], 0.0)])
    likely = np.flatnonzero(chances >= LEAST_CHANCE)
    of_words = np.concatenate([words[told], of_links[0]])[likely]
    order = np.argsort(of_words, kind="stable")
    chosen, of_words = likely[order], of_words[order]
    said = np.bincount(of_words, weights=chances[chosen], minlength=len(target_heads))
    linked = np.full(len(of_links[0]), CONFIGURATIONS.index(LINKED), dtype=np.int8)
    return Senses(
        of_words,
        np.concatenate([numbers[told], linked])[chosen],
        np.concatenate([np.where(turned, source_heads, sources)[told], of_links[1]])[chosen],
        chances[chosen] / np.maximum(said, 1.0)[of_words],
    )


_NUMBERS = {name: number for number, name in enumerate(ARC_FAMILIES)}
