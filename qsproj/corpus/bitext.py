"""Bitext: sentences and their translations, one pair per line, so that line numbers stay aligned.

Four forms: two files, one sentence per line; one file with ``source ||| target`` lines; one file with
``source TAB target`` lines; TMX (:func:`tmx_pairs`). Further columns of a line are ignored.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TextIO, cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from qsproj.corpus.conllu import looks_like_conllu
from qsproj.corpus.files import BYTE_ORDER_MARK, PathOrFile, name_of, open_text
from qsproj.corpus.language.recognition import OTHER_CODES
from qsproj.errors import DataError, UsageError, pluralise
from qsproj.progress import notice

_BARS = "|||"
AS_TEXT = "give its sentences as text: sed -n 's/^# text = //p' FILE"  # for CoNLL-U where text is expected
AS_IN_PAIRS = "as between the sentences of a pair"
_LOOKED_AT, _FEWEST_LINES = 100, 3  # lines to find the columns of text in, at most and at least
_NUMBER = re.compile(r"[-+]?[\d.,:]*\d(?:[eE][-+]?\d+)?%?|\S+://\S*")
_NAME = re.compile(r"\S*\d\S*|[a-z]{2,3}([-_]\w+)?|\S+[./_]\S+")


def read_bitext(
    source: PathOrFile, target: PathOrFile | None = None, *, languages: tuple[str, str] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield (source, target), stripped of white space at both ends, for each line, including blank ones.

    Without ``target``, each line of ``source`` is a pair, separated by ``|||``, or by a tab if the first line
    has no ``|||``, or has a tab in a file named .tsv; or ``source`` is TMX, of more languages than the two of
    ``languages``. Raises DataError when files have unequal numbers of lines, a line has no separator, or one
    of the two columns holds numbers or names.
    """
    return _pairs_of_file(source, languages) if target is None else _pairs_of_files(source, target)


def _pairs_of_files(source: PathOrFile, target: PathOrFile) -> Iterator[tuple[str, str]]:
    with open_text(source) as source_lines, open_text(target) as target_lines:
        sides = (source, source_lines), (target, target_lines)
        rows = zip_longest(*(checked_side(lines, name_of(path)) for path, lines in sides))
        for number, (source_line, target_line) in enumerate(rows, start=1):
            if source_line is None or target_line is None:
                longer, shorter = (source, target) if target_line is None else (target, source)
                found = f"{pluralise(number + sum(1 for _ in rows), 'line')} in {name_of(longer)}"
                expected = f"{number - 1} as in {name_of(shorter)}"
                remedy = "check that both hold the same sentences, one a line"
                raise DataError(name_of(longer), number, found, expected, remedy)
            yield _clean(source_line), _clean(target_line)


def checked_side(handle: TextIO, name: str) -> Iterator[str]:
    """Yield the lines of one side after checking that the first are not XML, columns of numbers or pairs."""
    lines = iter(handle)
    head = list(islice(lines, _LOOKED_AT))
    if looks_like_xml(head):
        remedy = "give only the TMX file; it contains both sides"
        raise DataError(name, 1, "XML", "one sentence a line", remedy)
    _check_columns(head, "\t", 1, name)
    texts = {number: text for number, line in enumerate(head, start=1) if (text := _clean(line))}
    for separator, found in (("\t", "a tab"), (f" {_BARS} ", _BARS)):
        parted = [number for number, text in texts.items() if separator in text]
        if len(parted) > len(texts) / 2:
            remedy = "give one side (cut -f2 FILE), or, as a bitext, the file of pairs alone"
            raise DataError(name, parted[0], f"{found} {AS_IN_PAIRS}", "one sentence a line", remedy)
    return chain(head, lines)


