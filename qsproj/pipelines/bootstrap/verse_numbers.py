"""Read references of verses: a book, a chapter, and one verse, a range or a list."""

import re
from unicodedata import category

_DASHES, _LIST = "-\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d", ",;+/&،؛、，"
# MAT 1:5, 1 Cor 2,3, b.MAT.1.5; JUD 5 in a book of one chapter; MAT 1:5-6, 1:5,6 and 1:5a.
REFERENCE = re.compile(
    r"(?P<book>[^\W_](?:[\w .]*?[^\W\d_])?)[\s._]*(?:(?<![\d])(?P<chapter>\d{1,3})\s*[:.,_])?"
    rf"\s*(?P<verses>\d{{1,3}}[^\W\d_]?(?:\s*[{_DASHES}{_LIST}]\s*\d{{1,3}}[^\W\d_]?)*)"
)
VERSES = re.compile(rf"\s*(?:(?P<mark>[{_DASHES}{_LIST}])\s*)?(?P<number>\d{{1,3}})(?P<part>[^\W\d_]?)\s*")


def parse_reference(text: str) -> re.Match[str] | None:
    return REFERENCE.fullmatch(_visible(text).strip())


def _visible(text: str) -> str:
    """Return a text without invisible format characters; a soft hyphen is kept as a dash."""
    return "".join(c for c in text if c == "\u00ad" or category(c) != "Cf")


def verse_numbers(text: str) -> tuple[int, ...] | None:
    """Return the verses of a range or a list, ascending; None without any, or if the numbers decrease."""
    visible = _visible(text)
    verses: list[int] = []
    at = 0
    while match := VERSES.match(visible, at):
        number, at = int(match["number"]), match.end()
        mark = match["mark"]
        if bool(mark) != bool(verses) or (verses and number < verses[-1]):
            return None
        is_range = mark is not None and mark not in _LIST
        verses.extend(range(verses[-1] + 1, number + 1) if is_range else [number] * (number not in verses))
    return tuple(verses) if verses and at == len(visible) else None
