"""Two translations of one text, lines of ``reference TAB text`` in any order, paired by reference.

Bibles in USFM or USX, as translators keep them, are read as such lines: verses out of the markup, by the
package usfmtc. A file holds a book, or several; an archive (``.zip``) has a file for each.
"""

import re
import string
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path, PurePath
from typing import Any
from xml.etree.ElementTree import Element, ParseError
from zipfile import BadZipFile, ZipFile

from qsproj.corpus.files import open_text
from qsproj.corpus.pairs.fitting import fit_of
from qsproj.errors import DataError, UsageError, counted

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


def scripture_lines(path: str) -> tuple[str, ...]:
    """Return the verses of a file as lines of ``reference TAB text``; parts of a verse go together.

    Raises UsageError without the package, DataError when the file is not what its name says.
    """
    stamp = None
    with suppress(OSError):  # which is told where the file is opened
        found = Path(path).stat()
        stamp = found.st_mtime_ns, found.st_size
    return _lines_at(path, stamp)


@cache
def _lines_at(path: str, stamp: tuple[int, int] | None) -> tuple[str, ...]:
    """Return the lines of a file as it is now: one that was written since has another ``stamp``."""
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


# MAT 1:5, 1 Cor 2,3, b.MAT.1.5; JUD 5 in a book of one chapter; MAT 1:5-6 and 1:5a.
_REFERENCE = re.compile(
    r"(?P<book>[^\W_](?:[\w .]*?[^\W\d_])?)[\s._]*(?:(?<![\d])(?P<chapter>\d{1,3})\s*[:.,_])?"
    r"\s*(?P<first>\d{1,3})(?P<part>[a-z]?)(?:\s*[-–—]\s*(?P<last>\d{1,3})[a-z]?)?"
)
# What stands where a verse is merged with the one before.
_MERGED = "<range>"
_NO_TEXT = re.compile(r"[\W\d_]*")
# Marks of footnotes, numbers of verses within the text, tags of HTML.
_NOTES = re.compile(r"\s?\[\w{1,3}\]|[*†‡¶]|[¹²³⁰-⁹]+|</?\w[^<>]*>")
# A chapter is numbered otherwise where its verses clearly fit others; of 25 verses, right ones have 6 to 8.
CLEAR_IN_CHAPTER = 5.0

ALONE, OTHERWISE, REPEATED = (
    "verses of one side alone",
    "verses of chapters that are numbered otherwise",
    "verses with two different texts",
)

Chapter = tuple[str, int]
Verse = tuple[Chapter, int]


@dataclass(frozen=True, slots=True)
class Verses:
    """The verses of one file, by (chapter, verse)."""

    # in the order of the file; verses that are merged have their text at the first, and none at the others
    texts: dict[Verse, str]
    # the first of the verses that another is merged with
    merged: dict[Verse, Verse]
    repeated: set[Verse]  # those with two different texts
    cleaned: int  # number of those that had verse numbers or marks of footnotes in their text


def read_verses(path: str) -> Verses:
    """Read a file of ``reference TAB text``, or of USFM or USX.

    Raises DataError when a line has no reference, or there is none.
    """
    texts: dict[Verse, str] = {}
    merged: dict[Verse, Verse] = {}
    repeated: set[Verse] = set()
    parts = defaultdict[Verse, dict[str, str]](dict)
    cleaned = 0
    before: Verse | None = None
    with nullcontext(scripture_lines(path)) if is_scripture(path) else open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            line = line.strip("\ufeff\r\n ")
            if not line:
                continue
            reference, tab, text = line.partition("\t")
            found = _REFERENCE.fullmatch(reference.strip())
            if found is None or not tab:
                raise _no_reference(path, number, reference, text)
            chapter = re.sub(r"[\W_]", "", found["book"]).casefold(), int(found["chapter"] or 1)
            first = chapter, int(found["first"])
            if text.strip() == _MERGED and before is not None and before[0] == chapter:
                merged[first] = merged.get(before, before)
                continue
            last = int(found["last"] or first[1])
            plain = _plain(text, first=first[1], last=last)
            cleaned += plain != " ".join(text.split())
            known = parts[first]
            if known.setdefault(found["part"], plain) != plain or ("" in known and len(known) > 1):
                repeated.add(first)
            texts[first] = " ".join(known.values())
            if last < first[1]:
                raise DataError(
                    path,
                    number,
                    found=f"{reference.strip()!r}, which ends before it begins",
                    expected="a verse, or the first and the last of those that are merged",
                    remedy="correct the reference",
                )
            for verse in range(first[1] + 1, last + 1):
                merged[chapter, verse] = first
            before = first
    if not texts:
        raise DataError(path, None, found="no verse", expected="lines of a reference, a tab and text")
    return Verses(texts, merged, repeated, cleaned)


