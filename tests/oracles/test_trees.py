"""The oracle itself: the closed forms count what it enumerates."""

from __future__ import annotations

import pytest

from tests.oracles.trees import all_trees, is_projective, is_tree, number_of_trees


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_enumeration_has_the_known_size(n: int, projective: bool, single_root: bool) -> None:
    trees = all_trees(n, projective=projective, single_root=single_root)
    assert len(set(trees)) == len(trees) == number_of_trees(n, projective=projective, single_root=single_root)


def test_crossing_arcs_and_cycles_are_seen() -> None:
    assert not is_projective((-1, 3, 0, 2, 1)) and is_tree((-1, 3, 0, 2, 1))
    assert not is_tree((-1, 2, 1, 0))
