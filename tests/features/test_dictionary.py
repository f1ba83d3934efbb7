"""A dictionary counted from candidate links."""

from __future__ import annotations

import numpy as np
import pytest

from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.features.joint_templates import (
    LINK_TEMPLATES,
    STRENGTH_TEMPLATES,
    Dictionary,
    count_dictionary,
    link_buckets,
    word_hashes,
)
from tests.sentences import make_sentence


def pair_of(source, target, links):
    sides = (make_sentence(words, " ".join("_" * len(words.split()))) for words in (source, target))
    rows, posteriors = [link[:2] for link in links], [link[2] for link in links]
    sizes = len(source.split()), len(target.split())
    return SentencePair(*sides, make_alignment(*sizes, rows, weights=posteriors))


PAIRS = [
    pair_of("the house", "das Haus", [(1, 1, 0.8), (2, 2, 0.9), (1, 2, 0.1)]),
    pair_of("The end", "das Ende", [(1, 1, 0.6), (2, 2, 0.7)]),
    pair_of("the the", "das die", [(1, 1, 0.5), (2, 1, 0.3), (2, 2, 0.9)]),
]
UNSEEN = pair_of("the tree", "das Haus", [(1, 1, 0.5), (1, 2, 0.5), (2, 2, 0.5)])


def test_strengths_are_shrunk_dice_coefficients_of_lower_case_forms():
    found = count_dictionary(PAIRS).strengths(UNSEEN)
    # "the" occurs four times, "das" three times, "Haus" once; the-Haus was linked too rarely to be kept.
    assert found[0] == pytest.approx(2 * (0.8 + 0.6 + 0.8) / (4 + 3 + 1))
    assert found[1] == 0.0
    assert np.isnan(found[2])


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_pair_that_was_counted_can_be_left_out(place):
    """As if the dictionary had been counted from the others."""
    others = count_dictionary(PAIRS[:place] + PAIRS[place + 1 :])
    left_out = count_dictionary(PAIRS).strengths(PAIRS[place], counted=True)
    np.testing.assert_allclose(left_out, others.strengths(PAIRS[place]), atol=1e-12)


def test_arrays_hold_all_of_it_and_nothing_counted_knows_nothing():
    counted = count_dictionary(PAIRS)
    again = Dictionary.from_arrays(counted.to_arrays())
    np.testing.assert_array_equal(again.strengths(UNSEEN), counted.strengths(UNSEEN))
    assert np.isnan(count_dictionary([]).strengths(UNSEEN)).all()


def test_strengths_add_features_to_those_that_links_have_anyway():
    pair = PAIRS[0]
    arguments = pair.alignment, pair.source, pair.target, word_hashes(pair.source), word_hashes(pair.target)
    without = link_buckets(*arguments)
    weak, strong = (link_buckets(*arguments, np.full(3, value)) for value in (0.1, 0.9))
    n = len(LINK_TEMPLATES)
    assert strong.shape[1] == n + len(STRENGTH_TEMPLATES)
    np.testing.assert_array_equal(strong[:, :n], without)
    assert (weak[:, n:] != strong[:, n:]).all()
