"""Multiword tokens: how a treebank splits surface tokens into words, learned and applied to plain text.

UD treebanks write German *am* as the two words *an dem* under a range row; a tokeniser leaves *am* whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from qsproj.corpus.sentence import Sentence

Contractions = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class WordRange:
    """A surface token that covers several words: words ``first`` to ``last``, 1-based, both included."""

    first: int
    last: int
    form: str


def word_ranges(sentence: Sentence) -> tuple[WordRange, ...]:
    """Return the multiword tokens of a sentence, in order; none for a sentence without layout."""
    if sentence.layout is None:
        return ()
    ranges = []
    for line in sentence.layout.lines:
        identifier, _, rest = line.partition("\t")
        first, hyphen, last = identifier.partition("-")
        if hyphen and first.isdigit() and last.isdigit():
            ranges.append(WordRange(int(first), int(last), rest.partition("\t")[0]))
    return tuple(ranges)


def learn_contractions(sentences: Iterable[Sentence]) -> dict[str, tuple[str, ...]]:
    """Return what each lower-cased surface token is split into by most of its occurrences.

    A token that mostly stands as one word is left out, as German *in* is and *ins* is not. Sorted by token,
    so that the same treebank gives the same table.
    """
    splits: dict[str, Counter[tuple[str, ...]]] = {}
    whole: Counter[str] = Counter()
    for sentence in sentences:
        covered: set[int] = set()
        for span in word_ranges(sentence):
            words = tuple(form.lower() for form in sentence.forms[span.first - 1 : span.last])
            splits.setdefault(span.form.lower(), Counter())[words] += 1
            covered.update(range(span.first - 1, span.last))
        whole.update(form.lower() for i, form in enumerate(sentence.forms) if i not in covered)
    table = {}
    for token in sorted(splits):
        # Of splits equally frequent the alphabetically first, whatever the order of the treebank.
        words, count = min(splits[token].items(), key=lambda item: (-item[1], item[0]))
        if count > whole[token]:
            table[token] = words
    return table


def split_contractions(tokens: Sequence[str], table: Contractions) -> tuple[list[str], list[WordRange]]:
    """Return the words of ``tokens``, those in ``table`` split, and the range of each that was.

    Case carries over: *Im* gives *In dem*, *IM* gives *IN DEM*.
    """
    words: list[str] = []
    ranges = []
    for token in tokens:
        parts = table.get(token.lower())
        if parts is None:
            words.append(token)
            continue
        ranges.append(WordRange(len(words) + 1, len(words) + len(parts), token))
        words.extend(cased_like(token, parts))
    return words, ranges


def cased_like(token: str, parts: tuple[str, ...]) -> list[str]:
    """Return lower-cased words in the case of the token that they are of."""
    if len(token) > 1 and token.isupper():
        return [part.upper() for part in parts]
    if token[0].isupper():
        return [parts[0][0].upper() + parts[0][1:], *parts[1:]]
    return list(parts)


def merge_contractions(sentence: Sentence) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (forms, UPOS) with each multiword token as one word, tagged as the first of its words."""
    spans = {span.first: span for span in word_ranges(sentence)}
    forms, tags = [], []
    word = 1
    while word <= len(sentence):
        span = spans.get(word)
        forms.append(sentence.forms[word - 1] if span is None else span.form)
        tags.append(sentence.upos[word - 1])
        word = word + 1 if span is None else span.last + 1
    return tuple(forms), tuple(tags)
