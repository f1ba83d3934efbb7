"""Read Bibles in USFM or USX, the formats of translators, by the package usfmtc, and references of verses.

A file holds one book or several; an archive (``.zip``) has a file for each.
"""

import re
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import PurePath
from typing import Any, NamedTuple
from unicodedata import category
from xml.etree.ElementTree import Element
from zipfile import BadZipFile, ZipFile

from qsproj.corpus.files import open_text
from qsproj.corpus.packed import is_content, opened_member
from qsproj.errors import DataError, UsageError

ARCHIVE, XML = ".zip", ".usx"
SUFFIXES = (".usfm", ".sfm", XML, ARCHIVE)
# Marker categories of paragraphs with verse text, beside tables; headings have others.
_OF_VERSES = frozenset({"versepara", "otherpara", "list"})
# Elements outside the verse text: notes, pictures, sidebars, matter before and after a book.
_BESIDE = frozenset({"note", "figure", "sidebar", "periph", "ref"})
# Other numbers of chapters and verses, references and pronunciation within text; headings of acrostics.
_CATEGORIES_BESIDE = frozenset({"attribute", "crossreferencechar", "footnotechar"})
_MARKERS_BESIDE = frozenset({"rq", "pro", "qa", "sts", "lit", "pb", "k1", "k2"})
# Brackets left empty by a removed reference.
_NOTHING_IN_BRACKETS = re.compile(r"\s?(?:\(\s*\)|\[\s*\])")
NAMELESS = "no book"
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


def is_scripture(path: str) -> bool:
    return PurePath(path).suffix.lower() in SUFFIXES


def numbered_lines(path: str) -> tuple[tuple[int | None, str], ...]:
    """Return the verses of a file as lines of ``reference TAB text``; parts of a verse are joined.

    Each has its line number if the format has lines. Raises UsageError without the package, DataError when
    the file is not in the format of its suffix.
    """
    places: dict[tuple[str, str, int | str], tuple[int | None, set[int], list[str]]] = {}
    for name, text in _files(path):
        for piece in _pieces(path, name, text):
            verses = verse_numbers(piece.verse) or ()
            place = piece.book, piece.chapter, verses[0] if verses else piece.verse
            _, numbers, texts = places.setdefault(place, (piece.line, set(), []))
            numbers.update(verses)
            texts.append(piece.text)
    found = []
    for (book, chapter, verse), (line, numbers, texts) in places.items():
        if plain := " ".join(_NOTHING_IN_BRACKETS.sub("", "".join(texts)).split()):
            found.append((line, f"{book} {chapter}:{_written(sorted(numbers)) or verse}\t{plain}"))
    return tuple(found)


class _Piece(NamedTuple):
    """Text of a verse, with its reference and line."""

    book: str
    chapter: str
    verse: str
    line: int | None
    text: str


def _written(verses: Sequence[int]) -> str:
    if len(verses) > 1 and verses[-1] - verses[0] == len(verses) - 1:
        return f"{verses[0]}-{verses[-1]}"
    return ",".join(map(str, verses))


def _files(path: str) -> Iterator[tuple[str, str]]:
    """Yield name and content of a file, or of the USFM and USX files of an archive."""
    if PurePath(path).suffix.lower() != ARCHIVE:
        with open_text(path) as text:
            yield path, text.read()
        return
    try:
        with ZipFile(path) as archive:
            for member in sorted(archive.infolist(), key=lambda member: member.filename):
                name = member.filename
                if is_content(member) and PurePath(name).suffix.lower() in SUFFIXES[:-1]:
                    with opened_member(archive, member) as packed, open_text(packed) as text:
                        yield name, text.read()
    except (OSError, BadZipFile, DataError) as error:
        found = f"an unreadable archive ({error})"
        raise DataError(path, None, found, "an archive of books in USFM or USX") from error


def _pieces(path: str, name: str, text: str) -> list[_Piece]:
    """Parse a file with the package and return its pieces of text in order."""
    try:
        from usfmtc import USX, usfmGrammar
    except ImportError as error:
        remedy = "install it: pip install 'qsproj[bible]'"
        raise UsageError(f"found no package that reads USFM and USX; {remedy}") from error
    # A stream, because the package reads a string as a file name if such a file exists.
    stream, grammar = StringIO(text.removeprefix("\ufeff")), usfmGrammar(None)
    try:
        read = USX.fromUsx if PurePath(name).suffix.lower() == XML else USX.fromUsfm
        return list(_walked(read(stream, grammar=grammar)))
    except Exception as error:  # of any kind: the package does not validate its input
        found = f"{name}, which cannot be read ({error})"
        raise DataError(path, None, found, expected="USFM or USX") from error


def _walked(document: Any) -> Iterator[_Piece]:
    categories = document.grammar.marker_categories
    book, chapter, verse, line = NAMELESS, "1", "", None

    def walk(element: Element, *, counts: bool, beside: bool) -> Iterator[_Piece]:
        nonlocal book, chapter, verse, line
        style = element.get("style", "")
        kind = categories.get(style)
        beside |= element.tag in _BESIDE or kind in _CATEGORIES_BESIDE or style in _MARKERS_BESIDE
        match element.tag:
            case "book":
                book, verse, counts = element.get("code", NAMELESS), "", False
            case "chapter":
                chapter, verse = element.get("number", chapter), ""
            case "verse":
                verse = element.get("number", "")
                place = getattr(element, "pos", None)
                line = None if place is None else place.l + 1
            case "para" | "cell":
                counts = element.tag == "cell" or kind in _OF_VERSES
        counts &= not beside
        yield _Piece(book, chapter, verse, line, (element.text if counts else "") or "")
        for child in element:
            yield from walk(child, counts=counts, beside=beside)
            yield _Piece(book, chapter, verse, line, (child.tail if counts else "") or "")
        if element.tag in ("para", "cell"):
            yield _Piece(book, chapter, verse, line, " ")

    pieces = walk(document.getroot(), counts=False, beside=False)
    return (piece for piece in pieces if piece.verse and piece.text)
