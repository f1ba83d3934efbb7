"""Crossing arcs, lifting and dropping, against definitions word by word."""

import itertools

import numpy as np
import pytest

from qsproj.conventions import frozen_heads
from qsproj.trees.crossings import crossing_arcs, has_crossings, projectivise, without_crossings


def crosses(first, second):
    (a, b), (c, d) = sorted(first), sorted(second)
    return a < c < b < d or c < a < d < b


def crossing_by_pairs(heads):
    arcs = [(int(head), word) for word, head in enumerate(heads) if head >= 0]
    crossed = {
        word for (head, word), other in itertools.permutations(arcs, 2) if crosses((head, word), other)
    }
    return [word in crossed for word in range(len(heads))]


def random_tree(rng, n):
    while True:
        heads = np.array([-1, *(int(rng.integers(0, n + 1)) for _ in range(n))], dtype=np.int32)
        if all(reaches_root(heads, word) for word in range(1, n + 1)):
            return heads


def reaches_root(heads, word):
    for _ in heads:
        if word == 0:
            return True
        word = heads[word]
    return False


@pytest.mark.parametrize("seed", range(30))
def test_on_random_trees(seed):
    rng = np.random.default_rng(seed)
    heads = random_tree(rng, int(rng.integers(1, 8)))
    assert crossing_arcs(heads).tolist() == crossing_by_pairs(heads)
    assert has_crossings(heads) == any(crossing_by_pairs(heads))
    lifted = projectivise(heads)
    assert not any(crossing_by_pairs(lifted))
    assert all(reaches_root(lifted, word) for word in range(1, len(lifted)))
    kept = without_crossings(heads)
    assert not any(crossing_by_pairs(kept))
    assert np.all((kept == heads) | (kept == -1))
    if not any(crossing_by_pairs(heads)):
        np.testing.assert_array_equal(lifted, heads)
        np.testing.assert_array_equal(kept, heads)


def test_the_shortest_arc_is_lifted():
    # "A man came in who whistled": the relative clause leaves its noun for the verb.
    heads = frozen_heads([-1, 2, 3, 0, 3, 6, 2])
    assert crossing_arcs(heads).tolist() == [False, False, False, True, False, False, True]
    assert projectivise(heads).tolist() == [-1, 2, 3, 0, 3, 6, 3]
    assert without_crossings(heads).tolist() in ([-1, 2, 3, 0, 3, 6, -1], [-1, 2, 3, -1, 3, 6, 2])


def test_a_partial_tree_cannot_be_lifted():
    with pytest.raises(ValueError, match="has no head"):
        projectivise(frozen_heads([-1, 2, -1]))
