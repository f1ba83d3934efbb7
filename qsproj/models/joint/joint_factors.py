"""The quasi-synchronous factors of a sentence pair: what each family asks of either tree.

A factor is about two links, that of a head and that of a dependent. It fires if both hold, and if the two
source words and the two target words stand as its family wants them to. The link of the roots is one that
always holds.

*Source*: thesis 4.7.2.3. Families of grandparents or siblings on both sides are ours: pairs of arcs are what
the factors of a second-order target parser are about, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from qsproj.models.joint.joint_sides import ALWAYS_TRUE, NO_VARIABLE, Pairs, Relation, Side, Table


class Variables:
    """The variables of a pair's graph as they are handed out. Mutable.

    ``count``: how many there are so far.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._results = [np.zeros(0, dtype=np.int32)]
        self._pairs = [np.zeros((0, 2), dtype=np.int32)]

    def of_pairs(self, relation: Relation, first: Table, second: Table) -> Table:
        """Give every related pair of words that is asked for a variable, and tie it to its arcs.

        ``first``, ``second`` int32[F]: the words of each pair; pairs that are the same share a variable.
        """
        size = len(relation.possible)
        asked = np.unique(first * size + second)
        variables = np.full(size * size, NO_VARIABLE, dtype=np.int32)
        variables[asked] = np.arange(self.count, self.count + len(asked))
        self.count += len(asked)
        results = variables[relation.first * size + relation.second]
        wanted = results != NO_VARIABLE
        self._results.append(results[wanted])
        self._pairs.append(relation.arcs[wanted])
        made: Table = variables[first * size + second]
        return made

    def ties(self) -> tuple[Table, Table]:
        """Return the tied variables, int32[P], sorted, and the arcs that make each true, int32[P, 2]."""
        results, pairs = np.concatenate(self._results), np.concatenate(self._pairs)
        order = np.argsort(results, kind="stable")
        return results[order], pairs[order]


@dataclass(frozen=True, slots=True)
class Stand:
    """How two words of one side stand to each other.

    ``possible``: ``possible(side, words)`` tells of the words int32[k] of k links, bool[k, k], which two of
    them (that of the head, that of the dependent) may stand so. ``ask``: ``ask(side, heads, dependents,
    variables)`` returns int32[F], the variable that says whether two words do, for each of F pairs that may.
    """

    possible: Callable[[Side, Table], Pairs]
    ask: Callable[[Side, Table, Table, Variables], Table]


def _spread(possible: Pairs, words: Table) -> Pairs:
    """Look up the words of every two links."""
    spread: Pairs = possible[words[:, None], words]
    return spread


def _ask_relation(side: Side, relation: Relation, first: Table, second: Table, variables: Variables) -> Table:
    """Return variables of grandparents or siblings; where the tree is observed, those that may be are."""
    if side.observed:
        return np.full(len(first), ALWAYS_TRUE, dtype=np.int32)
    return variables.of_pairs(relation, first, second)


ARC = Stand(
    lambda side, words: _spread(side.arcs != NO_VARIABLE, words),
    lambda side, heads, dependents, _: side.arcs[heads, dependents],
)
TURNED_ARC = Stand(
    lambda side, words: _spread(side.arcs != NO_VARIABLE, words).T,
    lambda side, heads, dependents, _: side.arcs[dependents, heads],
)
SAME_WORD = Stand(
    lambda _, words: words[:, None] == words,
    lambda _, heads, dependents, __: np.full(len(heads), ALWAYS_TRUE, dtype=np.int32),
)
GRANDPARENT = Stand(
    lambda side, words: _spread(side.grand.possible, words),
    lambda side, heads, dependents, variables: _ask_relation(side, side.grand, heads, dependents, variables),
)
SIBLINGS = Stand(
    lambda side, words: _spread(side.siblings.possible, words),
    lambda side, heads, dependents, variables: _ask_relation(
        side, side.siblings, np.minimum(heads, dependents), np.maximum(heads, dependents), variables
    ),
)


TURNED_GRANDPARENT = Stand(
    lambda side, words: _spread(side.grand.possible, words).T,
    lambda side, heads, dependents, variables: _ask_relation(side, side.grand, dependents, heads, variables),
)
# Each two siblings once.
SIBLINGS_IN_ORDER = Stand(
    lambda side, words: SIBLINGS.possible(side, words) & (words[:, None] < words),
    SIBLINGS.ask,
)


class Family(NamedTuple):
    """A row of FACTORS: how the source words stand, and how the target words do."""

    source: Stand
    target: Stand


# By the names of qsproj.features.joint_templates.EVERY_FAMILY, which model files hold.
FACTORS = {
    "MONO": Family(ARC, ARC),
    "SWAP": Family(TURNED_ARC, ARC),
    "SDOUBLE": Family(ARC, SAME_WORD),
    "TDOUBLE": Family(SAME_WORD, ARC),
    "SGRAND": Family(GRANDPARENT, ARC),
    "SSIB": Family(SIBLINGS, ARC),
    "TGRAND": Family(ARC, GRANDPARENT),
    "TSIB": Family(ARC, SIBLINGS),
    "STGRAND": Family(GRANDPARENT, GRANDPARENT),
    "SWAPGRAND": Family(TURNED_GRANDPARENT, GRANDPARENT),
    "STSIB": Family(SIBLINGS, SIBLINGS_IN_ORDER),
    "SSIBTGRAND": Family(SIBLINGS, GRANDPARENT),
    "SGRANDTSIB": Family(GRANDPARENT, SIBLINGS),
}
