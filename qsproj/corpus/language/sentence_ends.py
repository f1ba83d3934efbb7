"""Sentences in running text, by rules: lines that hold several, or more words than a sentence may have.

A full stop behind an abbreviation of the language, an initial or a short number ends nothing, and neither
does anything that a small letter follows. No treebank is asked; text that has one sentence a line needs no
cutting.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from qsproj.conventions import MAX_WORDS
from qsproj.corpus.cells import COLUMN_COUNT, FORM, MISC
from qsproj.corpus.editing import NEW_PARAGRAPH, begins_paragraph, sentence_from_words
from qsproj.corpus.sentence import Layout, Sentence
from qsproj.corpus.text import is_blank
from qsproj.errors import DataError

# What ends a sentence, with the quotes and brackets that close behind it: before a space, or, in scripts that
# put none, anywhere.
_CLOSING = "[\"'”’»›«)\\]}」』）】]*"
# A run of marks is looked at from its first one alone: from each of them would take quadratic time.
_END = re.compile(f"(?:(?<![.!?…؟۔।॥])[.!?…؟۔।॥]++{_CLOSING}+(?=\\s))|(?:[。！？]+{_CLOSING})")
_BEFORE_WORD = frozenset("([\"'„“«»")
_SPACE = re.compile(r"\s*")
# Longer words are no abbreviations.
_LONGEST_ABBREVIATION = 64
_SHORT_NUMBER = re.compile(r"\d{1,2}")


def sentences_in(line: str, language: str | None) -> Iterator[str]:
    """Yield the sentences of a line of text, stripped; abbreviations of an unknown language are English."""
    start = 0
    for found in _END.finditer(line):
        if _ends(line, found, language):
            yield line[start : found.end()].strip()
            start = found.end()
    rest = line[start:].strip()
    if rest:
        yield rest


def read_running_text(
    lines: Iterable[str],
    read: Callable[[Iterable[str]], Iterator[Sentence]],
    language: str | None,
) -> Iterator[Sentence]:
    """Yield the sentences of lines that may hold several each; ``read`` takes lines of one sentence each.

    A sentence has the number of its line for a name; several on a line have *7.1*, *7.2* and so on.
    """
    names = deque[str]()
    number = 0

    def sentences() -> Iterator[str]:
        nonlocal number
        for number, line in enumerate(lines, start=1):
            found = [sentence for sentence in sentences_in(line, language) if not is_blank(sentence)]
            parts = range(1, len(found) + 1)
            names.extend([str(number)] if len(found) == 1 else [f"{number}.{part}" for part in parts])
            # A blank line stays, as a paragraph begins behind it.
            yield from found or [""]

    try:
        for sentence in read(sentences()):
            yield replace(sentence, sent_id=names.popleft())
    except DataError as error:
        raise error.at(number) from None


def _ends(line: str, found: re.Match[str], language: str | None) -> bool:
    """Return whether a mark that may end a sentence does."""
    following = _SPACE.match(line, found.end())
    assert following is not None
    if following.end() == len(line) or line[following.end()].islower():
        return False
    if not found[0].startswith(".") or found[0].startswith(".."):
        return True
    word = _last_word(line, found.start())
    if _SHORT_NUMBER.fullmatch(word):
        return False
    initials = len(word) == 1 and word.isalpha() and word.isupper()
    return not initials and word not in _abbreviations(language or "en")


def _last_word(line: str, end: int) -> str:
    """Return the word before a place in a line; of a long one its end."""
    begin = end
    while begin and end - begin < _LONGEST_ABBREVIATION:
        if line[begin - 1].isspace() or line[begin - 1] in _BEFORE_WORD:
            break
        begin -= 1
    return line[begin:end]


@lru_cache(maxsize=8)
def _abbreviations(language: str) -> frozenset[str]:
    """Return what full stops stand behind within sentences, as sacremoses lists it."""
    from sacremoses import MosesTokenizer

    return frozenset(MosesTokenizer(language).NONBREAKING_PREFIXES)


# What ends a sentence, what may follow before the next one begins, and where else one may be cut.
_ENDS = frozenset({".", "!", "?", "…", "...", "。", "！", "？", "।", "؟", "۔"})
_QUOTES = frozenset({'"', "'", "”", "“", "’", "»", "«", ")", "]", "」", "』"})
_PAUSES = frozenset({";", ":", ",", "；", "：", "，", "、", "،"})

# Is told the number of a line, its words, and how many sentences were made of it.
Tell = Callable[[str, int, int], None]


def cut_long_lines(
    sentences: Iterable[Sentence], *, longest: int = MAX_WORDS, tell: Tell = lambda *_: None
) -> Iterator[Sentence]:
    """Yield sentences without annotation, those of more than ``longest`` words in parts, *7.1*, *7.2* ...

    Where a sentence does not end in time, it is cut behind the last pause, or else behind word ``longest``.
    ``tell`` is told of each line that was cut.
    """
    for sentence in sentences:
        if len(sentence) <= longest:
            yield sentence
            continue
        bounds = _bounds(sentence, longest)
        tell(sentence.sent_id or "", len(sentence), len(bounds) - 1)
        for number, (begin, end) in enumerate(pairwise(bounds), start=1):
            yield _part(sentence, begin, end, f"{sentence.sent_id}.{number}")


def _bounds(sentence: Sentence, longest: int) -> list[int]:
    """Return where the parts begin, and the number of words: all ends of sentences, and what must be."""
    inner = _inside_of_tokens(sentence)
    bounds = [0]
    for end in [*_sentence_ends(sentence.forms, inner), len(sentence)]:
        while end - bounds[-1] > longest:
            bounds.append(_last_pause(sentence.forms, inner, bounds[-1], bounds[-1] + longest))
        bounds.append(end)
    return bounds


def _sentence_ends(forms: tuple[str, ...], inner: set[int]) -> Iterator[int]:
    """Yield the number of words up to and with the end of each sentence but the last."""
    at = 0
    while at < len(forms):
        ended = forms[at] in _ENDS
        at += 1
        while ended and at < len(forms) and (forms[at] in _ENDS or forms[at] in _QUOTES):
            at += 1
        if ended and at < len(forms) and at not in inner and not forms[at][0].islower():
            yield at


def _last_pause(forms: tuple[str, ...], inner: set[int], begin: int, end: int) -> int:
    for at in range(end, begin, -1):
        if forms[at - 1] in _PAUSES and at not in inner:
            return at
    while end in inner and end > begin + 1:
        end -= 1
    return end


def _inside_of_tokens(sentence: Sentence) -> set[int]:
    """Return the words, from 0, that are not the first of their multiword token."""
    inner: set[int] = set()
    for line in sentence.layout.lines if sentence.layout else ():
        first, hyphen, last = line.partition("\t")[0].partition("-")
        if hyphen and first.isdecimal():
            inner.update(range(int(first), int(last)))
    return inner


def _part(sentence: Sentence, begin: int, end: int, name: str) -> Sentence:
    """Return words ``begin`` to ``end`` as a sentence of that name, with their rows."""
    assert sentence.layout is not None
    lines = [NEW_PARAGRAPH] if begin == 0 and begins_paragraph(sentence) else []
    rows: list[list[str]] = []
    word_lines = []
    for line in sentence.layout.lines:
        cells = line.split("\t")
        first, hyphen, last = cells[0].partition("-")
        if len(cells) != COLUMN_COUNT or not begin < int(first) <= end:
            continue
        cells[0] = f"{int(first) - begin}-{int(last) - begin}" if hyphen else str(int(first) - begin)
        if not hyphen:
            word_lines.append(len(lines) + 2 + len(rows))
        rows.append(cells)
    lines += [f"# sent_id = {name}", f"# text = {_text(rows)}", *("\t".join(cells) for cells in rows)]
    plain = sentence_from_words(sentence.forms[begin:end], sent_id=name)
    return replace(plain, layout=Layout(lines=tuple(lines), word_lines=tuple(word_lines)))


def _text(rows: list[list[str]]) -> str:
    """Return what the tokens of some rows spell, spaces where they are."""
    text, covered = "", 0
    for cells in rows:
        _, hyphen, last = cells[0].partition("-")
        if not hyphen and int(cells[0]) <= covered:
            continue
        covered = int(last) if hyphen else covered
        text += cells[FORM] + ("" if cells[MISC] == "SpaceAfter=No" else " ")
    return text.rstrip(" ")
