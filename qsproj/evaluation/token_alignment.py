"""Alignment of files of the same text: with different sets of sentences, or with other tokens and words.

*Source*: the scorer of the CoNLL 2018 shared task (universaldependencies.org/conll18/evaluation.html):

- A single-word token is aligned with a single-word token of the same characters.
- Where either file has a multiword token, the words of both files under it, and under all tokens that overlap
  it, are aligned by the longest common subsequence of their lower-cased forms, without the spaces of tokens.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeVar

from qsproj.conventions import NO_HEAD, ROOT
from qsproj.corpus.contractions import tokens_of
from qsproj.corpus.editing import line_of
from qsproj.corpus.messages import excerpt
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, pluralise
from qsproj.progress import notice

# (first character, one after the last), counted in the common text without white space.
Span = tuple[int, int]
PlacedWord = tuple[Span, bool]  # (span of a word's token, whether that is a multiword token)
Result = TypeVar("Result")
Files = Callable[[], Iterable[Sentence]]  # reads a file from its beginning


@dataclass(frozen=True, slots=True)
class Text:
    """Consecutive sentences of one file."""

    characters: str  # without white space
    sentences: list[Span]
    tokens: list[Span]
    words: list[PlacedWord]
    heads: list[int | None]  # words are numbered from 0 over all sentences; -1: the root
    parts: Sequence[Sentence]

    def column(self, name: str) -> list[str]:
        return [cell for sentence in self.parts for cell in getattr(sentence, name)]


def same_text(
    gold: Iterator[Sentence], system: Iterator[Sentence], names: tuple[str, str]
) -> Iterator[tuple[list[Sentence], list[Sentence]]]:
    """Yield the shortest stretches of sentences with the same text and the same last token in both files."""
    sides = (_Reading(gold, names[0]), _Reading(system, names[1]))
    while sides[0].take() | sides[1].take():
        while (lengths := [len(side.characters) for side in sides]) and lengths[0] != lengths[1]:
            behind, ahead = sides if lengths[0] < lengths[1] else sides[::-1]
            _check_same_text(*sides)
            if not behind.take():
                rest = ahead.characters[len(behind.characters) :]
                found = f"no text after sentence {behind.before + len(behind.taken)}"
                expected = f"{excerpt(rest)} as in {ahead.name}"
                raise DataError(behind.name, None, found, expected, "score files of the same text")
        _check_same_text(*sides)
        if len({_without_spaces(tokens_of(side.taken[-1])[-1][1]) for side in sides}) == 1:
            yield sides[0].clear(), sides[1].clear()
    if sides[0].taken:
        yield sides[0].clear(), sides[1].clear()


def laid_out(sentences: Sequence[Sentence]) -> Text:
    text = Text("".join(map(_characters, sentences)), [], [], [], [], sentences)
    at = 0
    for sentence in sentences:
        begin, first = at, len(text.words)
        for _, form, words in tokens_of(sentence):
            span = (at, at + len(_without_spaces(form)))
            text.tokens.append(span)
            text.words.extend([(span, words > 0)] * (words or 1))
            at = span[1]
        text.sentences.append((begin, at))
        for head in sentence.heads[1:].tolist():
            text.heads.append(None if head == NO_HEAD else -1 if head == ROOT else first + head - 1)
    return text


def _check_same_text(gold: "_Reading", system: "_Reading") -> None:
    shorter = min(len(gold.characters), len(system.characters))
    if gold.characters[:shorter] == system.characters[:shorter]:
        return
    pairs = zip(gold.characters, system.characters)
    place = next(i for i, (one, other) in enumerate(pairs) if one != other)
    number, sentence, word = system.word_at(place)
    _, gold_sentence, gold_word = gold.word_at(place)
    named = f"sentence {number}" + (f" ({sentence.sent_id})" if sentence.sent_id else "")
    found = f"{excerpt(sentence.forms[word - 1])} as word {word} of {named}"
    expected = f"{excerpt(gold_sentence.forms[gold_word - 1])} as in {gold.name}"
    remedy = "score files of the same words, or of the same text cut into other words"
    raise DataError(system.name, line_of(sentence, word), found, expected, remedy)


class _Reading:
    """A file being read: the pending sentences, and the position before them."""

    def __init__(self, sentences: Iterator[Sentence], name: str) -> None:
        self.name = name
        self.characters = ""
        self.taken: list[Sentence] = []
        self.before = 0
        self._sentences = sentences

    def take(self) -> bool:
        sentence = next(self._sentences, None)
        if sentence is None:
            return False
        self.taken.append(sentence)
        self.characters += _characters(sentence)
        return True

    def clear(self) -> list[Sentence]:
        taken, self.taken, self.characters = self.taken, [], ""
        self.before += len(taken)
        return taken

    def word_at(self, place: int) -> tuple[int, Sentence, int]:
        """Return the number of a character's sentence, the sentence, and its word; numbers are from 1."""
        for number, sentence in enumerate(self.taken, start=self.before + 1):
            if place < (length := len(_characters(sentence))):
                spans = enumerate(laid_out([sentence]).words, start=1)
                word = next(word for word, ((first, end), _) in spans if first <= place < end)
                return number, sentence, word
            place -= length
        raise IndexError(place)


