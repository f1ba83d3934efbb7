"""Configurations on every tree of up to five words, against definitions over paths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from qsproj.conventions import frozen_heads
from qsproj.features.qg_configurations import (
    CONFIGURATION_NAMES,
    NULL_CONFIGURATION,
    configuration_choices,
    configurations,
)
from tests.oracles import qg_configurations as oracle
from tests.oracles.trees import all_trees


def agrees(heads):
    """Compare all pairs of a tree: each has exactly one configuration, the one the definitions give."""
    found = configurations(frozen_heads(heads))
    senses = [*range(len(heads)), None]
    assert found.shape == (len(senses), len(senses))
    for (i, head), (j, dependent) in itertools.product(enumerate(senses), repeat=2):
        expected = oracle.configuration(heads, head, dependent)
        assert CONFIGURATION_NAMES[found[i, j]] == expected, (heads, head, dependent)


def test_the_names_are_those_of_the_thesis_in_order():
    assert CONFIGURATION_NAMES == oracle.ORDER


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_all_trees(n):
    for heads in all_trees(n, projective=False, single_root=False):
        agrees(heads)


def test_missing_heads_end_the_way_up():
    for heads in all_trees(4, projective=False, single_root=False):
        for missing in range(1, 5):
            agrees(tuple(-1 if word == missing else head for word, head in enumerate(heads)))


def test_german_nouns_under_an_english_modal():
    """Figure 4.3: `could` dominates `Chernobyl`, so that the two are not in a c-command relationship."""
    # Then we could deal with Chernobyl some time later .
    heads = (-1, 3, 3, 0, 3, 4, 5, 8, 9, 4, 3)
    found = configurations(frozen_heads(heads))
    assert CONFIGURATION_NAMES[found[6, 3]] == "other"
    assert CONFIGURATION_NAMES[found[2, 5]] == "c-command"


def test_choices_count_the_words_and_null_once():
    heads = frozen_heads((-1, 2, 0, 2, 3))
    found = configurations(heads)
    choices = configuration_choices(found)
    for sense in range(6):
        expected = np.bincount(found[sense, 1:], minlength=len(CONFIGURATION_NAMES))
        np.testing.assert_array_equal(choices[sense], expected)
    assert (choices.sum(axis=1) == 5).all()
    assert choices[5, NULL_CONFIGURATION] == 5
