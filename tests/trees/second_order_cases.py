"""Random second-order scores."""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import strategies as st

from tests.oracles.second_order import tree_parts
from tests.oracles.trees import all_trees


@cache
def parts_that_are_read(n: int) -> frozenset:
    trees = all_trees(n, projective=False, single_root=False)
    return frozenset(part for heads in trees for part in tree_parts(heads))


def random_scores(seed: int, n: int, scale: float, model: str, *, ties=False, forbidden=0.0) -> dict:
    """Draw scores; NaN where nothing may be read."""
    rng = np.random.default_rng(seed)
    size = n + 1
    shapes = {
        "arcs": (size, size),
        "siblings": (size, size, size),
        "stops": (size, size),
        "childless": (size, 2),
        "grandparents": (size, size, size),
    }
    scores: dict = {}
    for name, shape in shapes.items():
        values = rng.normal(size=shape)
        values = scale * (np.round(values) if ties else values)
        values[rng.random(shape) < forbidden] = -np.inf
        is_read = np.zeros(shape, dtype=bool)
        for index in (index for part, index in parts_that_are_read(n) if part == name):
            is_read[index] = True
        scores[name] = np.where(is_read, values, np.nan)
    if model == "sibling":
        scores["grandparents"] = None
    return scores


def drawn(*, most_words: int = 5, scales=(1.0, 10.0, 100.0)):
    return st.builds(
        random_scores,
        st.integers(0, 10_000),
        st.integers(1, most_words),
        st.sampled_from(scales),
        st.sampled_from(["sibling", "grandparent"]),
        ties=st.booleans(),
        forbidden=st.sampled_from([0.0, 0.1, 0.3]),
    )


def filled(scores: dict) -> dict:
    """Replace what is not read by 0."""
    return {name: None if array is None else np.nan_to_num(array, nan=0.0) for name, array in scores.items()}
