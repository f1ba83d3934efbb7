"""Sentences beside those of the bitext: raw text as the tagger reads it, numbers as digits.

A New Testament says nothing of most words of today. Raw text of the language has them, in context: a tagger
says what they are likely to be, the next learns from that. And where a text spells all numbers out, a
sentence with one of them in digits teaches what digits are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.contractions import Contractions, split_contractions
from qsproj.corpus.language.lexicon import WordTags
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import LogEvidence, SetExample
from qsproj.pipelines.tagging.tag_evidence import Sets, allowed_tags

NUMERAL = "NUM"
# However sure a tagger is: so much, in natural logs, is still open to doubt.
MOST_DOUBTED = -12.0
# No tag counts as rarer than this where probabilities are divided by how frequent it is.
RAREST = 0.03
# A tag less likely than this, in natural logs, is none that a number in words may have. Links alone make none
# so unlikely (DOUBT in tag_evidence); sets of types, and a tagger that is sure, do.
UNLIKELY = -3.0
# A text in which so many words are digits shows what they are.
ENOUGH_IN_DIGITS = 100
# Else numbers are replaced by these in turn.
FIGURES = ("7", "12", "150", "2015", "3,5", "1.000")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RawText:
    """Sentences of the target language."""

    sentences: tuple[Words, ...]  # their words; none is empty
    rows: dict[str, int]  # word to its row of ``allowed``
    allowed: Sets  # bool[V, T], the tags that script and lexicon leave each word

    @classmethod
    def of(
        cls,
        sentences: Iterable[Sequence[str]],
        *,
        tags: Sequence[str],
        lexicon: WordTags,
        contractions: Contractions,
        most: int,
        rng: np.random.Generator,
    ) -> "RawText":
        """Split contractions, and look up what each word may be; of more sentences draw ``most``.

        *Source*: algorithm R of Vitter (1985).
        """
        kept: list[tuple[int, Words]] = []
        for number, tokens in enumerate(filter(len, sentences)):
            place = number if number < most else int(rng.integers(number + 1))
            if place < most:
                kept[place : place + 1] = [(number, tuple(split_contractions(tokens, contractions)[0]))]
        words = tuple(forms for _, forms in sorted(kept, key=itemgetter(0)))
        rows: dict[str, int] = {}
        for forms in words:
            for form in forms:
                rows.setdefault(form, len(rows))
        return cls(words, rows, allowed_tags(tuple(rows), tags, lexicon))

    def sets_of(self, forms: Words) -> Sets:
        """Return the tags that the words of a sentence may have, bool[n, T]."""
        return self.allowed[[self.rows[form] for form in forms]]


def as_tagged(
    tagger: Tagger, raw: RawText, sentences: Sequence[Words], *, strength: float, balance: float
) -> list[SetExample]:
    """Return sentences of raw text with the probabilities of their tags, by a tagger, as evidence."""
    found = [tagger.distribution_within(forms, raw.sets_of(forms)) for forms in sentences]
    if not found:
        return []
    ends = np.cumsum([len(forms) for forms in sentences])
    evidence = np.split(balanced(np.concatenate(found), balance), ends[:-1])
    return [SetExample(forms, of, strength) for forms, of in zip(sentences, evidence, strict=True)]


def balanced(probabilities: NDArray[np.floating], power: float) -> LogEvidence:
    """Return a tagger's probabilities of words' tags, [N, T], as evidence to learn from, natural log.

    A tagger that learns from its own tags gives frequent ones to ever more words: NOUN takes from ADJ. So
    probabilities are divided by a ``power`` of how frequent the tag is in all N words.

    Source: targets divided by frequency are from Xie, Girshick and Farhadi (2016), "Unsupervised deep
    embedding for clustering analysis", equation 3; the power is ours.
    """
    frequency = np.maximum(probabilities.mean(axis=0, dtype=np.float64), RAREST)
    with np.errstate(divide="ignore"):
        evidence = np.log(probabilities) - power * np.log(frequency)
    evidence -= evidence.max(axis=1, keepdims=True)
    return np.maximum(evidence, MOST_DOUBTED).astype(np.float32)


def in_digits(examples: Sequence[SetExample], tags: Sequence[str], *, most: int) -> list[SetExample]:
    """Return the first sentences, ``most`` of them, with a word that can but be a number, this in digits.

    None where the text shows what digits are.
    """
    shown = sum(form[0].isdigit() for example in examples for form in example.forms)
    if NUMERAL not in tags or shown >= ENOUGH_IN_DIGITS:
        return []
    found: list[SetExample] = []
    for example in examples:
        place = _number(example.log_evidence, tags.index(NUMERAL))
        if place is not None and len(found) < most:
            figure = FIGURES[len(found) % len(FIGURES)]
            forms = (*example.forms[:place], figure, *example.forms[place + 1 :])
            found.append(SetExample(forms, example.log_evidence, example.strength))
    return found


def _number(evidence: LogEvidence, numeral: int) -> int | None:
    """Return the first word for which nothing but a number is likely."""
    possible = evidence >= UNLIKELY
    certain = np.nonzero(possible[:, numeral] & (possible.sum(axis=1) == 1))[0]
    return int(certain[0]) if len(certain) else None
