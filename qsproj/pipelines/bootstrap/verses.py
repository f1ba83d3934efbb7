"""Pair two translations by reference, from Bibles or lines of ``reference TAB text`` in any order."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from qsproj.corpus.files import open_text, stamp_of
from qsproj.corpus.pairs.fitting import fit_of
from qsproj.errors import DataError, pluralise
from qsproj.pipelines.bootstrap import scripture

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
    return _verses(path, stamp_of(path))


# The sides of a bitext; the target side is often that of the next one as well.
@lru_cache(2)
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
        found = scripture.parse_reference(reference)
        numbers = scripture.verse_numbers(found["verses"]) if found and tab else None
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
        part = scripture.VERSES.sub(r"\g<part>", found["verses"], count=1)[:1].casefold()
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
    if scripture.is_scripture(path):
        yield from scripture.numbered_lines(path)
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
    if scripture.parse_reference(text.partition("\t")[0]):
        return DataError(path, number, "the text before the reference", expected, "swap the columns")
    if text and (scripture.parse_reference(reference) or scripture.is_scripture(path)):
        found = f"{reference.strip()!r}"
        if scripture.parse_reference(reference):
            found += ", which ends before it begins"
        expected = "a verse, or the first and the last of those that are merged"
        return DataError(path, number, found, expected, "correct the reference")
    remedy = "remove lines without a verse, or leave out --paired-by verse"
    if not text and scripture.REFERENCE.match(reference.strip()):
        remedy = "separate reference and text by a tab"
    return DataError(path, number, f"a line that begins with {reference[:30]!r}", expected, remedy)


def paired_verses(source: str, target: str, left_out: Counter[str]) -> Iterator[tuple[str, str, str]]:
    """Yield name, source and target of the verses in both files, in the order of the source.

    Verses that are merged on one side are merged on the other. Adds unpaired verses to ``left_out``, by
    reason. Raises DataError when no verse is in both.
    """
    pairs, unpaired = _paired(source, target, (stamp_of(source), stamp_of(target)))
    left_out += unpaired
    return iter(pairs)


# Bitexts kept: a bootstrap reads one several times.
MOST_KEPT = 32


@lru_cache(MOST_KEPT)
def _paired(
    source: str, target: str, stamps: tuple[object, object]
) -> tuple[list[tuple[str, str, str]], Counter[str]]:
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
        shown = [f"{book} {chapter}:{verse}" for (book, chapter), verse in first]
        found = f"no verse of {source}: references begin with {shown[1]!r}, there with {shown[0]!r}"
        expected = "the same references on both sides"
        remedy = "name the books alike, by the codes of USFM: MAT 1:5"
        raise DataError(target, None, found, expected, remedy)
    otherwise = numbered_otherwise(texts[0], texts[1])
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


def numbered_otherwise(source: Mapping[Verse, str], target: Mapping[Verse, str]) -> set[Chapter]:
    """Return the chapters whose verses clearly fit shifted numbers better."""
    last: dict[Chapter, int] = {}
    for chapter, verse in (*source, *target):
        last[chapter] = max(last.get(chapter, 0), verse)
    numbers = {one: [(one, verse) for verse in range(1, verses + 1)] for one, verses in last.items()}
    pairs = {one: [(source.get(at, ""), target.get(at, "")) for at in numbers[one]] for one in numbers}
    return {one for one in pairs if fit_of(pairs[one], clear=CLEAR_IN_CHAPTER).shift}


def said_of_verses(path: str, verses: Verses) -> list[str]:
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
