"""The loop of annotation: when to retrain, estimated accuracy and gains, what to annotate next, when to stop.

All estimates come from the corrections themselves. As the least certain drafts are corrected first, accuracy
on the whole text is higher.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import sqrt
from typing import Any

from qsproj.corpus.alignments import LINKS
from qsproj.corpus.editing import misc_values
from qsproj.errors import pluralise
from qsproj.pipelines.bootstrap.suggestions import AHEAD, WORDS, DraftScore, design_effect, gain_per_minute
from qsproj.serve.review.correction import DECIDED, certain
from qsproj.serve.review.draft import Judgement
from qsproj.serve.review.session import Session
from qsproj.serve.review.words import WordList

# Seconds for a word or a question of the list; longest time counted for a sentence, with the pause before it.
WORD_SECONDS, LONGEST = 6.0, 180.0
WORDS_A_BATCH = 20  # number of decided words after which the model learns
JUDGED = 150  # least number of words, from the last corrected sentences, to measure the accuracy of drafts
# Expected gain of the next AHEAD minutes, in points, with its standard error, below which one may stop.
WORTHWHILE = 1.0
_Z = 1.96

Answers = tuple[frozenset[str], frozenset[Any]]


@dataclass(slots=True, kw_only=True)
class Loop:
    """The annotation of sentences and of a list of words. Mutable; final."""

    session: Session
    words: WordList
    tokens: int  # number of words of the text that the list is from
    batch: int  # number of sentences after which the model learns
    model: str
    learned: Answers = (frozenset(), frozenset())  # the answers of the last training
    earlier: Answers = field(init=False)  # those of earlier sessions

    def __post_init__(self) -> None:
        self.earlier = self.answers

    @property
    def answers(self) -> Answers:
        """Return reviewed sentences, and words decided in the list or in sentences, with their cells."""
        draft, words = self.session.draft, set[Any](self.words.decided.items())
        linked = self.session.translations.keys() if self.session.learns_links else ()
        for at, one in enumerate(draft.sentences):
            # Corrected links of an unreviewed sentence count as one word.
            if at in linked and not self.session.is_reviewed[at] and any(links := misc_values(one, LINKS)):
                words.add((one.sent_id, one.forms, tuple(links)))
            if any(misc_values(one, DECIDED)):
                known = certain(one)
                rows = zip(misc_values(one, DECIDED), known.upos, known.heads.tolist()[1:], known.deprels)
                words |= {(one.sent_id, one.forms, *row) for row in enumerate(rows) if row[1][0]}
        reviewed = (at for at, is_reviewed in enumerate(self.session.is_reviewed) if is_reviewed)
        return frozenset(map(draft.version, reviewed)), frozenset(words)

    @property
    def fresh(self) -> tuple[int, int]:
        """Return the numbers of sentences and words added, changed or withdrawn since the last training."""
        return self._since(self.answers)

    def _since(self, answers: Answers) -> tuple[int, int]:
        pairs = zip(answers, self.learned, strict=True)
        sentences, words = (max(len(now - then), len(then - now)) for now, then in pairs)
        return sentences, words

    @property
    def is_due(self) -> bool:
        sentences, words = self.fresh
        return sentences / self.batch + words / WORDS_A_BATCH >= 1.0

    def minutes(self) -> float:
        spent = self._scores()
        settled = {word for one in self.words.answers.values() for word in one.words}
        listed = len(self.words.decided.keys() - settled) + len(self.words.answers)
        return (spent[-1].minutes if spent else 0.0) + listed * WORD_SECONDS / 60.0

    def _scores(self) -> list[DraftScore]:
        return _scores_of(self.session.draft.history.judged(), sorted(self.words.times))

    def standing(self) -> dict[str, Any]:
        """Return answers, accuracy of the last drafts, expectations and advice, as JSON."""
        passed = self._scores()
        worth = gain_per_minute(self.words.open_wrong(), WORD_SECONDS, tokens=self.tokens, passed=passed)
        gain, doubt = AHEAD * worth.sentences, AHEAD * _Z * worth.deviation
        answers = self.answers
        found = {
            "minutes": round(self.minutes(), 1),
            "answered": tuple(map(len, answers)),
            "fresh": self._since(answers),
            "model": self.model,
            "accuracy": accuracy_of(passed),
            "gain": [round(one, 1) for one in (gain, gain - doubt, gain + doubt)],
            "gain_of_words": round(worth.words_ahead, 1),
            "next": worth.next,
            "a_minute": {"words": round(worth.words, 2), "sentences": round(worth.sentences, 2)},
            "stop": bool(passed) and max(worth.words_ahead, gain + AHEAD * worth.deviation) < WORTHWHILE,
        }
        # Of the answers of earlier sessions it is not known whether the model has learned them.
        is_known = any(self.learned) or answers != self.earlier
        return found | {"text": in_words(found, names_model=is_known)}


def _scores_of(judged: Sequence[tuple[str, Judgement]], answered: Sequence[float]) -> list[DraftScore]:
    """Return the scores of corrected drafts in order, with the minutes spent on sentences so far.

    ``answered``: times of answers in the list of words, in order, which take their own share of a pause.
    """
    found, minutes, last = list[DraftScore](), 0.0, None
    for when, (words, kept, _) in judged:
        now = datetime.fromisoformat(when).timestamp()
        # The start of the first sentence is unknown: assume two seconds per word.
        seconds = 2.0 * words
        if last is not None:
            between = bisect_right(answered, now) - bisect_left(answered, last)
            seconds = max(now - last - WORD_SECONDS * between, 0.0)
        minutes, last = minutes + min(seconds, LONGEST) / 60.0, now
        found.append(DraftScore(minutes, words, kept))
    return found


def accuracy_of(passed: Sequence[DraftScore]) -> dict[str, Any] | None:
    """Return the accuracy of the last drafts, its interval at 95%, and the words judged; None without any.

    Errors within a sentence are correlated; the effective number of words accounts for this.

    *Source*: Wilson (1927); effective sample sizes: Kish (1965).
    """
    last, words = list[DraftScore](), 0
    for one in reversed(passed):
        if words < JUDGED:
            last.append(one)
            words += one.words
    if not words:
        return None
    share = sum(one.kept for one in last) / words
    low, high = wilson(share, words / design_effect(last, share))
    return {"share": round(share, 4), "low": round(low, 4), "high": round(high, 4), "words": words}


def wilson(share: float, count: float) -> tuple[float, float]:
    """Return Wilson's interval at 95% of a share of ``count`` independent trials."""
    centre = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    half = _Z / (1 + _Z**2 / count) * sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def in_words(standing: dict[str, Any], *, names_model: bool = True) -> str:
    sentences, words = standing["answered"]
    answered = f"{pluralise(sentences, 'sentence')} and {pluralise(words, 'word')}"
    parts = [f"{answered} in {pluralise(round(standing['minutes']), 'minute')}"]
    if (accuracy := standing["accuracy"]) is not None:
        share, low, high = (100.0 * accuracy[name] for name in ("share", "low", "high"))
        expected, least, most = standing["gain"]
        parts += [
            f"of the last {accuracy['words']} words, {share:.0f}% were right in the draft ({low:.0f} to "
            f"{high:.0f}%)",
            f"{AHEAD:.0f} more minutes: about {standing['gain_of_words']} points by words, {expected} by "
            f"sentences ({least} to {most})",
        ]
    advice = "next: words (key w)" if standing["next"] == WORDS else "next: sentences"
    parts.append("stopping now loses little" if standing["stop"] else advice)
    fresh, fresh_words = standing["fresh"]
    if names_model and (fresh or fresh_words):
        lacking = f"{pluralise(fresh, 'sentence')} and {pluralise(fresh_words, 'word')}"
        parts.append(f"{standing['model']} lacks {lacking}")
    elif names_model and (sentences or words):
        parts.append(f"{standing['model']} has learned them")
    return "; ".join(parts)