def _plain(text: str, *, first: int, last: int) -> str:
    """Return the text of a verse, or of merged ones, without numbers of verses and marks of footnotes."""
    plain = re.sub(rf"^\s*[\[(]?{first}[\]).:]?\s+(?=\D)", "", text)
    for verse in range(first + 1, last + 1):
        plain = re.sub(rf"(?<=[^\w\s])\s+[\[(]?{verse}[\]).:]?\s+(?=\D)", " ", plain, count=1)
    plain = " ".join(_NOTES.sub("", plain).split())
    return "" if _NO_TEXT.fullmatch(plain) else plain


def _no_reference(path: str, number: int, reference: str, text: str) -> DataError:
    remedy = "leave out what is no verse, or do without --paired-by verse"
    swapped = _REFERENCE.fullmatch(text.partition("\t")[0].strip()) is not None
    if swapped:
        remedy = "swap the columns"
    elif not text and _REFERENCE.match(reference.strip()):
        remedy = "part reference and text by a tab"
    return DataError(
        path,
        number,
        found="the text before the reference" if swapped else f"a line that begins with {reference[:30]!r}",
        expected="a reference, a tab and the text of a verse: MAT 1:5 TAB ...",
        remedy=remedy,
    )


def paired_verses(source: str, target: str, left_out: Counter[str]) -> Iterator[tuple[str, str, str]]:
    """Yield name, source and target of the verses that both files have, in the order of the source.

    Verses that one side has merged are merged on the other. ``left_out`` counts those that are not paired, by
    the reason. Raises DataError when no verse is in both.
    """
    sides = read_verses(source), read_verses(target)
    first_of = _groups(sides)
    texts = [defaultdict[Verse, list[str]](list) for _ in sides]
    for side, of_side in zip(sides, texts, strict=True):
        for verse, text in side.texts.items():
            if text:
                of_side[first_of.get(verse, verse)].append(text)
    common = [verse for verse in texts[0] if verse in texts[1]]
    if not common:
        first = [next(iter(side.texts), (("", 0), 0)) for side in sides]
        shown = [f"{book} {chapter}:{verse}" for (book, chapter), verse in first]
        raise DataError(
            target,
            None,
            found=f"no verse of {source}: references begin with {shown[1]!r}, there with {shown[0]!r}",
            expected="the same references on both sides",
            remedy="name the books alike, by the codes of USFM: MAT 1:5",
        )
    otherwise = numbered_otherwise(texts[0], texts[1])
    repeated = {first_of.get(verse, verse) for side in sides for verse in side.repeated}
    left_out[ALONE] += len(set(texts[0]) ^ set(texts[1]))
    for verse in common:
        chapter, number = verse
        if verse in repeated:
            left_out[REPEATED] += 1
        elif chapter in otherwise:
            left_out[OTHERWISE] += 1
        else:
            name = f"{chapter[0].upper()}_{chapter[1]}:{number}"
            yield name, " ".join(texts[0][verse]), " ".join(texts[1][verse])
    left_out += Counter({reason: 0 for reason in (ALONE, OTHERWISE, REPEATED)})


def _groups(sides: tuple[Verses, Verses]) -> dict[Verse, Verse]:
    """Return for each verse that a side has merged the first of all that go together on either side."""
    first_of: dict[Verse, Verse] = {}

    def first(verse: Verse) -> Verse:
        while verse in first_of:
            verse = first_of[verse]
        return verse

    for side in sides:
        for verse, head in side.merged.items():
            one, other = sorted((first(verse), first(head)))
            if one != other:
                first_of[other] = one
    return {verse: first(verse) for verse in first_of}


def numbered_otherwise(source: Mapping[Verse, list[str]], target: Mapping[Verse, list[str]]) -> set[Chapter]:
    """Return the chapters whose verses clearly fit those some numbers further up or down."""
    last: dict[Chapter, int] = {}
    for chapter, verse in (*source, *target):
        last[chapter] = max(last.get(chapter, 0), verse)
    found = set()
    for chapter, verses in last.items():
        numbers = [(chapter, verse) for verse in range(1, verses + 1)]
        pairs = [(" ".join(source.get(one, [])), " ".join(target.get(one, []))) for one in numbers]
        if fit_of(pairs, clear=CLEAR_IN_CHAPTER).shift:
            found.add(chapter)
    return found


def said_of_verses(path: str, verses: Verses) -> list[str]:
    """Return what is odd about the text of a file."""
    texts = [text for text in verses.texts.values() if text]
    capitals = sum(text.upper() == text != text.lower() for text in texts)
    lines = []
    if verses.cleaned:
        lines.append(
            f"{path}: took numbers of verses and marks of footnotes out of {counted(verses.cleaned, 'verse')}"
        )
    if capitals > 0.2 * len(texts):
        lines.append(
            f"{path}: {counted(capitals, 'verse')} in capitals alone: names cannot be told from other words, "
            "and words of other text are not found; write it as the language does"
        )
    return lines
