"""The variables of a sentence pair's joint graph and the tables of its factors, without their scores.

Variable 0 is always true: it stands for the link of the two roots and for what is observed. Tables over arcs
hold the variable of each arc [head, dependent], NONE where there is none because it is false.

*Source*: thesis 4.7.1, 4.7.2; pruning as in 4.7.2.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Heads
from qsproj.features.joint_templates import ALIGN_HMMS, FAMILIES
from qsproj.models.joint.joint_sides import NONE, TRUE, Pairs, Relation, Side, Table

# Asked for like a family of factors: that both trees and the links could be derived synchronously.
SYNCH = "SYNCH"
UNKNOWN, FALSE_STATE, TRUE_STATE = -1, 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class JointStructure:
    """What a joint graph consists of.

    Attributes
    ----------
    n_variables : int
        Booleans, the one that is always true included.
    source, target : Side
    links : int32[k, 2]
        Candidate links, source and target word.
    link_variables : int32[k]
    results : int32[P]
        Variables of grandparents and siblings, once for each pair of arcs that makes them true; sorted.
    pairs : int32[P, 2]
        These pairs.
    families : int8[F]
        Family of each quasi-synchronous factor, a place in FAMILIES.
    rows : int32[F, 4]
        The booleans of each factor, filled up with TRUE.
    words : int32[F, 4]
        Target head, target dependent, and the source words linked to them.
    synchronous : bool
        Whether SYNCH holds (:mod:`qsproj.models.joint.joint_synchronous`).
    align_hmms : tuple of str
        Which of ALIGN_HMMS hold.
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


def joint_structure(
    source: Side, target: Side, links: Table, n_variables: int, *, families: tuple[str, ...] = FAMILIES
) -> JointStructure:
    """Lay out the factors of a pair.

    Parameters
    ----------
    source, target : Side
        Their arcs are numbered below ``n_variables``.
    links : int32[k, 2]
        Candidate links.
    n_variables : int
        Number of variables so far; links, grandparents and siblings come after them.
    families : tuple of str
        Which of FAMILIES to use, and SYNCH and those of ALIGN_HMMS that are to hold.

    Notes
    -----
    O(k^2) for k candidate links.
    """
    link_variables = np.arange(n_variables, n_variables + len(links), dtype=np.int32)
    n_variables += len(links)
    with_root = np.concatenate([np.zeros((1, 2), dtype=np.int32), links])
    owners = np.concatenate([[TRUE], link_variables]).astype(np.int32)
    found = _firing_pairs(source, target, with_root, families)
    family_numbers, words, rows, ties = [], [], [], []
    for name, p, q in found:
        word = np.stack([with_root[p, 1], with_root[q, 1], with_root[p, 0], with_root[q, 0]], axis=1)
        on_source, on_target, tie, n_variables = _asked_for(name, source, target, word, n_variables)
        ties += tie
        family_numbers.append(np.full(len(p), FAMILIES.index(name), dtype=np.int8))
        words.append(word)
        rows.append(np.stack([owners[p], owners[q], on_source, on_target], axis=1))
    results = np.concatenate([np.zeros(0, dtype=np.int32), *(tie[0] for tie in ties)])
    pairs = np.concatenate([np.zeros((0, 2), dtype=np.int32), *(tie[1] for tie in ties)])
    order = np.argsort(results, kind="stable")
    return JointStructure(
        n_variables,
        source,
        target,
        links,
        link_variables,
        results[order],
        pairs[order],
        np.concatenate([np.zeros(0, dtype=np.int8), *family_numbers]),
        np.concatenate([np.zeros((0, 4), dtype=np.int32), *rows]).astype(np.int32),
        np.concatenate([np.zeros((0, 4), dtype=np.int32), *words]).astype(np.int32),
        SYNCH in families,
        tuple(name for name in ALIGN_HMMS if name in families),
    )