def _characters(sentence: Sentence) -> str:
    return _without_spaces("".join([form for _, form, _ in tokens_of(sentence)]))


@lru_cache(maxsize=1 << 14)
def _without_spaces(form: str) -> str:
    if form.isalnum():
        return form
    return "".join(character for character in form if unicodedata.category(character) != "Zs")


def _compared_forms(text: Text) -> list[str]:
    """Return the lower-cased forms; as in the shared task, those of single-word tokens without spaces."""
    words = zip(text.column("forms"), text.words, strict=True)
    return [(form if multiword else _without_spaces(form)).lower() for form, (_, multiword) in words]


def aligned_words(gold_text: Text, system_text: Text) -> list[tuple[int, int]]:
    gold, system, pairs = gold_text.words, system_text.words, []
    gold_forms, system_forms = _compared_forms(gold_text), _compared_forms(system_text)
    i = j = 0
    while i < len(gold) and j < len(system):
        if gold[i][1] or system[j][1]:
            i, j, ends = _stretch(gold, system, i, j)
            forms = gold_forms[i : ends[0]], system_forms[j : ends[1]]
            common = _common(*forms)
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
    gold: Sequence[PlacedWord], system: Sequence[PlacedWord], i: int, j: int
) -> tuple[int, int, tuple[int, int]]:
    """Return start and end, in both files, of the words under overlapping multiword tokens."""
    (gold_span, multiword), (system_span, _) = gold[i], system[j]
    end = gold_span[1] if multiword else system_span[1]
    if multiword and not system[j][1] and system_span[0] < gold_span[0]:
        j += 1
    elif not multiword and gold_span[0] < system_span[0]:
        i += 1
    ends, sides = [i, j], (gold, system)
    while True:
        # A multiword token belongs to the stretch that it begins in, a word to the one that it ends in.
        left = [(*words[at], side) for side, (words, at) in enumerate(zip(sides, ends)) if at < len(words)]
        if not any(first < end if multiword else last <= end for (first, last), multiword, _ in left):
            return i, j, (ends[0], ends[1])
        # The first of them is included, even one that ends beyond the stretch.
        span, multiword, side = min(left, key=lambda one: (one[0][0], one[2]))
        end = max(end, span[1]) if multiword else end
        ends[side] += 1


def _common(gold: Sequence[str], system: Sequence[str]) -> list[tuple[int, int]]:
    """Return the index pairs of a longest common subsequence, with matches as early as possible."""
    longest = [[0] * (len(system) + 1) for _ in range(len(gold) + 1)]
    for i in reversed(range(len(gold))):
        for j in reversed(range(len(system))):
            without = max(longest[i + 1][j], longest[i][j + 1])
            longest[i][j] = 1 + longest[i + 1][j + 1] if gold[i] == system[j] else without
    pairs, i, j = list[tuple[int, int]](), 0, 0
    while i < len(gold) and j < len(system):
        if gold[i] == system[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i][j] == longest[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def on_common_sentences(
    score: Callable[[Sequence[Files]], Result], files: Sequence[Files], names: Sequence[str]
) -> Result:
    """Return the score of files; where their sentences differ, that of the common ones, with a notice."""
    try:
        return score(files)
    except DataError:
        common = common_sentences([file() for file in files], names)
        if common is None:
            raise
        return score([partial(iter, sentences) for sentences in common])


def common_sentences(
    files: Sequence[Iterable[Sentence]], names: Sequence[str]
) -> list[list[Sentence]] | None:
    """Return the sentences that all files have, in the order of the first; None if IDs cannot pair them."""
    read = [list(file) for file in files]
    ids = [[sentence.sent_id for sentence in sentences] for sentences in read]
    unusable = any(None in of_file or len(set(of_file)) < len(of_file) for of_file in ids)
    if unusable or ids.count(ids[0]) == len(ids):
        return None
    by_id = [dict(zip(of_file, sentences)) for of_file, sentences in zip(ids, read)]
    common = [name for name in ids[0] if all(name in of_file for of_file in by_id)]
    found = [[of_file[name] for name in common] for of_file in by_id]
    if not common or any(len({"".join(one.text.split()) for one in row}) > 1 for row in zip(*found)):
        return None
    fewer = ((len(of_file) - len(common), name) for of_file, name in zip(ids, names, strict=True))
    left_out = ", ".join(f"{number:,} of {name}" for number, name in fewer if number)
    rest = f"; left out {left_out}" if left_out else ""
    notice(f"paired {pluralise(len(common), 'sentence')} by sent_id{rest}")
    return found
