"""Scores of files that cut the same text into different sentences, tokens or words.

What is right is counted once, and divided by what the gold file has (recall) and by what the system has
(precision); the score is their harmonic mean, F1. Both files must hold the same characters, white space left
out. These are the scores of the CoNLL 2018 shared task (universaldependencies.org/conll18/evaluation.html):

- A sentence or a token is right when the other file has one of the same first and last character.
- A word that is a token of its own is aligned with such a word of the same characters.
- Where either file has a multiword token, the words of both under it, and under all tokens that overlap with
  it, are aligned by the longest common subsequence of their lower-cased forms.
- UPOS, heads and relations are right of aligned words only; a head is right when it is aligned with the
  gold head, or both are the root.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from qsproj.conventions import NO_HEAD, ROOT
from qsproj.corpus.columns import bare_relation
from qsproj.corpus.contractions import word_ranges
from qsproj.corpus.editing import lines_in
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError

# First character and the one after the last, counted in the text of both files without white space.
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class F1:
    """How many are right of those that the gold file and the system have; percentages, NaN for none."""

    right: int
    gold: int
    system: int

    @property
    def precision(self) -> float:
        """Percentage of the system's that are right."""
        return _percentage(self.right, self.system)

    @property
    def recall(self) -> float:
        """Percentage of the gold file's that are right."""
        return _percentage(self.right, self.gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return _percentage(2 * self.right, self.gold + self.system)


@dataclass(frozen=True, slots=True)
class CutScores:
    """Scores of one system against a gold file that is cut differently.

    Attributes
    ----------
    sentences, tokens, words : F1
        Of how the text is cut.
    tags, unlabelled, labelled, labelled_no_subtypes : F1
        Of words: the same UPOS; the right head; and the right relation; and the same up to subtypes.
    roots : F1
        Of words that hang on the root.
    complete : int
        Gold sentences of which every word has the right head.
    without_gold_head, without_head, without_gold_tag : int
        Words of the gold file, and of the system, without a head; of the gold file without UPOS.
    """

    sentences: F1
    tokens: F1
    words: F1
    tags: F1
    unlabelled: F1
    labelled: F1
    labelled_no_subtypes: F1
    roots: F1
    complete: int
    without_gold_head: int
    without_head: int
    without_gold_tag: int

    @property
    def uem(self) -> float:
        """Percentage of gold sentences of which every word has the right head."""
        return _percentage(self.complete, self.sentences.gold)


@dataclass(frozen=True, slots=True)
class _Text:
    """Some sentences of one file, one after the other.

    ``tokens`` and ``sentences`` are spans, ``words`` are (span, part of a multiword token), ``heads`` count
    words from 0 over all sentences, with -1 for the root and None where there is none.
    """

    characters: str
    sentences: list[Span]
    tokens: list[Span]
    words: list[tuple[Span, bool]]
    heads: list[int | None]
    parts: Sequence[Sentence]


def cut_scores(
    gold: Iterable[Sentence], system: Iterable[Sentence], *, names: tuple[str, str] = ("gold", "system")
) -> CutScores:
    """Score a system against gold sentences of the same text, both read side by side and once.

    Parameters
    ----------
    gold, system : iterable of Sentence
        With their layouts, where there are multiword tokens.
    names : (str, str)
        What error messages call the files.

    Raises
    ------
    DataError
        Where the text of the files differs.
    """
    counts: Counter[str] = Counter()
    for gold_sentences, system_sentences in _same_text(iter(gold), iter(system), names):
        one, other = _text(gold_sentences), _text(system_sentences)
        _count(counts, one, other)
    words = (counts["gold_words"], counts["system_words"])
    return CutScores(
        sentences=F1(counts["sentences"], counts["gold_sentences"], counts["system_sentences"]),
        tokens=F1(counts["tokens"], counts["gold_tokens"], counts["system_tokens"]),
        words=F1(counts["words"], *words),
        tags=F1(counts["tags"], *words),
        unlabelled=F1(counts["unlabelled"], *words),
        labelled=F1(counts["labelled"], *words),
        labelled_no_subtypes=F1(counts["labelled_no_subtypes"], *words),
        roots=F1(counts["roots"], counts["gold_roots"], counts["system_roots"]),
        complete=counts["complete"],
        without_gold_head=counts["without_gold_head"],
        without_head=counts["without_head"],
        without_gold_tag=counts["without_gold_tag"],
    )


def _count(counts: Counter[str], gold: _Text, system: _Text) -> None:
    """Add what is right in one stretch of text to ``counts`` (mutated)."""
    for name, text in (("gold", gold), ("system", system)):
        counts[f"{name}_sentences"] += len(text.sentences)
        counts[f"{name}_tokens"] += len(text.tokens)
        counts[f"{name}_words"] += len(text.words)
        counts[f"{name}_roots"] += text.heads.count(-1)
    counts["sentences"] += len(set(gold.sentences) & set(system.sentences))
    counts["tokens"] += len(set(gold.tokens) & set(system.tokens))
    counts["without_gold_head"] += gold.heads.count(None)
    counts["without_head"] += system.heads.count(None)
    gold_tags, system_tags = _column(gold, "upos"), _column(system, "upos")
    counts["without_gold_tag"] += gold_tags.count("_")
    gold_relations, system_relations = _column(gold, "deprels"), _column(system, "deprels")
    partner = dict(aligned_words(gold.words, system.words, _column(gold, "forms"), _column(system, "forms")))
    partner_or_root = {**partner, -1: -1}
    right_heads = set()
    for i, j in partner.items():
        counts["words"] += 1
        counts["tags"] += gold_tags[i] == system_tags[j]
        head = gold.heads[i]
        if head is None or system.heads[j] is None or partner_or_root.get(head) != system.heads[j]:
            continue
        right_heads.add(i)
        counts["roots"] += head == -1
        counts["unlabelled"] += 1
        counts["labelled"] += gold_relations[i] == system_relations[j]
        counts["labelled_no_subtypes"] += bare_relation(gold_relations[i]) == bare_relation(
            system_relations[j]
        )
    first = 0
    for sentence in gold.parts:
        counts["complete"] += right_heads.issuperset(range(first, first + len(sentence)))
        first += len(sentence)


def aligned_words(
    gold: Sequence[tuple[Span, bool]],
    system: Sequence[tuple[Span, bool]],
    gold_forms: Sequence[str],
    system_forms: Sequence[str],
) -> list[tuple[int, int]]:
    """Return which words of two files are the same, as pairs of indices in ascending order.

    Parameters
    ----------
    gold, system : sequence of (span, bool)
        The words in order: the span of its token, and whether that is a multiword token.
    gold_forms, system_forms : sequence of str
        Their forms, compared in lower case.
    """
    pairs = []
    i = j = 0
    while i < len(gold) and j < len(system):
        if gold[i][1] or system[j][1]:
            i, j, ends = _stretch(gold, system, i, j)
            common = _common(
                [form.lower() for form in gold_forms[i : ends[0]]],
                [form.lower() for form in system_forms[j : ends[1]]],
            )
            pairs += [(i + a, j + b) for a, b in common]
            i, j = ends
        elif gold[i][0] == system[j][0]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif gold[i][0][0] <= system[j][0][0]:
            i += 1
        else:
            j += 1
    return pairs


def _stretch(
    gold: Sequence[tuple[Span, bool]], system: Sequence[tuple[Span, bool]], i: int, j: int
) -> tuple[int, int, tuple[int, int]]:
    """Return where the words under multiword tokens that overlap begin and end in both files.

    Word ``i`` or word ``j`` is part of such a token. One word of the other file that begins before it is
    passed over, as the shared task's scorer does.
    """
    (gold_span, multiword), (system_span, _) = gold[i], system[j]
    end = gold_span[1] if multiword else system_span[1]
    if multiword and not system[j][1] and system_span[0] < gold_span[0]:
        j += 1
    elif not multiword and gold_span[0] < system_span[0]:
        i += 1
    ends = [i, j]
    sides = (gold, system)
    while any(_reaches_into(words, at, end) for words, at in zip(sides, ends)):
        # Whichever begins first belongs to it, even a word that begins within and ends behind.
        side = min((words[at][0][0], n) for n, (words, at) in enumerate(zip(sides, ends)) if at < len(words))[
            1
        ]
        span, multiword = sides[side][ends[side]]
        end = max(end, span[1]) if multiword else end
        ends[side] += 1
    return i, j, (ends[0], ends[1])


def _reaches_into(words: Sequence[tuple[Span, bool]], at: int, end: int) -> bool:
    """Return whether a word lies before ``end``, or the multiword token that it is part of begins before."""
    if at == len(words):
        return False
    (first, last), multiword = words[at]
    return first < end if multiword else last <= end


def _common(gold: Sequence[str], system: Sequence[str]) -> list[tuple[int, int]]:
    """Return the indices of a longest common subsequence, the one that matches words as early as it can."""
    longest = [[0] * (len(system) + 1) for _ in range(len(gold) + 1)]
    for i in range(len(gold) - 1, -1, -1):
        for j in range(len(system) - 1, -1, -1):
            if gold[i] == system[j]:
                longest[i][j] = 1 + longest[i + 1][j + 1]
            else:
                longest[i][j] = max(longest[i + 1][j], longest[i][j + 1])
    pairs = []
    i = j = 0
    while i < len(gold) and j < len(system):
        if gold[i] == system[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i][j] == longest[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _text(sentences: Sequence[Sentence]) -> _Text:
    """Lay sentences out as one text."""
    text = _Text("".join(map(_characters, sentences)), [], [], [], [], sentences)
    at = 0
    for sentence in sentences:
        begin, first = at, len(text.words)
        ranges = {span.first: span for span in word_ranges(sentence)}
        word = 1
        while word <= len(sentence):
            found = ranges.get(word)
            last = word if found is None else found.last
            span = (at, at + len(_without_spaces(sentence.forms[word - 1] if found is None else found.form)))
            text.tokens.append(span)
            text.words.extend([(span, found is not None)] * (last - word + 1))
            at, word = span[1], last + 1
        text.sentences.append((begin, at))
        text.heads.extend(
            None if head == NO_HEAD else -1 if head == ROOT else first + head - 1
            for head in sentence.heads[1:].tolist()
        )
    return text


def _same_text(
    gold: Iterator[Sentence], system: Iterator[Sentence], names: tuple[str, str]
) -> Iterator[tuple[list[Sentence], list[Sentence]]]:
    """Yield the fewest sentences of both files that hold the same text up to the same last token.

    Where the last tokens differ, words of the one file may yet be aligned with what follows in the other.
    """
    sides = (_Side(gold, names[0]), _Side(system, names[1]))
    while sides[0].take() | sides[1].take():
        while (lengths := [len(side.characters) for side in sides]) and lengths[0] != lengths[1]:
            behind, ahead = sides if lengths[0] < lengths[1] else sides[::-1]
            _check_same_text(*sides)
            if not behind.take():
                raise _text_ends(behind, ahead)
        _check_same_text(*sides)
        if len({_last_token(side.taken[-1]) for side in sides}) == 1:
            yield sides[0].clear(), sides[1].clear()
    if sides[0].taken:
        yield sides[0].clear(), sides[1].clear()


def _check_same_text(gold: _Side, system: _Side) -> None:
    shorter = min(len(gold.characters), len(system.characters))
    if gold.characters[:shorter] != system.characters[:shorter]:
        raise _texts_differ(gold, system)


def _last_token(sentence: Sentence) -> str:
    """Return the last token without white space."""
    ranges = word_ranges(sentence)
    covered = bool(ranges) and ranges[-1].last == len(sentence)
    return _without_spaces(ranges[-1].form if covered else sentence.forms[-1])


class _Side:
    """A file that is read: the sentences taken and not yet given on, and how far it was read before them."""

    def __init__(self, sentences: Iterator[Sentence], name: str) -> None:
        self.name = name
        self.characters = ""
        self.taken: list[Sentence] = []
        self.before = 0
        self.line = 1
        self._sentences = sentences

    def take(self) -> bool:
        """Take one more sentence; return whether there was one."""
        sentence = next(self._sentences, None)
        if sentence is None:
            return False
        self.taken.append(sentence)
        self.characters += _characters(sentence)
        return True

    def clear(self) -> list[Sentence]:
        """Give on what was taken."""
        taken, self.taken, self.characters = self.taken, [], ""
        self.before += len(taken)
        self.line += sum(map(lines_in, taken))
        return taken

    def word_at(self, place: int) -> tuple[int, int, int]:
        """Return (sentence, word, line of the sentence), from 1, of the character at ``place``."""
        line = self.line
        for number, sentence in enumerate(self.taken, start=self.before + 1):
            if place < (length := len(_characters(sentence))):
                spans = _text([sentence]).words
                word = 1 + next(i for i, (span, _) in enumerate(spans) if span[0] <= place < span[1])
                return number, word, line
            place -= length
            line += lines_in(sentence)
        raise IndexError(place)


def _texts_differ(gold: _Side, system: _Side) -> DataError:
    """Build the error that names the words around the first character that is not the same."""
    pairs = zip(gold.characters, system.characters)
    place = next(i for i, (one, other) in enumerate(pairs) if one != other)
    number, word, line = system.word_at(place)
    sentence = system.taken[number - system.before - 1]
    named = f"sentence {number}" + (f" ({sentence.sent_id})" if sentence.sent_id else "")
    gold_number, gold_word, _ = gold.word_at(place)
    expected = gold.taken[gold_number - gold.before - 1].forms[gold_word - 1]
    return DataError(
        system.name,
        line if sentence.layout else None,
        found=f"{_excerpt(sentence.forms[word - 1])} as word {word} of {named}",
        expected=f"{_excerpt(expected)} as in {gold.name}",
        remedy="score files of the same words, or of the same text cut into other words",
    )


def _text_ends(behind: _Side, ahead: _Side) -> DataError:
    rest = ahead.characters[len(behind.characters) :]
    return DataError(
        behind.name,
        None,
        found=f"no text after sentence {behind.before + len(behind.taken)}",
        expected=f"{_excerpt(rest)} as in {ahead.name}",
        remedy="score files of the same text",
    )


def _column(text: _Text, name: str) -> list[str]:
    return [cell for sentence in text.parts for cell in getattr(sentence, name)]


def _characters(sentence: Sentence) -> str:
    """Return the tokens of a sentence without white space."""
    ranges = {span.first: span for span in word_ranges(sentence)}
    forms = []
    word = 1
    while word <= len(sentence):
        found = ranges.get(word)
        forms.append(sentence.forms[word - 1] if found is None else found.form)
        word = word + 1 if found is None else found.last + 1
    return _without_spaces("".join(forms))


@lru_cache(maxsize=1 << 14)
def _without_spaces(form: str) -> str:
    if form.isalnum():
        return form
    return "".join(character for character in form if unicodedata.category(character) != "Zs")


def _excerpt(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}...")


def _percentage(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else float("nan")