def _firing_pairs(
    source: Side, target: Side, links: Table, families: tuple[str, ...]
) -> list[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
    """Return, for each family, the pairs of links (of the heads, of the dependents) that it may fire on."""
    sources, targets = links[:, 0], links[:, 1]

    def across(possible: Pairs, words: Table) -> Pairs:
        spread: Pairs = possible[words[:, None], words]
        return spread

    source_arc, target_arc = across(source.arcs != NONE, sources), across(target.arcs != NONE, targets)
    found = []
    for name in families:
        if name in (SYNCH, *ALIGN_HMMS):
            continue
        if name == "MONO":
            firing = source_arc & target_arc
        elif name == "SWAP":
            firing = source_arc.T & target_arc
        elif name == "SDOUBLE":
            firing = source_arc & (targets[:, None] == targets)
        elif name == "TDOUBLE":
            firing = target_arc & (sources[:, None] == sources)
        elif name in ("SGRAND", "SSIB"):
            relation = source.grand if name == "SGRAND" else source.siblings
            firing = target_arc & across(relation.possible, sources)
        else:
            relation = target.grand if name == "TGRAND" else target.siblings
            firing = source_arc & across(relation.possible, targets)
        of_heads, of_dependents = np.nonzero(firing)
        found.append((name, of_heads, of_dependents))
    return found


def _asked_for(
    name: str, source: Side, target: Side, words: Table, n_variables: int
) -> tuple[Table, Table, list[tuple[Table, Table]], int]:
    """Return the variable on either side of each factor of a family, new ones where they are second-order."""
    head, dependent, source_head, source_dependent = words.T
    ties: list[tuple[Table, Table]] = []
    on_source = on_target = np.full(len(words), TRUE, dtype=np.int32)
    if name == "SGRAND":
        on_source, ties, n_variables = _indicators(
            source, source.grand, source_head, source_dependent, n_variables
        )
    elif name == "SSIB":
        left, right = np.minimum(source_head, source_dependent), np.maximum(source_head, source_dependent)
        on_source, ties, n_variables = _indicators(source, source.siblings, left, right, n_variables)
    elif name == "SWAP":
        on_source = source.arcs[source_dependent, source_head]
    elif name != "TDOUBLE":
        on_source = source.arcs[source_head, source_dependent]
    if name == "TGRAND":
        on_target, ties, n_variables = _indicators(target, target.grand, head, dependent, n_variables)
    elif name == "TSIB":
        left, right = np.minimum(head, dependent), np.maximum(head, dependent)
        on_target, ties, n_variables = _indicators(target, target.siblings, left, right, n_variables)
    elif name != "SDOUBLE":
        on_target = target.arcs[head, dependent]
    return on_source, on_target, ties, n_variables


def _indicators(
    side: Side, relation: Relation, first: Table, second: Table, n_variables: int
) -> tuple[Table, list[tuple[Table, Table]], int]:
    """Give every related pair of words that is asked for a variable, and tie it to its arcs."""
    if side.observed:
        return np.full(len(first), TRUE, dtype=np.int32), [], n_variables
    size = len(relation.possible)
    asked = np.unique(first * size + second)
    variables = np.full(size * size, NONE, dtype=np.int32)
    variables[asked] = np.arange(n_variables, n_variables + len(asked))
    results = variables[relation.first * size + relation.second]
    wanted = results != NONE
    tie = (results[wanted], relation.arcs[wanted])
    return variables[first * size + second], [tie], n_variables + len(asked)


def known_states(
    structure: JointStructure,
    target_heads: Heads | None = None,
    link_states: NDArray[np.int8] | None = None,
    *,
    source_heads: Heads | None = None,
) -> NDArray[np.int8]:
    """Return int8[V], what is known of each variable: UNKNOWN, FALSE_STATE or TRUE_STATE.

    Parameters
    ----------
    structure : JointStructure
    target_heads, source_heads : int32[n+1], int32[m+1] or None
        Trees that are observed, and with them the grandparents and siblings that follow; not read of a side
        that is observed in any case. All their arcs must have variables (pruning is told to keep them):
        a word whose head was pruned away would be left without one, and nothing would contradict.
    link_states : int8[k] or None
        What is known of the candidate links.
    """
    known = np.full(structure.n_variables, UNKNOWN, dtype=np.int8)
    known[TRUE] = TRUE_STATE
    if link_states is not None:
        known[structure.link_variables] = link_states
    for side, heads in ((structure.source, source_heads), (structure.target, target_heads)):
        if heads is None or side.observed:
            continue
        known[side.arcs[side.arcs != NONE]] = FALSE_STATE
        chosen = side.arcs[heads[1:], np.arange(1, len(heads))]
        known[chosen[chosen != NONE]] = TRUE_STATE
    decided = known[structure.pairs[:, 0]] != UNKNOWN
    known[structure.results[decided]] = FALSE_STATE
    both = (known[structure.pairs] == TRUE_STATE).all(axis=1)
    known[structure.results[both]] = TRUE_STATE
    return known


def free_rows(rows: Table, known: NDArray[np.int8]) -> list[tuple[NDArray[np.int64], Table]]:
    """Leave out of factors what is known, and factors that cannot fire.

    Returns
    -------
    list of (int64[f], int32[f, d])
        For each number d of booleans that are left, 0..4: the factors with so many, and these booleans.
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
