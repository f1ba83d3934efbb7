"""SYNCH over a sentence pair: what no synchronous derivation of two trees has is ruled out.

*Source*: thesis 4.7.2.4. Where dependents are linked, exactly two of these three are forbidden: the link of
their heads, the source arc, the target arc. The roots are linked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.factors.link import link
from qsproj.bp.factors.pair import all_true
from qsproj.bp.factors.synch import synch
from qsproj.bp.group import FactorGroup
from qsproj.models.joint.joint_sides import ALWAYS_TRUE, NO_VARIABLE, Table
from qsproj.models.joint.joint_structure import TRUE_STATE, UNKNOWN, JointStructure


def synchronous_tables(structure: JointStructure) -> tuple[Table, Table]:
    """List the factors of SYNCH.

    Returns ``quadruples`` int32[F, 4]: link of the dependents, link of the heads, source arc, target arc;
    ALWAYS_TRUE where one is known. ``triples`` int32[G, 3]: what may not be true together, where one of the
    four cannot be: link of the dependents, two others.

    O(k m n) for k candidate links.
    """
    source, target = structure.source.arcs, structure.target.arcs
    links = np.full((len(source), len(target)), NO_VARIABLE, dtype=np.int32)
    links[0, 0] = ALWAYS_TRUE
    links[structure.links[:, 0], structure.links[:, 1]] = structure.link_variables
    of_source, of_target = structure.links[:, 0], structure.links[:, 1]
    shape = (len(structure.links), *links.shape)
    columns = [
        np.broadcast_to(column, shape)
        for column in (
            structure.link_variables[:, None, None],
            links,
            source.T[of_source][:, :, None],
            target.T[of_target][:, None, :],
        )
    ]
    possible = np.stack([column != NO_VARIABLE for column in columns[1:]])
    # No word is its own head: on the diagonal there is no arc, not one that is false. Treated as false it
    # would forbid nothing more, but by more factors.
    own_head = np.zeros(shape, dtype=np.bool_)
    k = np.arange(len(structure.links))
    own_head[k, of_source, :] = True
    own_head[k, :, of_target] = True
    count = np.where(own_head, 0, possible.sum(axis=0))
    quadruples = np.stack([column[count == 3] for column in columns], axis=1)
    two = count == 2
    others = np.stack([column[two] for column in columns[1:]], axis=1)
    remaining = others[possible[:, two].T].reshape(-1, 2)
    return quadruples, np.concatenate([columns[0][two][:, None], remaining], axis=1)


def synchronous_groups(structure: JointStructure, known: NDArray[np.int8]) -> list[FactorGroup]:
    """Return SYNCH as groups of factors, with what is known, int8[V], as evidence."""
    quadruples, triples = synchronous_tables(structure)
    decided = np.flatnonzero(known[: structure.n_variables] != UNKNOWN)
    return [
        link(decided, np.where(known[decided] == TRUE_STATE, np.inf, -np.inf)),
        synch(quadruples),
        all_true(triples, np.full(len(triples), -np.inf)),
    ]
