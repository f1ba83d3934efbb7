"""What the next minutes of annotation are expected to bring, of words and of sentences.

All estimates come from the model's doubts about words and from the corrections of drafts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

# Points of trees by each expected wrong word in a hundred of the list, and by each point of drafts, which are
# of sentences that the model is unsure of. LAS after 10, 30 and 60 minutes, first halves of development files
# of Ukrainian, Wolof, Arabic and Estonian: 48.4, 52.3, 55.7; with a share of time for words 46.2, 51.6, 54.7.
OF_WORDS, OF_DRAFTS = 0.8, 0.5
# The accuracy of drafts is linear in log(1 + minutes / SCALE): the LAS of a simulated hour of Wolof rises so,
# by 11 points a unit. SLOPE and its deviation are the belief before any correction.
SCALE, SLOPE, SLOPE_DEVIATION = 30.0, 10.0, 8.0
AHEAD = 10.0
WORDS, SENTENCES = "words", "sentences"


@dataclass(frozen=True, slots=True)
class Passed:
    """A corrected sentence: minutes spent on sentences until then, its words, those left as in the draft."""

    minutes: float
    words: int
    kept: int


@dataclass(frozen=True, slots=True)
class Worth:
    """Expected points of trees by the minute, of words and of sentences; the deviation of the latter."""

    words: float
    sentences: float
    deviation: float

    @property
    def next(self) -> str:
        return WORDS if self.words > self.sentences else SENTENCES


def worth_a_minute(wrong: Sequence[float], seconds: float, *, tokens: int, passed: Sequence[Passed]) -> Worth:
    """Compare the next minute of words with a minute of the next sentences.

    ``wrong``: expected number of wrong occurrences of each word that is left, in the order of the list, each
    of which takes some ``seconds``; ``tokens``: of the text. ``passed``: sentences corrected so far.
    """
    count = max(round(60.0 / seconds), 1)
    words = 100.0 * OF_WORDS * sum(wrong[:count]) / max(tokens, 1)
    gain, deviation = expected_gain(passed)
    return Worth(words, *(100.0 * OF_DRAFTS * one / AHEAD for one in (gain, deviation)))


def expected_gain(passed: Sequence[Passed]) -> tuple[float, float]:
    """Return the expected gain of accuracy in the next AHEAD minutes, and its deviation, as shares.

    A line through the accuracy of drafts over log(1 + minutes / SCALE), with the prior of its slope: SLOPE
    and SLOPE_DEVIATION, in points.
    """
    minutes = passed[-1].minutes if passed else 0.0
    ahead = log(1 + (minutes + AHEAD) / SCALE) - log(1 + minutes / SCALE)
    precision, slope = (100.0 / SLOPE_DEVIATION) ** 2, SLOPE / 100.0
    words = sum(one.words for one in passed)
    if words:
        share = sum(one.kept for one in passed) / words
        places = [log(1 + one.minutes / SCALE) for one in passed]
        mean = sum(one.words * place for one, place in zip(passed, places, strict=True)) / words
        # At least the variance of one word in a hundred wrong: a line through two points is no certainty.
        variance = max(share * (1 - share), 0.01) * design_effect(passed, share)
        rows = [(one, place - mean) for one, place in zip(passed, places, strict=True)]
        spread = sum(one.words * away**2 for one, away in rows)
        product = sum((one.kept - share * one.words) * away for one, away in rows)
        seen = spread / variance
        slope = (precision * slope + product / variance) / (precision + seen)
        precision += seen
    return max(slope, 0.0) * ahead, ahead / sqrt(precision)


def design_effect(passed: Sequence[Passed], share: float) -> float:
    """Return the variance of a share over sentences, relative to that over independent words; at least 1."""
    words, count = sum(one.words for one in passed), len(passed)
    if count < 2 or not 0.0 < share < 1.0:
        return 1.0
    squares = sum((one.kept - share * one.words) ** 2 for one in passed)
    return max(squares / words**2 * count / (count - 1) / (share * (1 - share) / words), 1.0)
