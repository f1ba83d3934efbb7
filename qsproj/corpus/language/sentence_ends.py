"""Sentences in running text, by rules: where a line holds several, it is cut behind what ends one.

A full stop behind an abbreviation of the language, an initial or a short number ends nothing, and neither
does anything that a small letter follows. No treebank is asked; text that has one sentence a line needs no
cutting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

# What ends a sentence, with the quotes and brackets that close behind it: before a space, or, in scripts that
# put none, anywhere.
_CLOSING = "[\"'”’»›«)\\]}」』）】]*"
_END = re.compile(f"(?:[.!?…؟۔।॥]+{_CLOSING}(?=\\s))|(?:[。！？]+{_CLOSING})")
_LAST_WORD = re.compile(r"[^\s(\[\"'„“«»]*$")
_SHORT_NUMBER = re.compile(r"\d{1,2}")


def sentences_in(line: str, language: str | None) -> Iterator[str]:
    """Yield the sentences of a line of text, without the white space around them; none of a blank line.

    Parameters
    ----------
    line : str
    language : str or None
        Code of the language, for its abbreviations; None, or one that is not known: those of English.
    """
    start = 0
    for found in _END.finditer(line):
        if _ends(line, found, language):
            yield line[start : found.end()].strip()
            start = found.end()
    rest = line[start:].strip()
    if rest:
        yield rest


def _ends(line: str, found: re.Match[str], language: str | None) -> bool:
    """Return whether a mark that may end a sentence does."""
    following = line[found.end() :].lstrip()
    if not following or following[0].islower():
        return False
    if not found[0].startswith(".") or found[0].startswith(".."):
        return True
    last = _LAST_WORD.search(line, 0, found.start())
    word = "" if last is None else last[0]
    if _SHORT_NUMBER.fullmatch(word):
        return False
    initials = len(word) == 1 and word.isalpha() and word.isupper()
    return not initials and word not in _abbreviations(language or "en")


@lru_cache(maxsize=8)
def _abbreviations(language: str) -> frozenset[str]:
    """Return what full stops stand behind within sentences, as sacremoses lists it."""
    from sacremoses import MosesTokenizer

    return frozenset(MosesTokenizer(language).NONBREAKING_PREFIXES)
