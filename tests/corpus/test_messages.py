"""Where two sentences differ first, as messages tell it."""

import pytest

from qsproj.corpus.messages import first_difference


@pytest.mark.parametrize(
    "words, others, expected",
    [
        (["a", "b", "c"], ["a", "x", "y"], (2, "'b'", "'x'")),
        (["a", "b"], ["a"], (2, "'b'", "nothing")),
        ([], ["nothing"], (1, "nothing", "'nothing'")),
    ],
)
def test_the_first_difference_is_told(words, others, expected):
    assert first_difference(words, others) == expected
