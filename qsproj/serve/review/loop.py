"""The loop of annotation: when the model learns, where it stands, what to do next, when to stop.

All estimates come from the corrections themselves. The drafts corrected are those that the model was unsure
of, so the text as a whole is better than their accuracy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import log, sqrt
from typing import Any

from qsproj.errors import pluralise
from qsproj.serve.review.correction import DECIDED
from qsproj.serve.review.history import Judged
from qsproj.serve.review.session import Session
from qsproj.serve.review.words import WordList

# Seconds for a word or a question of the list; longest time that a sentence counts, with the pause before it.
WORD_SECONDS, LONGEST = 6.0, 180.0
# Share of the expected wrong words of the list that an answer puts right: 92 words and questions
# of Wolof promised 14 points and brought 5 of tags, 4 of trees.
SHARE_OF_WRONG = 0.3
# Words decided that make a batch, after which the model learns.
WORDS_A_BATCH = 20
# Minimum number of corrected words, from the last sentences, for the accuracy of drafts.
JUDGED = 150
# The accuracy of drafts is linear in log(1 + minutes / SCALE): the LAS of a simulated hour of Wolof rises so,
# by 11 points a unit. SLOPE and its deviation are the belief before any correction.
SCALE, SLOPE, SLOPE_DEVIATION = 30.0, 10.0, 8.0
AHEAD = 10.0
# Expected points of the next AHEAD minutes below which stopping is advised.
WORTHWHILE = 1.0
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Passed:
    """A corrected sentence: minutes spent until then, its words, and those left as the draft had them."""

    minutes: float
    words: int
    kept: int


@dataclass(slots=True, kw_only=True)
class Loop:
    """The answers of a person to a session and a list of words. Mutable; final.

    ``tokens``: number of words of the text that the list was made from. ``batch``: sentences after which the
    model learns. ``learned``: sentences and words of the last training.
    """

    session: Session
    words: WordList
    tokens: int
    batch: int
    model: str
    learned: tuple[int, int] = (0, 0)

    @property
    def answered(self) -> tuple[int, int]:
        """Return the numbers of reviewed sentences and of words decided in the list or in other sentences."""
        in_context = self.session.draft.content().count(f"{DECIDED}=".encode())
        return self.session.reviewed, len(self.words.decided) + in_context

    @property
    def fresh(self) -> tuple[int, int]:
        """Return the numbers of sentences and of words answered, or taken back, since the last training."""
        sentences, words = self.answered
        return abs(sentences - self.learned[0]), abs(words - self.learned[1])

    @property
    def is_due(self) -> bool:
        sentences, words = self.fresh
        return sentences / self.batch + words / WORDS_A_BATCH >= 1.0

    def minutes(self) -> float:
        spent = _passed(self.session.draft.history.judged())
        settled = {word for one in self.words.answers.values() for word in one.words}
        listed = len(self.words.decided.keys() - settled) + len(self.words.answers)
        return (spent[-1].minutes if spent else 0.0) + listed * WORD_SECONDS / 60.0

    def standing(self) -> dict[str, Any]:
        """Return answers, accuracy of the last drafts, expectations and advice, as JSON."""
        passed, minutes = _passed(self.session.draft.history.judged()), self.minutes()
        gain, deviation = expected_gain(passed, minutes)
        by_words, by_sentences = self._points_of_words(), 100.0 * gain / AHEAD
        reachable = max(100.0 * gain, by_words * AHEAD)
        found = {
            "minutes": round(minutes, 1),
            "answered": self.answered,
            "fresh": self.fresh,
            "model": self.model,
            "accuracy": accuracy_of(passed),
            "gain": [round(100.0 * one, 1) for one in (gain, gain - _Z * deviation, gain + _Z * deviation)],
            "next": "words" if by_words > by_sentences else "sentences",
            "a_minute": {"words": round(by_words, 2), "sentences": round(by_sentences, 2)},
            "stop": bool(passed) and reachable < WORTHWHILE,
        }
        return found | {"text": in_words(found)}

    def _points_of_words(self) -> float:
        """Return the points of tags that the next minute of words is expected to bring."""
        count = round(60.0 / WORD_SECONDS)
        return 100.0 * SHARE_OF_WRONG * sum(self.words.open_wrong()[:count]) / max(self.tokens, 1)


def _passed(judged: Sequence[tuple[str, Judged]]) -> list[Passed]:
    """Return corrections in order, with the minutes spent until then."""
    found, minutes, last = list[Passed](), 0.0, None
    for when, (words, kept, _) in judged:
        now = datetime.fromisoformat(when).timestamp()
        # Of the first sentence the beginning is unknown: two seconds a word.
        seconds = 2.0 * words if last is None else max(now - last, 0.0)
        minutes, last = minutes + min(seconds, LONGEST) / 60.0, now
        found.append(Passed(minutes, words, kept))
    return found


def accuracy_of(passed: Sequence[Passed]) -> dict[str, Any] | None:
    """Return the accuracy of the last drafts, its interval at 95%, and the words judged; None without any.

    The words of a sentence are right or wrong together, so that they count as fewer independent ones.

    *Source*: Wilson (1927); effective sample sizes: Kish (1965).
    """
    last = list[Passed]()
    for one in reversed(passed):
        if sum(other.words for other in last) >= JUDGED:
            break
        last.append(one)
    words = sum(one.words for one in last)
    if not words:
        return None
    share = sum(one.kept for one in last) / words
    low, high = wilson(share, words / _design_effect(last, share))
    return {"share": round(share, 4), "low": round(low, 4), "high": round(high, 4), "words": words}


def wilson(share: float, count: float) -> tuple[float, float]:
    """Return Wilson's interval at 95% of a share of ``count`` independent trials."""
    centre = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    half = _Z / (1 + _Z**2 / count) * sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def _design_effect(passed: Sequence[Passed], share: float) -> float:
    """Return the variance of a share over sentences, relative to that over independent words; at least 1."""
    words, count = sum(one.words for one in passed), len(passed)
    if count < 2 or not 0.0 < share < 1.0:
        return 1.0
    squares = sum((one.kept - share * one.words) ** 2 for one in passed)
    return max(squares / words**2 * count / (count - 1) / (share * (1 - share) / words), 1.0)


