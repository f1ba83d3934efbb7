"""Calibration by hand-counted bins, and on outcomes drawn as the probabilities promise."""

import math

import numpy as np
import pytest

from qsproj.corpus.editing import RELATION_PROBABILITY, with_misc
from qsproj.errors import DataError
from qsproj.evaluation.calibration import (
    confidences_of,
    expected_calibration_error,
    relations_can_be_judged,
    reliability,
)
from tests.sentences import make_sentence


def test_bins_by_hand():
    table = reliability([0.1, 0.15, 0.9, 1.0], [False, True, True, True], bins=2)
    assert [(row.low, row.high, row.count) for row in table] == [(0.0, 0.5, 2), (0.5, 1.0, 2)]
    assert [row.confidence for row in table] == pytest.approx([0.125, 0.95])
    assert [row.accuracy for row in table] == [0.5, 1.0]
    assert expected_calibration_error(table) == pytest.approx((2 * 0.375 + 2 * 0.05) / 4)


def test_an_edge_belongs_to_the_bin_above_and_one_to_the_last():
    table = reliability([0.5, 1.0], [True, False], bins=2)
    assert [row.count for row in table] == [0, 2]
    assert math.isnan(table[0].accuracy)


def test_outcomes_drawn_as_promised_are_calibrated():
    rng = np.random.default_rng(1)
    promised = rng.uniform(size=50_000)
    kept = rng.uniform(size=50_000) < promised
    assert expected_calibration_error(reliability(promised, kept)) < 0.01
    assert expected_calibration_error(reliability(np.sqrt(promised), kept)) > 0.1


def test_nothing_predicted_has_no_error():
    assert math.isnan(expected_calibration_error(reliability([], [])))


def test_a_labelled_arc_is_right_where_its_relation_is_too():
    gold = make_sentence("a b c", "DET NOUN VERB", [2, 3, 0], relations="det nsubj root")
    parsed = make_sentence("a b c", "DET NOUN VERB", [2, 3, 2], relations="det obj root")
    stated = with_misc(with_misc(parsed, "ArcProb", ["0.9", "0.8", "0.7"]), "RelProb", ["0.9", "0.5", "0.4"])
    assert confidences_of([gold], [stated])[1].tolist() == [True, True, False]
    confidences, right = confidences_of([gold], [stated], RELATION_PROBABILITY)
    assert confidences.tolist() == [0.9, 0.5, 0.4]
    assert right.tolist() == [True, False, False]
    assert relations_can_be_judged([gold], [stated])
    assert not relations_can_be_judged([gold], [parsed])
    with pytest.raises(DataError, match="no RelProb in MISC"):
        confidences_of([gold], [parsed], RELATION_PROBABILITY)
    partly = make_sentence("a b c", "DET NOUN VERB", [2, 3, 0], relations="det _ _")
    assert confidences_of([partly], [stated], RELATION_PROBABILITY)[0].tolist() == [0.9]
    assert not relations_can_be_judged([make_sentence("a b c", "DET NOUN VERB", [2, 3, 0])], [stated])
