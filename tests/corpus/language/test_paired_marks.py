"""Brackets and quotation marks that belong together."""

from __future__ import annotations

import pytest

from qsproj.models.arc.punctuation import paired_marks


@pytest.mark.parametrize(
    ("words", "pairs"),
    [
        ("a ( b ) c", [(2, 4)]),
        ("( a [ b ] )", [(3, 5), (1, 6)]),
        ('" a " b " c "', [(1, 3), (5, 7)]),
        ("„ a “ b “ c ”", [(1, 3), (5, 7)]),
        ("« a » b « c »", [(1, 3), (5, 7)]),
        ("» a « b", [(1, 3)]),
        # What is left open is passed over; what closes nothing is none.
        ("( a « b )", [(1, 5)]),
        ("a ) b", []),
        ("", []),
    ],
)
def test_marks_are_paired(words, pairs):
    assert paired_marks(words.split()) == pairs
