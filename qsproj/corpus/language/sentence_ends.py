"""Sentences in running text, by rules: where a line holds several, it is cut behind what ends one.

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

from qsproj.corpus.sentence import Sentence
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
    """Yield the sentences of a line of text, without the white space around them; none of a blank line.

    ``language``: Code of the language, for its abbreviations; None, or one that is not known: those of
    English.
    """
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
    """Yield the sentences of lines that may hold several each, cut behind what ends them.

    ``read`` takes lines of one sentence each, as :func:`qsproj.corpus.text.read_text`. A sentence has the
    number of its line for a name; several on a line have *7.1*, *7.2* and so on. Raises as ``read``.
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