def _pairs_of_file(path: PathOrFile, languages: tuple[str, str] | None) -> Iterator[tuple[str, str]]:
    name = name_of(path)
    with open_text(path) as handle:
        head = list(islice(handle, _LOOKED_AT))
        if looks_like_xml(head):
            yield from tmx_pairs(handle, name, languages=languages, opening="".join(head))
            return
        tabs = not head or _BARS not in head[0] or ("\t" in head[0] and ".tsv" in Path(name).suffixes)
        separator = "\t" if tabs else _BARS
        _check_columns(head, separator, 2, name)
        for number, line in enumerate(chain(head, handle), start=1):
            source, found, others = line.partition(separator)
            if not found:
                expected, remedy = "source ||| target, or source TAB target", "or give two files"
                if number > 1:
                    expected = f"source {separator!r} target, as in line 1"
                    remedy = "a pair of empty sentences is the separator alone"
                raise DataError(name, number, f"a line without {separator!r}", expected, remedy)
            target, further, _ = others.partition(separator)
            if further:
                notice(f"{name}: columns after the second are ignored")
            yield _clean(source), _clean(target)


def _check_columns(head: Sequence[str], separator: str, wanted: int, name: str) -> None:
    """Raise DataError for CoNLL-U, or where one of the first ``wanted`` columns has only numbers or names."""
    if looks_like_conllu(head[:1]):
        raise DataError(name, 1, "CoNLL-U", "text, one sentence a line, as the bitext", AS_TEXT)
    rows = [line.rstrip("\r\n").split(separator) for line in head if line.strip()]
    if len(rows) < _FEWEST_LINES:
        return
    cells = [[cell.strip(f" {BYTE_ORDER_MARK}") for cell in column] for column in zip(*rows)]
    columns = {at: list(filter(None, column)) for at, column in enumerate(cells, start=1)}
    full = {at: column for at, column in columns.items() if len(column) >= _FEWEST_LINES}
    no_text = {at for at, column in full.items() if all(map(_NUMBER.fullmatch, column))}
    names = {at for at, column in full.items() if all(map(_NAME.fullmatch, column))} | no_text
    if len(columns) - len(names) >= wanted:
        no_text = names
    bad = min(no_text, default=wanted + 1)
    if bad > wanted:
        return
    text = [at for at in columns if at not in no_text][:wanted]
    remedy = "give the columns that hold text"
    if len(text) == wanted:
        remedy = f"take the text: cut -f{','.join(map(str, text))} FILE"
        if separator == _BARS:
            fields = '" ||| "'.join(f"${at}" for at in text)
            remedy = f"take the text: awk -F ' [|][|][|] ' '{{print {fields}}}' FILE"
    found = f"numbers or names alone in column {bad}" if len(columns) > 1 else "numbers alone"
    expected = "text in the first two columns" if wanted > 1 else "one sentence a line"
    raise DataError(name, None, found, expected, remedy)


def _clean(line: str) -> str:
    return line.lstrip(BYTE_ORDER_MARK).strip()


_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
# Elements of a segment whose content is markup of the original document.
_CODES = frozenset({"bpt", "ept", "it", "ph", "ut", "sub"})
_CHUNK = 1 << 16  # characters read at a time


def looks_like_xml(lines: Sequence[str]) -> bool:
    """Return whether the first lines of a file are XML, of TMX or another kind."""
    text = "".join(lines).lstrip(BYTE_ORDER_MARK + " \t\r\n")
    return text.startswith(("<?xml ", "<!DOCTYPE ", "<tmx"))


