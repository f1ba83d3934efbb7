"""The variables of a sentence pair's joint graph and the tables of its factors, without their scores.

Variable 0 is always true: it stands for the link of the two roots and for what is observed. Tables over arcs
hold the variable of each arc [head, dependent], NO_VARIABLE where there is none because it is false.

*Source*: thesis 4.7.1, 4.7.2; pruning as in 4.7.2.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Heads
from qsproj.features.joint_templates import ALIGN_HMMS, ALIGN_ITG, EVERY_FAMILY, FAMILIES
from qsproj.models.joint.joint_factors import FACTORS, Variables
from qsproj.models.joint.joint_options import MOST_ITG_WORDS, SYNCH
from qsproj.models.joint.joint_sides import ALWAYS_TRUE, NO_VARIABLE, Side, Table
from qsproj.models.joint.tags.variables import TagVariables

UNKNOWN, FALSE_STATE, TRUE_STATE = -1, 0, 1

_NO_ROWS = np.zeros((0, 4), dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointStructure:
    """What a joint graph consists of.

    ``n_variables``: booleans, the one that is always true included. TAG variables come after them.
    ``links`` int32[k, 2]: candidate links, source and target word.
    ``link_variables`` int32[k].
    ``results`` int32[P]: variables of grandparents and siblings, once for each pair of arcs that makes them
        true; sorted.
    ``pairs`` int32[P, 2]: these pairs.
    ``families`` int8[F]: family of each quasi-synchronous factor, a place in EVERY_FAMILY.
    ``rows`` int32[F, 4]: the booleans of each factor, filled up with ALWAYS_TRUE.
    ``words`` int32[F, 4]: target head, target dependent, and the source words linked to them.
    ``synchronous``: whether SYNCH holds (:mod:`qsproj.models.joint.joint_synchronous`).
    ``align_hmms``: which of ALIGN_HMMS hold.
    ``align_itg``: whether ALIGNITG holds; only where :func:`within_itg`.
    ``tags``: of target words whose tags are uncertain; None: all tags are certain.
    """

    n_variables: int
    source: Side
    target: Side
    links: Table
    link_variables: Table
    results: Table
    pairs: Table
    families: NDArray[np.int8]
    rows: Table
    words: Table
    synchronous: bool = False
    align_hmms: tuple[str, ...] = ()
    align_itg: bool = False
    tags: TagVariables | None = None

    @property
    def states(self) -> NDArray[np.int32]:
        """Number of states of each variable, int32[V]."""
        booleans = np.full(self.n_variables, 2, dtype=np.int32)
        return booleans if self.tags is None else np.append(booleans, self.tags.states).astype(np.int32)


def joint_structure(
    source: Side, target: Side, links: Table, n_variables: int, *, families: tuple[str, ...] = FAMILIES
) -> JointStructure:
    """Lay out the factors of a pair.

    ``links`` int32[k, 2]: candidate links.

    O(k^2) for k candidate links.
    """
    link_variables = np.arange(n_variables, n_variables + len(links), dtype=np.int32)
    variables = Variables(n_variables + len(links))
    sources, targets = np.concatenate([np.zeros((1, 2), dtype=np.int32), links]).T
    owners = np.concatenate([[ALWAYS_TRUE], link_variables]).astype(np.int32)
    numbers, words, rows = [np.zeros(0, dtype=np.int8)], [_NO_ROWS], [_NO_ROWS]
    for name in families:
        if name not in FACTORS:
            continue
        on_source, on_target = FACTORS[name]
        possible = on_source.possible(source, sources) & on_target.possible(target, targets)
        heads, dependents = np.nonzero(possible)
        ends = targets[heads], targets[dependents], sources[heads], sources[dependents]
        asked = on_source.ask(source, *ends[2:], variables), on_target.ask(target, *ends[:2], variables)
        numbers.append(np.full(len(heads), EVERY_FAMILY.index(name), dtype=np.int8))
        words.append(np.stack(ends, axis=1))
        rows.append(np.stack([owners[heads], owners[dependents], *asked], axis=1))
    results, pairs = variables.ties()
    return JointStructure(
        n_variables=variables.count,
        source=source,
        target=target,
        links=links,
        link_variables=link_variables,
        results=results,
        pairs=pairs,
        families=np.concatenate(numbers),
        rows=np.concatenate(rows).astype(np.int32),
        words=np.concatenate(words).astype(np.int32),
        synchronous=SYNCH in families,
        align_hmms=tuple(name for name in ALIGN_HMMS if name in families),
        align_itg=ALIGN_ITG in families and within_itg(links),
    )


def within_itg(links: Table) -> bool:
    """Tell whether candidate links, int32[k, 2], are of so few words that ALIGNITG is summed over.

    It takes the cube of the product of both numbers of words that have candidates.
    """
    m, n = (len(np.unique(words)) for words in links.T)
    return m * n <= MOST_ITG_WORDS**2


def beyond_itg(families: tuple[str, ...], links: Table) -> bool:
    """Tell whether ALIGNITG is among ``families``, and candidate links int32[k, 2] are of too many words."""
    return ALIGN_ITG in families and not within_itg(links)


def known_states(
    structure: JointStructure,
    target_heads: Heads | None = None,
    link_states: NDArray[np.int8] | None = None,
    *,
    source_heads: Heads | None = None,
    target_tags: NDArray[np.int8] | None = None,
) -> NDArray[np.int8]:
    """Return int8[V], what is known of each variable: UNKNOWN, FALSE_STATE or TRUE_STATE; or its tag.

    ``target_heads``, ``source_heads`` int32[n+1], int32[m+1] or None: trees that are observed, and with them
    the grandparents and siblings that follow; not read of a side that is observed in any case. All their arcs
    must have variables (pruning is told to keep them): a word whose head was pruned away would be left
    without one, and nothing would contradict. ``link_states`` int8[k] or None: what is known of the candidate
    links. ``target_tags`` int8[U] or None: which of its possible tags each TAG variable has; None: they are
    not known.
    """
    known = np.full(len(structure.states), UNKNOWN, dtype=np.int8)
    known[ALWAYS_TRUE] = TRUE_STATE
    if link_states is not None:
        known[structure.link_variables] = link_states
    if target_tags is not None and structure.tags is not None:
        known[structure.tags.variables] = target_tags
    for side, heads in ((structure.source, source_heads), (structure.target, target_heads)):
        if heads is None or side.observed:
            continue
        known[side.arcs[side.arcs != NO_VARIABLE]] = FALSE_STATE
        chosen = side.arcs[heads[1:], np.arange(1, len(heads))]
        known[chosen[chosen != NO_VARIABLE]] = TRUE_STATE
    decided = known[structure.pairs[:, 0]] != UNKNOWN
    known[structure.results[decided]] = FALSE_STATE
    both = (known[structure.pairs] == TRUE_STATE).all(axis=1)
    known[structure.results[both]] = TRUE_STATE
    return known


def free_rows(rows: Table, known: NDArray[np.int8]) -> list[tuple[NDArray[np.int64], Table]]:
    """Leave out of factors what is known, and factors that cannot fire.

    Returns for each number d of booleans that are left, 0..4, the factors with so many, int64[f], and these
    booleans, int32[f, d].
    """
    states = known[rows]
    alive = (states != FALSE_STATE).all(axis=1)
    free = states == UNKNOWN
    degrees = free.sum(axis=1)
    reduced = []
    for degree in range(5):
        chosen = np.flatnonzero(alive & (degrees == degree))
        reduced.append((chosen, rows[chosen][free[chosen]].reshape(len(chosen), degree)))
    return reduced
