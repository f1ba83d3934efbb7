"""What the next minutes of words and of sentences bring, by one rule for the page and for the simulation."""

import numpy as np
import pytest

from qsproj.pipelines.bootstrap.suggestions import (
    SENTENCES,
    WORDS,
    DraftScore,
    expected_gain,
    gain_per_minute,
)


def passed(first, last, minutes=40, count=40, words=20):
    """Drafts whose accuracy goes from one share to another, and the minutes when each was corrected."""
    shares = np.linspace(first, last, count).tolist()
    return [
        DraftScore(minutes * (at + 1) / count, words, round(words * share)) for at, share in enumerate(shares)
    ]


def test_what_ten_minutes_bring_follows_the_corrections():
    nothing, doubt = expected_gain([])
    rising, _ = expected_gain(passed(0.4, 0.8))
    level, sure = expected_gain(passed(0.6, 0.6))
    falling, _ = expected_gain(passed(0.8, 0.4))
    assert rising > 0.02 > level > falling == 0.0
    assert 0.01 < nothing < 0.05
    assert sure < doubt
    # The first minutes bring more than later ones.
    assert expected_gain(passed(0.6, 0.6, minutes=60, count=1))[0] < nothing


def test_words_come_next_while_they_settle_much():
    frequent, rare = [20.0] * 15, [0.5] * 500

    def worth(wrong, seconds=4.0, sentences=()):
        return gain_per_minute(wrong, seconds, tokens=10_000, passed=sentences)

    assert worth([*frequent, *rare]).next == WORDS
    assert worth(rare).next == SENTENCES
    assert worth([]).words == 0.0
    # Sentences that no longer teach anything give way to words.
    assert worth(rare, sentences=passed(0.8, 0.4)).next == WORDS
    # 15 words a minute, or 10.
    assert worth(frequent).words == pytest.approx(1.5 * worth(frequent, seconds=6.0).words)


def test_ten_minutes_of_words_bring_no_more_than_the_words_of_the_list():
    wrong = [10.0] * 10 + [1.0] * 40 + [0.5] * 100
    worth = gain_per_minute(wrong, 6.0, tokens=1000, passed=[])
    assert worth.words == pytest.approx(0.8 * 10.0)
    assert worth.words_ahead == pytest.approx(0.8 * (10.0 + 4.0 + 2.5))
    assert gain_per_minute(wrong[:10], 6.0, tokens=1000, passed=[]).words_ahead == worth.words
