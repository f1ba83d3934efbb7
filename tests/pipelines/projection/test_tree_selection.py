"""Which projected trees are trained on: dense ones, of all lengths, without regard to when they come."""

from __future__ import annotations

import itertools

import numpy as np

from qsproj.pipelines.projection.hard_projection import BANDS, densest_of_each_length
from tests.sentences import make_sentence


def tree(length, attached):
    return make_sentence("w " * length, "X " * length, [0, *range(1, attached), *[-1] * (length - attached)])


def chosen(trees, **options):
    """Return the places of the chosen trees."""
    return [
        next(i for i, one in enumerate(trees) if one is got)
        for got in densest_of_each_length(trees, **options)
    ]


def test_the_densest_in_the_order_of_the_input_and_the_earlier_of_equals():
    trees = [tree(4, attached) for attached in (2, 4, 3, 4, 4, 3)]
    assert chosen(trees, min_attached=0.0, max_sentences=2) == [1, 3]
    assert chosen(trees, min_attached=0.0, max_sentences=4) == [1, 2, 3, 4]
    assert chosen(trees, min_attached=0.75, max_sentences=99) == [1, 2, 3, 4, 5]
    assert chosen(trees, min_attached=1.0, max_sentences=99) == [1, 3, 4]


def test_trees_without_heads_are_never_chosen():
    bare = make_sentence("a b", "X X")
    assert chosen([bare, make_sentence("", ""), tree(2, 1)], min_attached=0.0, max_sentences=9) == [2]


def test_long_sentences_keep_their_places():
    """Half the corpus is long and less dense: it gets half the places all the same."""
    trees = [tree(4, 4) for _ in range(50)] + [tree(28, 20) for _ in range(50)]
    lengths = [len(trees[i]) for i in chosen(trees, min_attached=0.5, max_sentences=20)]
    assert lengths == [4] * 10 + [28] * 10
    # Where too few are dense enough, places stay empty.
    lengths = [len(trees[i]) for i in chosen(trees, min_attached=0.8, max_sentences=20)]
    assert lengths == [4] * 10


def test_against_sorting_each_band():
    rng = np.random.default_rng(3)
    trees = []
    for _ in range(400):
        length = int(rng.integers(1, 70))
        trees.append(tree(length, int(rng.integers(1, length + 1))))
    expected = []
    edges = [0, *BANDS, 10**6]
    for low, high in itertools.pairwise(edges):
        band = [i for i, one in enumerate(trees) if low < len(one) <= high]
        dense = [i for i in band if np.mean(trees[i].heads[1:] >= 0) >= 0.6]
        dense.sort(key=lambda i: -np.mean(trees[i].heads[1:] >= 0))
        expected += dense[: int(np.ceil(50 * len(band) / len(trees)))]
    assert chosen(trees, min_attached=0.6, max_sentences=50) == sorted(expected)
