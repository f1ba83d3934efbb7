"""One side of a sentence pair's joint graph: the variables of its arcs, and which pairs of them may matter.

Variable 0 is always true: it stands for the arcs of a tree that is observed. Tables over arcs hold the
variable of each arc [head, dependent], NO_VARIABLE where there is none because it is false.

*Source*: thesis 4.7.2.1, 4.7.2.2; pruning as in 4.7.2.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.beliefs import odds_of
from qsproj.bp.links import NO_LINK
from qsproj.conventions import Heads
from qsproj.models.graph.graph_factors import FamilyFactors
from qsproj.models.joint.joint_options import MIN_PROBABILITY

NO_VARIABLE = NO_LINK
ALWAYS_TRUE = 0
# What is known of a variable.
UNKNOWN, FALSE_STATE, TRUE_STATE = -1, 0, 1

# Heads kept for each word, at most: the most probable ones.
MAX_HEADS = 20
# Second-order variables stand for pairs of arcs whose log-odds sum to more than this.
LEAST_LOG_ODDS = 0.0

Table = NDArray[np.int32]
Pairs = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """Grandparents or siblings of a side: which may be, and which pairs of arcs make them.

    ``possible`` bool[n+1, n+1]: grandparent and grandchild; or two siblings, either way round.
    ``first``, ``second`` int32[P]: the words of each pair of arcs.
    ``arcs`` int32[P, 2]: the variables of the two arcs.
    """

    possible: Pairs
    first: Table
    second: Table
    arcs: Table


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One sentence of the pair.

    ``arcs`` int32[n+1, n+1]: the variable of each arc; ALWAYS_TRUE for the arcs of an observed tree.
    ``observed``: whether the tree is given.
    ``grand``, ``siblings``: what quasi-synchronous factors of the second order may ask for.
    ``families``: the second-order factors of the side's own parser over these arcs; none where that is of
        first order, or the tree is given.
    """

    arcs: Table
    observed: bool
    grand: Relation
    siblings: Relation
    families: tuple[FamilyFactors, ...] = ()


def kept_arcs(
    marginals: NDArray[np.float64], *trees: Heads, least_probability: float = MIN_PROBABILITY
) -> Pairs:
    """Choose the arcs of a side: each word's most probable heads, and all arcs of some trees.

    ``marginals`` float64[n+1, n+1]: probability of each arc under a first-order model. ``trees`` int32[n+1]:
    what must stay possible: the best tree, so that there is one; in training, the true one.
    """
    kept = marginals >= least_probability
    if len(marginals) > MAX_HEADS:
        weakest = np.partition(marginals, -MAX_HEADS, axis=0)[-MAX_HEADS]
        kept &= marginals >= weakest
    for heads in trees:
        kept[heads[1:], np.arange(1, len(heads))] = True
    kept[:, 0] = False
    np.fill_diagonal(kept, False)
    return kept


def free_side(
    marginals: NDArray[np.float64],
    kept: Pairs,
    first_variable: int,
    *,
    families: Sequence[FamilyFactors] = (),
) -> Side:
    """Return a side whose tree is not known; its arcs are numbered from ``first_variable`` on.

    ``marginals`` float64[n+1, n+1]: probability of each arc under a first-order model. ``kept`` bool[n+1,
    n+1]: the arcs that have variables, head after head.
    """
    heads, dependents = (ends.astype(np.int32) for ends in np.nonzero(kept))
    arcs = np.full(kept.shape, NO_VARIABLE, dtype=np.int32)
    variables = np.arange(first_variable, first_variable + len(heads), dtype=np.int32)
    arcs[heads, dependents] = variables
    log_odds = odds_of(marginals[heads, dependents])
    with np.errstate(invalid="ignore"):
        # A certain and an impossible arc: NaN, which is not more.
        likely = log_odds[:, None] + log_odds > LEAST_LOG_ODDS
    upper, lower = np.nonzero(likely & (dependents[:, None] == heads) & (heads[:, None] != dependents))
    one, other = np.nonzero(likely & (heads[:, None] == heads) & (dependents[:, None] < dependents))
    grand = _relation(heads[upper], dependents[lower], variables[upper], variables[lower], len(arcs))
    siblings = _relation(dependents[one], dependents[other], variables[one], variables[other], len(arcs))
    siblings.possible[dependents[other], dependents[one]] = True
    moved = tuple(family.numbered_from(first_variable) for family in families)
    return Side(arcs, False, grand, siblings, moved)


def observed_side(heads: Heads) -> Side:
    """Return a side whose tree is given, int32[n+1]."""
    size = len(heads)
    words = np.arange(1, size, dtype=np.int32)
    arcs = np.full((size, size), NO_VARIABLE, dtype=np.int32)
    arcs[heads[1:], words] = ALWAYS_TRUE
    below = words[heads[1:] > 0]
    true = np.full(size * size, ALWAYS_TRUE, dtype=np.int32)
    grand = _relation(heads[heads[below]], below, true[: len(below)], true[: len(below)], size)
    one, other = np.nonzero((heads[1:, None] == heads[1:]) & (words[:, None] < words))
    siblings = _relation(words[one], words[other], true[: len(one)], true[: len(one)], size)
    siblings.possible[words[other], words[one]] = True
    return Side(arcs, True, grand, siblings)


def _relation(first: Table, second: Table, one: Table, other: Table, size: int) -> Relation:
    possible = np.zeros((size, size), dtype=np.bool_)
    possible[first, second] = True
    return Relation(possible, first, second, np.stack([one, other], axis=1))
