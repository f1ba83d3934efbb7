"""Pair the verses of two translations by reference, read from lines of ``reference TAB text`` or from Bibles.

The package usfmtc reads Bibles in USFM or USX, the formats of translators, or archives (``.zip``) of these.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from pathlib import PurePath
from typing import Any, NamedTuple
from unicodedata import category
from xml.etree.ElementTree import Element
from zipfile import BadZipFile, ZipFile

from qsproj.corpus.files import open_text, stamp_of
from qsproj.corpus.packed import is_content, opened_member
from qsproj.corpus.pairs.fitting import fit_of
from qsproj.errors import DataError, listed_first, optional_package, pluralise
from qsproj.progress import notice

_MERGED = "<range>"  # text of a verse that is merged with the one before
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
CLEAR_IN_CHAPTER = 5.0  # threshold of a clear fit of shifted verses; in 25 verses, true shifts reach 6 to 8

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

    texts: dict[Verse, str]  # in file order; merged verses have their text at the first, none at the others
    merged: dict[Verse, Verse]  # first verse of the group, for each other verse of it
    repeated: set[Verse]  # verses with two different texts
    cleaned: int  # number of verses that had verse numbers or footnote marks in their text
    quoted: int  # number of verses with << >> for quotation marks
    unreadable: tuple[DataError, ...]  # one error for each verse left out for its unreadable reference


def read_verses(path: str) -> Verses:
    """Read a file of ``reference TAB text``, or of USFM or USX; ``<<`` and ``<`` become quotation marks.

    Lines without a readable reference are left out. Raises DataError if they are half of all, or all.
    """
    return _verses(path, stamp_of(path))


@lru_cache(2)  # the sides of a bitext; the target side is often that of the next one as well
def _verses(path: str, stamp: tuple[int, int] | None) -> Verses:
    del stamp
    texts, merged, repeated = dict[Verse, str](), dict[Verse, Verse](), set[Verse]()
    parts, unreadable = defaultdict[Verse, dict[str, str]](dict), list[DataError]()
    count = cleaned = quoted = 0
    before: Verse | None = None
    for number, line in _lines(path):
        line = line.strip("\ufeff\r\n ")
        if not line:
            continue
        count += 1
        reference, tab, text = line.partition("\t")
        found = parse_reference(reference)
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
        known = parts[first]
        part = VERSES.sub(r"\g<part>", found["verses"], count=1)[:1].casefold()
        part *= part.isalpha()
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


def _lines(path: str) -> Iterator[tuple[int | None, str]]:
    if is_scripture(path):
        yield from numbered_lines(path)
        return
    with open_text(path) as lines:
        yield from enumerate(lines, start=1)


def _plain(text: str, verses: Sequence[int]) -> str:
    """Return the text of one or more merged verses without verse numbers and footnote marks."""
    plain = re.sub(rf"^\s*[\[(]?{verses[0]}[\]).:]?\s+(?=\D)", "", text)
    for verse in verses[1:]:
        plain = re.sub(rf"(?<=[^\w\s])\s+[\[(]?{verse}[\]).:]?\s+(?=\D)", " ", plain, count=1)
    plain = " ".join(_NOTES.sub("", plain).split())
    return "" if _NO_TEXT.fullmatch(plain) else plain


def _no_reference(path: str, number: int | None, reference: str, text: str) -> DataError:
    expected = "a reference, a tab and the text of a verse: MAT 1:5 TAB ..."
    if parse_reference(text.partition("\t")[0]):
        return DataError(path, number, "the text before the reference", expected, "swap the columns")
    if text and (parse_reference(reference) or is_scripture(path)):
        ends = ", which ends before it begins" if parse_reference(reference) else ""
        found = f"{reference.strip()!r}{ends}"
        expected = "a verse, or the first and the last of those that are merged"
        return DataError(path, number, found, expected, "correct the reference")
    if reference.lstrip("\ufeff").startswith("\\") and not is_scripture(path):
        remedy = f"rename it, so that it ends in {SUFFIXES[0]}; uncompressed, if it is packed"
        return DataError(path, number, "a file of USFM", expected, remedy)
    remedy = "remove lines without a verse, or leave out --paired-by verse"
    if not text and REFERENCE.match(reference.strip()):
        remedy = "separate reference and text by a tab"
    return DataError(path, number, f"a line that begins with {reference[:30]!r}", expected, remedy)


def paired_verses(source: str, target: str, left_out: Counter[str]) -> Iterator[tuple[str, str, str]]:
    """Yield name, source and target of the verses in both files, in the order of the source.

    Verses merged on one side are merged on both. Counts unpaired ones in ``left_out``; DataError if all are.
    """
    pairs, unpaired = _paired(source, target, (stamp_of(source), stamp_of(target)))
    left_out += unpaired
    return iter(pairs)


NAMED = 5  # books named in a message
MOST_KEPT = 32  # bitexts kept: a bootstrap reads one several times


@lru_cache(MOST_KEPT)
def _paired(source: str, target: str, stamps: object) -> tuple[list[tuple[str, str, str]], Counter[str]]:
    """Pair the verses of two files, and count those without a pair."""
    del stamps
    sides = read_verses(source), read_verses(target)
    first_of = _groups(sides)
    texts = list[dict[Verse, str]]()
    for side in sides:
        parts = defaultdict[Verse, list[tuple[int, str]]](list)
        for verse, text in side.texts.items():
            if text:
                parts[first_of.get(verse, verse)].append((verse[1], text))
        # Merged verses are sorted by number, whatever their order in the file.
        texts.append({verse: " ".join(text for _, text in sorted(found)) for verse, found in parts.items()})
    common = [verse for verse in texts[0] if verse in texts[1]]
    if not common:
        first = [next(iter(side.texts), (("", 0), 0)) for side in sides]
        for path, ((book, _), _) in zip((source, target), first, strict=True):
            if book == NAMELESS:
                expected = "a line \\id MAT, which names the book, before its verses"
                raise DataError(path, None, "no book", expected, "add it")
        shown = [f"{book} {chapter}:{verse}" for (book, chapter), verse in first]
        found = f"no verse of {source}: references begin with {shown[1]!r}, there with {shown[0]!r}"
        expected = "the same references on both sides"
        remedy = "give books the same names on both sides, the codes of USFM: MAT 1:5"
        raise DataError(target, None, found, expected, remedy)
    otherwise = renumbered_chapters(texts[0], texts[1])
    repeated = {first_of.get(verse, verse) for side in sides for verse in side.repeated}
    pairs = []
    left_out = Counter({UNREADABLE: sum(len(side.unreadable) for side in sides)})
    left_out[ALONE] += len(texts[0].keys() ^ texts[1].keys())
    for verse in common:
        (book, chapter), number = verse
        if verse in repeated:
            left_out[REPEATED] += 1
        elif verse[0] in otherwise:
            left_out[OTHERWISE] += 1
        else:
            pairs.append((f"{book.upper()}_{chapter}:{number}", texts[0][verse], texts[1][verse]))
    return pairs, left_out


def _groups(sides: tuple[Verses, Verses]) -> dict[Verse, Verse]:
    """Return the first verse of its group, over both sides, for each merged verse."""
    first_of = dict[Verse, Verse]()

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


def renumbered_chapters(source: Mapping[Verse, str], target: Mapping[Verse, str]) -> set[Chapter]:
    """Return the chapters whose verses clearly fit better with shifted numbers."""
    last: dict[Chapter, int] = {}
    for chapter, verse in (*source, *target):
        last[chapter] = max(last.get(chapter, 0), verse)
    numbers = {one: [(one, verse) for verse in range(1, verses + 1)] for one, verses in last.items()}
    pairs = {one: [(source.get(at, ""), target.get(at, "")) for at in numbers[one]] for one in numbers}
    return {one for one in pairs if fit_of(pairs[one], clear=CLEAR_IN_CHAPTER).shift}


def books_apart(source: str, target: str) -> str | None:
    """Return a message on the books of one file alone, if both have such: they may have other names."""
    books = [{book.upper() for (book, _), _ in read_verses(path).texts} for path in (source, target)]
    apart = [sorted(books[0] - books[1]), sorted(books[1] - books[0])]
    if not all(apart):
        return None
    named = [listed_first(own, NAMED) for own in apart]
    return (
        f"only {source} has {named[0]}, only {target} has {named[1]}; verses pair if books have the same name"
    )


def verse_notices(path: str, verses: Verses) -> list[str]:
    """Return messages on changes of the text, unreadable references, and verses in capitals."""
    texts = [text for text in verses.texts.values() if text]
    capitals = sum(text.upper() == text != text.lower() for text in texts)
    first = next(map(str, verses.unreadable), "")
    names = "names look like other words, and words do not match other text; use normal capitalisation"
    facts = [
        (verses.cleaned, "removed verse numbers and footnote marks from ", ""),
        (verses.quoted, "read << >> as quotation marks in ", ""),
        (len(verses.unreadable), "left out ", f" with an unreadable reference; first: {first}"),
        (capitals if capitals > 0.2 * len(texts) else 0, "", f" only in capitals: {names}"),
    ]
    return [f"{path}: {before}{pluralise(count, 'verse')}{after}" for count, before, after in facts if count]


ARCHIVE, XML = ".zip", ".usx"
SUFFIXES = (".usfm", ".sfm", XML, ARCHIVE)
# Marker categories of paragraphs with verse text, beside tables; headings have others.
_OF_VERSES = frozenset({"versepara", "otherpara", "list"})
# Elements outside the verse text: notes, pictures, sidebars, matter before and after a book.
_BESIDE = frozenset({"note", "figure", "sidebar", "periph", "ref"})
# Other numbers of chapters and verses, references and pronunciation within text; headings of acrostics.
_CATEGORIES_BESIDE = frozenset({"attribute", "crossreferencechar", "footnotechar"})
_MARKERS_BESIDE = frozenset({"rq", "pro", "qa", "sts", "lit", "pb", "k1", "k2"})
_NOTHING_IN_BRACKETS = re.compile(r"\s?(?:\(\s*\)|\[\s*\])")  # brackets left empty by a removed reference
NAMELESS = "nobook"  # as books are compared
_UNENDED = "\\f without \\f*"  # stands for the rest of a verse in a note that has no end
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
    """Return the verses of a range or list, ascending; None if there are none, or the numbers decrease."""
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


def numbered_lines(path: str) -> Iterator[tuple[int | None, str]]:
    """Yield the verses of a file as lines of ``reference TAB text``; parts of a verse are joined.

    Numbers are those of lines in the file, if known. UsageError without usfmtc, DataError for a faulty file.
    """
    places: dict[tuple[str, str, int | str], tuple[int | None, set[int], list[str]]] = {}
    for name, text in _files(path):
        for piece in _pieces(path, name, text):
            verses = verse_numbers(piece.verse) or ()
            place = piece.book, piece.chapter, verses[0] if verses else piece.verse
            _, numbers, texts = places.setdefault(place, (piece.line, set(), []))
            numbers.update(verses)
            texts.append(piece.text)
    if unended := [at for at, (_, _, texts) in places.items() if _UNENDED in texts]:
        (book, chapter, verse), count = unended[0], pluralise(len(unended), "verse")
        notice(f"{path}: left out {count} with a note without an end; first: {book} {chapter}:{verse}")
    for (book, chapter, verse), (line, numbers, texts) in places.items():
        if _UNENDED in texts:
            continue
        if plain := " ".join(_NOTHING_IN_BRACKETS.sub("", "".join(texts)).split()):
            yield line, f"{book} {chapter}:{_verse_range(sorted(numbers)) or verse}\t{plain}"


class _Piece(NamedTuple):
    """Text of a verse, with its reference and line."""

    book: str
    chapter: str
    verse: str
    line: int | None
    text: str


def _verse_range(verses: Sequence[int]) -> str:
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
    """Parse a file with the package usfmtc and return its pieces of text in order."""
    remedy = "install it: pip install 'qsproj[bible]'"
    usfmtc = optional_package("usfmtc", f"found no package that reads USFM and USX; {remedy}")
    # A stream, because the package reads a string as a file name if such a file exists.
    stream, grammar = StringIO(text.removeprefix("\ufeff")), usfmtc.usfmGrammar(None)
    try:
        read = usfmtc.USX.fromUsx if PurePath(name).suffix.lower() == XML else usfmtc.USX.fromUsfm
        return list(_pieces_of_document(read(stream, grammar=grammar)))
    except Exception as error:  # of any kind: the package does not validate its input
        found = f"{name}, which cannot be read ({error})"
        raise DataError(path, None, found, expected="USFM or USX") from error


def _pieces_of_document(document: Any) -> Iterator[_Piece]:
    categories = document.grammar.marker_categories
    book, chapter, verse, line = NAMELESS, "1", "", None
    resumed: bool | None = None  # within a note, whether a verse has begun in it, because its end is missing

    def walk(element: Element, *, counts: bool, beside: bool) -> Iterator[_Piece]:
        nonlocal book, chapter, verse, line, resumed
        style, outside = element.get("style", ""), resumed
        kind = categories.get(style)
        beside |= element.tag in _BESIDE or kind in _CATEGORIES_BESIDE or style in _MARKERS_BESIDE
        match element.tag:
            case "book":
                book, verse, counts = element.get("code", NAMELESS), "", False
            case "chapter":
                chapter, verse = element.get("number", chapter), ""
            case "note":
                resumed = False
            case "verse":
                if resumed is False:
                    yield _Piece(book, chapter, verse, line, _UNENDED)
                    resumed = True
                verse = element.get("number", "")
                place = getattr(element, "pos", None)
                line = None if place is None else place.l + 1
            case "para" | "cell":
                counts = element.tag == "cell" or kind in _OF_VERSES
        counts &= not beside
        yield _Piece(book, chapter, verse, line, (element.text if counts or resumed else "") or "")
        for child in element:
            yield from walk(child, counts=counts, beside=beside)
            # Text after the number of a verse is its text even in a heading.
            counts |= child.tag == "verse" and kind == "sectionpara" and not beside
            yield _Piece(book, chapter, verse, line, (child.tail if counts or resumed else "") or "")
        if element.tag == "note":
            resumed = outside
        if element.tag in ("para", "cell"):
            yield _Piece(book, chapter, verse, line, " ")

    pieces = walk(document.getroot(), counts=False, beside=False)
    return (piece for piece in pieces if piece.verse and piece.text)
