"""NAND, NOT2 and NO2CYCLE: two booleans that must not both be true."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.bp.factors.pair import AllTrue, pair
from qsproj.bp.links import rival_heads, two_cycles


def nand(variables: ArrayLike) -> AllTrue:
    """Make NAND factors (thesis 2.2.4): at most one of two booleans, int[F, 2], is true; O(1) each."""
    table = np.asarray(variables, dtype=np.int32)
    return pair(table, np.full(len(table), -np.inf))


def not2(links: NDArray[np.int32]) -> AllTrue:
    """Make the NOT2 family: no word has two heads, said pair by pair; O(n^3) factors.

    ``links`` int32[n+1, n+1] names the boolean of each arc, as :mod:`qsproj.bp.links` explains.
    """
    return nand(rival_heads(links))


def no2cycle(links: NDArray[np.int32]) -> AllTrue:
    """Make the NO2CYCLE family: no two words head each other; O(n^2) factors. ``links`` as for NOT2."""
    return nand(two_cycles(links))