def expected_gain(passed: Sequence[Passed], minutes: float) -> tuple[float, float]:
    """Return the expected gain of accuracy in the next AHEAD minutes, and its deviation, as shares.

    A line through the accuracy of drafts over log(1 + minutes / SCALE), with the prior of its slope: SLOPE
    and SLOPE_DEVIATION, in points.
    """
    ahead = log(1 + (minutes + AHEAD) / SCALE) - log(1 + minutes / SCALE)
    precision, slope = (100.0 / SLOPE_DEVIATION) ** 2, SLOPE / 100.0
    words = sum(one.words for one in passed)
    if words:
        share = sum(one.kept for one in passed) / words
        places = [log(1 + one.minutes / SCALE) for one in passed]
        mean = sum(one.words * place for one, place in zip(passed, places, strict=True)) / words
        # At least the variance of one word in a hundred wrong: a line through two points is no certainty.
        variance = max(share * (1 - share), 0.01) * _design_effect(passed, share)
        rows = [(one, place - mean) for one, place in zip(passed, places, strict=True)]
        spread = sum(one.words * away**2 for one, away in rows)
        product = sum((one.kept - share * one.words) * away for one, away in rows)
        seen = spread / variance
        slope = (precision * slope + product / variance) / (precision + seen)
        precision += seen
    return max(slope, 0.0) * ahead, ahead / sqrt(precision)


def in_words(standing: dict[str, Any]) -> str:
    sentences, words = standing["answered"]
    answered = f"{pluralise(sentences, 'sentence')} and {pluralise(words, 'word')}"
    parts = [f"{answered} in {pluralise(round(standing['minutes']), 'minute')}"]
    if (accuracy := standing["accuracy"]) is not None:
        share, low, high = (100.0 * accuracy[name] for name in ("share", "low", "high"))
        expected, least, most = standing["gain"]
        parts += [
            f"of the last {accuracy['words']} words, {share:.0f}% were right in the draft ({low:.0f} to "
            f"{high:.0f}%)",
            f"{AHEAD:.0f} more minutes: about {expected} points ({least} to {most})",
        ]
    advice = "next: words (key w)" if standing["next"] == "words" else "next: sentences"
    parts.append("stopping now loses little" if standing["stop"] else advice)
    fresh, fresh_words = standing["fresh"]
    if fresh or fresh_words:
        lacking = f"{pluralise(fresh, 'sentence')} and {pluralise(fresh_words, 'word')}"
        parts.append(f"{standing['model']} lacks {lacking}")
    elif sentences or words:
        parts.append(f"{standing['model']} has learned them")
    return "; ".join(parts)
