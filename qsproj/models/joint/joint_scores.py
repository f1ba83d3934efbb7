"""What belief propagation over a sentence pair is told, and what it finds: scores in, probabilities out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.status import Status
from qsproj.conventions import Scores
from qsproj.features.joint_templates import JUMP_SCORES
from qsproj.models.joint.tags.variables import TagScores

FamilyScores = tuple[NDArray[np.float64], ...]


def _no_jumps() -> NDArray[np.float64]:
    return np.zeros((0, JUMP_SCORES))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointScores:
    """Natural-log scores of everything in a pair's graph.

    ``source`` float64[m+1, m+1]: arcs; not read where the source tree is observed.
    ``target`` float64[n+1, n+1].
    ``links`` float64[k]: candidate links.
    ``fertility`` float64[m + n, B]: by number of links, the last bin open: source words, then target words.
    ``factors`` float64[F]: quasi-synchronous factors.
    ``jumps`` float64[A, JUMP_SCORES]: one row for each ALIGNHMM: jumps by width, then no link.
    ``source_factors``, ``target_factors`` tuple of float64[F]: second-order factors of each family of a side.
    ``tags``: of the TAG variables, where there are any.
    """

    source: Scores
    target: Scores
    links: NDArray[np.float64]
    fertility: NDArray[np.float64]
    factors: NDArray[np.float64]
    jumps: NDArray[np.float64] = field(default_factory=_no_jumps)
    source_factors: FamilyScores = ()
    target_factors: FamilyScores = ()
    tags: TagScores | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointBeliefs:
    """What belief propagation found; probabilities, in the shapes of :class:`JointScores`.

    ``source``, ``target`` float64[m+1, m+1], float64[n+1, n+1]: probability of each arc; 1 and 0 where a tree
        is observed.
    ``links`` float64[k].
    ``fertility`` float64[m + n, B].
    ``factors`` float64[F]: that each factor fires.
    ``status``: how the run ended.
    ``jumps`` float64[A, JUMP_SCORES]: how often each jump is expected.
    ``target_factors`` tuple of float64[F]: that each second-order factor over target arcs fires; 1 and 0
        where the tree is known. Those of the source are not asked for: they are never learned with the rest.
    ``tags``: of the TAG variables, and that their factors fire.
    """

    source: Scores
    target: Scores
    links: NDArray[np.float64]
    fertility: NDArray[np.float64]
    factors: NDArray[np.float64]
    status: Status
    iterations: int
    jumps: NDArray[np.float64] = field(default_factory=_no_jumps)
    target_factors: FamilyScores = ()
    tags: TagScores | None = None


def mixed(first: JointBeliefs, second: JointBeliefs, share: float) -> JointBeliefs:
    """Return the mean of two beliefs of the same graph, in which the second has a weight of ``share``.

    It contradicts itself where the second does; else status and iterations are the first's. So is what is
    believed of second-order factors: the target tree is known in both.
    """
    of_arrays = {
        name: (1.0 - share) * getattr(first, name) + share * getattr(second, name)
        for name in ("source", "target", "links", "fertility", "factors", "jumps")
    }
    status = second.status if second.status is Status.CONTRADICTION else first.status
    tags = None
    if first.tags is not None and second.tags is not None:
        tags = first.tags.mixed(second.tags, share)
    return replace(first, **of_arrays, status=status, tags=tags)
