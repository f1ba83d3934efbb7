"""Bibles in USFM or USX, as translators keep them: verses out of the markup, by the package usfmtc.

A file holds a book, or several; an archive (``.zip``) has a file for each.
"""

import string
from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import PurePath
from typing import Any
from xml.etree.ElementTree import Element, ParseError
from zipfile import BadZipFile, ZipFile

from qsproj.corpus.files import open_text
from qsproj.errors import DataError, UsageError

ARCHIVE, XML = ".zip", ".usx"
SUFFIXES = (".usfm", ".sfm", XML, ARCHIVE)
# Text of verses stands in paragraphs of these categories of markers, tables aside; headings do not.
_OF_VERSES = frozenset({"versepara", "otherpara", "list"})
# Other numbers of chapters and verses, in the text.
_ASIDE = "attribute"
NAMELESS = "no book"


def is_scripture(path: str) -> bool:
    """Tell by its name whether a file is a Bible in USFM or USX."""
    return PurePath(path).suffix.lower() in SUFFIXES


@cache
def scripture_lines(path: str) -> tuple[str, ...]:
    """Return the verses of a file as lines of ``reference TAB text``; parts of a verse go together.

    Raises UsageError without the package, DataError when the file is not what its name says.
    """
    texts: dict[tuple[str, str], str] = {}
    for name, text in _files(path):
        for reference, piece in _pieces(_parsed(path, name, text)):
            texts[reference] = texts.get(reference, "") + piece
    lines = ((f"{book} {verse}", " ".join(text.split())) for (book, verse), text in texts.items())
    return tuple(f"{reference}\t{text}" for reference, text in lines if text)


def _files(path: str) -> Iterator[tuple[str, str]]:
    """Yield name and content of a file, or of those of an archive that are Scripture."""
    if PurePath(path).suffix.lower() != ARCHIVE:
        with open_text(path) as text:
            yield path, text.read()
        return
    try:
        with ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if PurePath(name).suffix.lower() in SUFFIXES[:-1]:
                    with archive.open(name) as member, open_text(member) as text:
                        yield name, text.read()
    except (OSError, BadZipFile) as error:
        raise DataError(
            path, None, found=f"what cannot be read ({error})", expected="an archive of books in USFM or USX"
        ) from error


def _parsed(path: str, name: str, text: str) -> Any:
    """Return the document that a file is, as the package holds it."""
    try:
        from usfmtc import USX, usfmGrammar
    except ImportError as error:
        raise UsageError(
            "found no package that reads USFM and USX; install it: pip install 'qsproj[bible]'"
        ) from error
    text, grammar = text.removeprefix("\ufeff"), usfmGrammar(None)
    try:
        if PurePath(name).suffix.lower() == XML:
            return USX.fromUsx(StringIO(text), grammar=grammar)
        return USX.fromUsfm(text, grammar=grammar)
    except (ParseError, SyntaxError) as error:
        raise DataError(
            path, None, found=f"{name}, which cannot be read ({error})", expected="USFM or USX"
        ) from error


def _pieces(document: Any) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield pieces of text with the book and ``chapter:verse`` that they belong to, in their order."""
    categories = document.grammar.marker_categories
    book, chapter, verse = NAMELESS, "1", ""

    def walk(element: Element, *, counts: bool) -> Iterator[tuple[tuple[str, str], str]]:
        nonlocal book, chapter, verse
        category = categories.get(element.get("style"))
        match element.tag:
            case "book":
                book, verse, counts = element.get("code", NAMELESS), "", False
            case "chapter":
                chapter, verse = element.get("number", chapter), ""
            case "verse":
                verse = element.get("number", "").rstrip(string.ascii_letters)
            case "para" | "cell":
                counts = element.tag == "cell" or category in _OF_VERSES
            case "note" | "figure":
                counts = False
            case "char":
                counts = counts and category != _ASIDE
        yield (book, f"{chapter}:{verse}"), (element.text if counts and verse else "") or ""
        for child in element:
            yield from walk(child, counts=counts)
            yield (book, f"{chapter}:{verse}"), (child.tail if counts and verse else "") or ""
        if element.tag in ("para", "cell"):
            yield (book, f"{chapter}:{verse}"), " "

    return ((place, piece) for place, piece in walk(document.getroot(), counts=False) if piece)
