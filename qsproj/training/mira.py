"""MIRA, the margin-infused relaxed algorithm: the least change of weights that meets a sentence's margins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.features.hildreth import hildreth
from qsproj.training.margins import Constraints
from qsproj.training.optimiser import Weights
from qsproj.training.plain import PlainSteps

# How far a constraint may be off, in units of the score, and how often all are gone through at most.
TOLERANCE = 1e-3
PASSES = 1000


class FeatureRows(NamedTuple):
    """The features of some arcs, row by row.

    Attributes
    ----------
    starts : int64[rows + 1]
    buckets : uint64[starts[-1]]
    """

    starts: NDArray[np.int64]
    buckets: NDArray[np.uint64]


class LeastChange(PlainSteps):
    """Hashed weights that move as little as constraints on them allow. Mutable; final.

    Parameters
    ----------
    weights : float32[buckets] or float64[buckets]
        Where learning starts; every step changes them.
    limit : float
        How far one constraint may move the weights: the most its multiplier can be; infinity: as far as it
        takes.

    *Source*: Crammer and Singer 2003; McDonald, Crammer and Pereira 2006, 3.1. The limit: Crammer et al. 2006
    (PA-I).
    """

    def __init__(self, weights: Weights, *, limit: float = np.inf) -> None:
        super().__init__(weights, capacity=1)
        self.limit = limit

    def meet(
        self,
        constraints: Constraints,
        rows: FeatureRows,
        slacks: NDArray[np.float64],
        multipliers: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Move the weights until they meet constraints; return the multipliers that led there.

        Parameters
        ----------
        constraints : Constraints
        rows : FeatureRows
            Of the arcs of the constraints.
        slacks : float64[constraints]
            What each lacks under the weights as they are.
        multipliers : float64[constraints]
            Those of moves already made for the same example; 0 to begin with. Not changed.
        """
        found = multipliers.copy()
        hildreth(
            constraints.starts,
            constraints.members,
            constraints.signs,
            *rows,
            slacks,
            self.limit,
            TOLERANCE,
            PASSES,
            found,
            self.gradient,
        )
        self.touched, self.used = rows.buckets, len(rows.buckets)
        self.move()
        return found
