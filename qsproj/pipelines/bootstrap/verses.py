"""Pair two translations by reference, from lines of ``reference TAB text`` in any order.

Bibles in USFM or USX, the formats of translators, are converted to such lines by the package usfmtc. A file
holds one book or several; an archive (``.zip``) has a file for each.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from unicodedata import category as character_category
from xml.etree.ElementTree import Element
from zipfile import BadZipFile, ZipFile

from qsproj.corpus.files import is_content, open_text, opened_member
from qsproj.corpus.pairs.fitting import fit_of
from qsproj.errors import DataError, UsageError, pluralise

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


def is_scripture(path: str) -> bool:
    """Return whether a file is a Bible in USFM or USX, by its suffix."""
    return PurePath(path).suffix.lower() in SUFFIXES


def scripture_lines(path: str) -> tuple[str, ...]:
    """Return the verses of a file as lines of ``reference TAB text``; parts of a verse are joined.

    Raises UsageError without the package, DataError when the file is not in the format of its suffix.
    """
    return tuple(line for _, line in _numbered_lines(path))


def _numbered_lines(path: str) -> tuple[tuple[int | None, str], ...]:
    """Return the verses of :func:`scripture_lines`, each with its line number if the format has lines."""
    stamp = None
    with suppress(OSError):  # reported when the file is opened
        found = Path(path).stat()
        stamp = found.st_mtime_ns, found.st_size
    return _lines_at(path, stamp)


class _Piece(NamedTuple):
    """Text of a verse, with its reference and line."""

    book: str
    chapter: str
    verse: str
    line: int | None
    text: str


@cache
def _lines_at(path: str, stamp: tuple[int, int] | None) -> tuple[tuple[int | None, str], ...]:
    """Return the lines of a file, cached until its ``stamp`` (modification time and size) changes."""
    texts: dict[tuple[str, str, int | str], str] = {}
    numbers: dict[tuple[str, str, int | str], set[int]] = {}
    lines: dict[tuple[str, str, int | str], int | None] = {}
    for name, text in _files(path):
        for piece in _pieces(path, name, text):
            verses = verse_numbers(piece.verse) or ()
            place = piece.book, piece.chapter, verses[0] if verses else piece.verse
            lines.setdefault(place, piece.line)
            numbers.setdefault(place, set()).update(verses)
            texts[place] = texts.get(place, "") + piece.text
    found = []
    for (book, chapter, verse), text in texts.items():
        written = _written(sorted(numbers[book, chapter, verse])) or verse
        plain = " ".join(_NOTHING_IN_BRACKETS.sub("", text).split())
        if plain:
            found.append((lines[book, chapter, verse], f"{book} {chapter}:{written}\t{plain}"))
    return tuple(found)


def _written(verses: Sequence[int]) -> str:
    """Format consecutive verse numbers as a range, others as a list."""
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
        raise DataError(
            path,
            None,
            found=f"an unreadable archive ({error})",
            expected="an archive of books in USFM or USX",
        ) from error


def _pieces(path: str, name: str, text: str) -> list[_Piece]:
    """Parse a file with the package and return its pieces of text in order."""
    try:
        from usfmtc import USX, usfmGrammar
    except ImportError as error:
        raise UsageError(
            "found no package that reads USFM and USX; install it: pip install 'qsproj[bible]'"
        ) from error
    # A stream, because the package reads a string as a file name if such a file exists.
    stream, grammar = StringIO(text.removeprefix("\ufeff")), usfmGrammar(None)
    try:
        read = USX.fromUsx if PurePath(name).suffix.lower() == XML else USX.fromUsfm
        return list(_walked(read(stream, grammar=grammar)))
    except Exception as error:  # of any kind: the package does not validate its input
        raise DataError(
            path, None, found=f"{name}, which cannot be read ({error})", expected="USFM or USX"
        ) from error


def _walked(document: Any) -> Iterator[_Piece]:
    """Yield pieces of text with their verses, in document order."""
    categories = document.grammar.marker_categories
    book, chapter, verse, line = NAMELESS, "1", "", None

    def walk(element: Element, *, counts: bool, beside: bool) -> Iterator[_Piece]:
        nonlocal book, chapter, verse, line
        style = element.get("style", "")
        category = categories.get(style)
        beside |= element.tag in _BESIDE or category in _CATEGORIES_BESIDE or style in _MARKERS_BESIDE
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
                counts = element.tag == "cell" or category in _OF_VERSES
        counts &= not beside
        yield _Piece(book, chapter, verse, line, (element.text if counts else "") or "")
        for child in element:
            yield from walk(child, counts=counts, beside=beside)
            yield _Piece(book, chapter, verse, line, (child.tail if counts else "") or "")
        if element.tag in ("para", "cell"):
            yield _Piece(book, chapter, verse, line, " ")

    return (
        piece for piece in walk(document.getroot(), counts=False, beside=False) if piece.verse and piece.text
    )


_DASHES, _LIST = "-\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d", ",;+/&،؛、，"
# MAT 1:5, 1 Cor 2,3, b.MAT.1.5; JUD 5 in a book of one chapter; MAT 1:5-6, 1:5,6 and 1:5a.
_REFERENCE = re.compile(
    r"(?P<book>[^\W_](?:[\w .]*?[^\W\d_])?)[\s._]*(?:(?<![\d])(?P<chapter>\d{1,3})\s*[:.,_])?"
    rf"\s*(?P<verses>\d{{1,3}}[^\W\d_]?(?:\s*[{_DASHES}{_LIST}]\s*\d{{1,3}}[^\W\d_]?)*)"
)
_VERSES = re.compile(rf"\s*(?:(?P<mark>[{_DASHES}{_LIST}])\s*)?(?P<number>\d{{1,3}})(?P<part>[^\W\d_]?)\s*")


def _reference(text: str) -> re.Match[str] | None:
    return _REFERENCE.fullmatch(_visible(text).strip())


def _visible(text: str) -> str:
    """Return a text without invisible format characters; a soft hyphen is kept as a dash."""
    return "".join(c for c in text if c == "\u00ad" or character_category(c) != "Cf")


def verse_numbers(text: str) -> tuple[int, ...] | None:
    """Return the verses of a range or a list, ascending; None without any, or if the numbers decrease."""
    visible = _visible(text)
    verses: list[int] = []
    at = 0
    while match := _VERSES.match(visible, at):
        number, at = int(match["number"]), match.end()
        mark = match["mark"]
        if bool(mark) != bool(verses) or (verses and number < verses[-1]):
            return None
        is_range = mark is not None and mark not in _LIST
        verses.extend(range(verses[-1] + 1, number + 1) if is_range else [number] * (number not in verses))
    return tuple(verses) if verses and at == len(visible) else None


# Text of a verse that is merged with the one before.
_MERGED = "<range>"
_NO_TEXT = re.compile(r"[\W\d_]*")
# Tags of HTML and of Bible software, as opposed to << and < around speech.
_TAG = (
    r"</?(?i:a|b|big|br|center|cite|div|em|font|h[1-6]|hr|i|img|li|n|ol|p|pb|q|s|small|span|strong|sub|sup|t|"
    r"table|td|tr|u|ul|e|f|j|f[iorub]|r[fb]|c[lmi]|p[fi]\d|ts\d?|w[ght]\d[\w-]*)"
    r"(?:\s+[\w:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]+))*\s*/?>"
)
# Footnote marks (a letter, a number or signs), verse numbers within the text, tags. Longer words in brackets
# are additions of the translators and are kept.
_NOTES = re.compile(rf"\s?\[(?:[^\W\d_]|\d{{1,3}}|[*†‡¶]+)\]|[*†‡¶]|[¹²³⁰-⁹]+|{_TAG}")
_QUOTATION_MARKS = (("<<", "“"), (">>", "”"), ("<", "‘"), (">", "’"))
# Threshold of a clear fit of shifted verses; in chapters of 25 verses, true shifts reach 6 to 8.
CLEAR_IN_CHAPTER = 5.0

ALONE, OTHERWISE, REPEATED, UNREADABLE = (
    "verses of one side only",
    "verses of chapters with another numbering",
    "verses with two different texts",
    "verses with an unreadable reference",
)

Chapter = tuple[str, int]
Verse = tuple[Chapter, int]


@dataclass(frozen=True, slots=True)
class Verses:
    """The verses of one file, by (chapter, verse)."""

    # in file order; merged verses have their text at the first, none at the others
    texts: dict[Verse, str]
    # first verse of the group, for each other verse of it
    merged: dict[Verse, Verse]
    repeated: set[Verse]  # verses with two different texts
    cleaned: int  # number of verses that had verse numbers or footnote marks in their text
    quoted: int  # number of verses with << >> for quotation marks
    unreadable: tuple[DataError, ...]  # one error for each verse left out for its unreadable reference


def read_verses(path: str) -> Verses:
    """Read a file of ``reference TAB text``, or of USFM or USX; ``<<`` and ``<`` become quotation marks.

    Lines without a readable reference are left out. Raises DataError when these are half of the lines, or
    when there is no verse.
    """
    texts: dict[Verse, str] = {}
    merged: dict[Verse, Verse] = {}
    repeated: set[Verse] = set()
    parts = defaultdict[Verse, dict[str, str]](dict)
    unreadable = list[DataError]()
    count = cleaned = quoted = 0
    before: Verse | None = None
    with _lines(path) as lines:
        for number, line in lines:
            line = line.strip("\ufeff\r\n ")
            if not line:
                continue
            count += 1
            reference, tab, text = line.partition("\t")
            found = _reference(reference)
            numbers = verse_numbers(found["verses"]) if found and tab else None
            if found is None or numbers is None:
                unreadable.append(_no_reference(path, number, reference, text))
                continue
            chapter = re.sub(r"[\W_]", "", found["book"]).casefold(), int(found["chapter"] or 1)
            first = chapter, numbers[0]
            if text.strip() == _MERGED and before is not None and before[0] == chapter:
                merged[first] = merged.get(before, before)
                continue
            plain = _plain(text, numbers)
            cleaned += plain != " ".join(text.split())
            for mark, quotation_mark in _QUOTATION_MARKS:
                quoted += mark == "<<" and mark in plain
                plain = plain.replace(mark, quotation_mark)
            known, part = parts[first], _VERSES.sub(r"\g<part>", found["verses"], count=1)[:1].casefold()
            part = part if part.isalpha() else ""
            if known.setdefault(part, plain) != plain or ("" in known and len(known) > 1):
                repeated.add(first)
            texts[first] = " ".join(known[part] for part in sorted(known))
            merged.update(((chapter, verse), first) for verse in numbers[1:])
            before = first
    if 2 * len(unreadable) >= count > 0:
        raise unreadable[0]
    if not texts:
        raise DataError(path, None, found="no verse", expected="lines of a reference, a tab and text")
    return Verses(texts, merged, repeated, cleaned, quoted, tuple(unreadable))


@contextmanager
def _lines(path: str) -> Iterator[Iterable[tuple[int | None, str]]]:
    """Open a file as numbered lines of ``reference TAB text``."""
    if is_scripture(path):
        yield _numbered_lines(path)
    else:
        with open_text(path) as lines:
            yield enumerate(lines, start=1)


def _plain(text: str, verses: Sequence[int]) -> str:
    """Return the text of one or more merged verses without verse numbers and footnote marks."""
    plain = re.sub(rf"^\s*[\[(]?{verses[0]}[\]).:]?\s+(?=\D)", "", text)
    for verse in verses[1:]:
        plain = re.sub(rf"(?<=[^\w\s])\s+[\[(]?{verse}[\]).:]?\s+(?=\D)", " ", plain, count=1)
    plain = " ".join(_NOTES.sub("", plain).split())
    return "" if _NO_TEXT.fullmatch(plain) else plain


def _no_reference(path: str, number: int | None, reference: str, text: str) -> DataError:
    expected = "a reference, a tab and the text of a verse: MAT 1:5 TAB ..."
    if _reference(text.partition("\t")[0]):
        return DataError(path, number, "the text before the reference", expected, "swap the columns")
    if text and (_reference(reference) or is_scripture(path)):
        found = f"{reference.strip()!r}"
        if _reference(reference):
            found += ", which ends before it begins"
        expected = "a verse, or the first and the last of those that are merged"
        return DataError(path, number, found, expected, "correct the reference")
    remedy = "remove lines without a verse, or leave out --paired-by verse"
    if not text and _REFERENCE.match(reference.strip()):
        remedy = "separate reference and text by a tab"
    return DataError(path, number, f"a line that begins with {reference[:30]!r}", expected, remedy)


def paired_verses(source: str, target: str, left_out: Counter[str]) -> Iterator[tuple[str, str, str]]:
    """Yield name, source and target of the verses in both files, in the order of the source.

    Verses that are merged on one side are merged on the other. Adds unpaired verses to ``left_out``, by
    reason. Raises DataError when no verse is in both.
    """
    sides = read_verses(source), read_verses(target)
    first_of = _groups(sides)
    numbered = [defaultdict[Verse, list[tuple[int, str]]](list) for _ in sides]
    for side, of_side in zip(sides, numbered, strict=True):
        for verse, text in side.texts.items():
            if text:
                of_side[first_of.get(verse, verse)].append((verse[1], text))
    # Merged verses are sorted by number, whatever their order in the file.
    texts = [
        {verse: [text for _, text in sorted(found)] for verse, found in side.items()} for side in numbered
    ]
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
    left_out[UNREADABLE] += sum(len(side.unreadable) for side in sides)
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
    left_out += Counter({reason: 0 for reason in (ALONE, OTHERWISE, REPEATED, UNREADABLE)})


def _groups(sides: tuple[Verses, Verses]) -> dict[Verse, Verse]:
    """Return the first verse of its group, over both sides, for each merged verse."""
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
    """Return the chapters whose verses clearly fit shifted numbers better."""
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
    """Return warnings about the text of a file."""
    texts = [text for text in verses.texts.values() if text]
    capitals = sum(text.upper() == text != text.lower() for text in texts)
    lines = []
    if verses.cleaned:
        lines.append(
            f"{path}: removed verse numbers and footnote marks from {pluralise(verses.cleaned, 'verse')}"
        )
    if verses.quoted:
        lines.append(f"{path}: read << >> as quotation marks in {pluralise(verses.quoted, 'verse')}")
    if verses.unreadable:
        left_out = pluralise(len(verses.unreadable), "verse")
        lines.append(
            f"{path}: left out {left_out} with an unreadable reference; first: {verses.unreadable[0]}"
        )
    if capitals > 0.2 * len(texts):
        lines.append(
            f"{path}: {pluralise(capitals, 'verse')} only in capitals: names look like other words, "
            "and words do not match other text; use normal capitalisation"
        )
    return lines