def tmx_pairs(
    handle: TextIO, name: str, *, languages: tuple[str, str] | None, opening: str
) -> Iterator[tuple[str, str]]:
    """Yield (source, target) of each unit of a file, of which ``opening`` has been read, that has both.

    ``languages``: None for the first two.
    """
    named, seen = languages, dict[str, str]()
    pairs = units = 0
    if named and _parts_of(named[0]) == _parts_of(named[1]):
        raise UsageError(f"{name}: found the language {named[0]} twice, expected two languages")
    for first, unit in _units(handle, name, opening):
        units += 1
        texts: dict[str, str] = {}
        for code, text in unit:
            texts.setdefault(code, text)
        seen |= texts
        if languages is None and len(texts) > 1:
            own = next((code for code in texts if first and _is(code, first)), unit[0][0])
            languages = own, next(code for code in texts if code != own)
            bases = _parts_of(languages[0])[0], _parts_of(languages[1])[0]
            languages = languages if bases[0] == bases[1] else bases
        if languages is None:
            continue
        fits = [[code for code in texts if _is(code, known)] for known in languages]
        others = chain((code for code in texts if code not in chain(*fits)), *(own[1:] for own in fits))
        if named is None and (other := next(others, None)):
            remedy = "name two (align: --tokenize CODE CODE)"
            raise DataError(name, None, f"units in {', '.join((*languages, other))}", "two languages", remedy)
        # Preferably exactly the named variety of a language.
        named_fits = zip(languages, fits, strict=True)
        sides = [texts[code if code in own else own[0]] if own else None for code, own in named_fits]
        if sides[0] is not None and sides[1] is not None:
            pairs += 1
            yield sides[0], sides[1]
    if not pairs:
        found = f"units in {', '.join(seen) or 'no language'}"
        expected = f"some in {' and '.join(languages)}" if languages else "some in two languages"
        raise DataError(name, None, found, expected, "check the given languages")
    if pairs < units:
        notice(
            f"{name}: left out {pluralise(units - pairs, 'unit')} of {units:,} that lack one of the languages"
        )


def _is(found: str, wanted: str) -> bool:
    """Return whether two language codes are equal, or one is a variety of the other."""
    one, other = (f"{'-'.join(_parts_of(code))}-".replace("--", "-") for code in (found, wanted))
    return one.startswith(other) or other.startswith(one)


def _parts_of(code: str) -> tuple[str, str]:
    """Return the code of ISO 639-1, or another one, and the variety: ("en", "us") for *eng_US*."""
    language, _, variety = code.lower().replace("_", "-").partition("-")
    return OTHER_CODES.get(language, language), variety


def _units(handle: TextIO, name: str, opening: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the header's source language with the (language, text) pairs of each non-empty unit."""
    parser: XMLPullParser[Element] = XMLPullParser(events=("start", "end"))
    source_language = ""
    root: Element | None = None
    try:
        for chunk in chain([opening], iter(lambda: handle.read(_CHUNK), ""), [None]):
            if chunk is None:
                parser.close()
            else:
                parser.feed(chunk.lstrip(BYTE_ORDER_MARK) if root is None else chunk)
            for event, element in cast(Iterator[tuple[str, Element]], parser.read_events()):
                tag = element.tag.rpartition("}")[2]
                if root is None:
                    root = element
                    if tag != "tmx":
                        remedy = "convert it: a line for each pair, source TAB target"
                        found = f"XML of the kind <{tag}>"
                        raise DataError(name, None, found, "TMX, or lines of pairs", remedy)
                elif event == "end" and tag == "header":
                    source_language = element.get("srclang", "").replace("*all*", "")
                elif event == "end" and tag == "tu":
                    if unit := _unit(element):
                        yield source_language, unit
                    element.clear()
                elif event == "start" and tag == "tu" and len(root):
                    # Free finished units, which the body still holds.
                    del root[-1][:-1]
    except ParseError as error:
        found = f"XML that cannot be read ({error})"
        raise DataError(name, error.position[0], found, "TMX", "check that it is whole") from error


def _unit(unit: Element) -> list[tuple[str, str]]:
    found = []
    for variant in unit:
        language = variant.get(_LANGUAGE) or variant.get("lang")
        segment = next((child for child in variant if child.tag.rpartition("}")[2] == "seg"), None)
        if language and segment is not None:
            found.append((language, " ".join("".join(_text(segment)).split())))
    return found


def _text(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag.rpartition("}")[2] not in _CODES:
            yield from _text(child)
        yield child.tail or ""
