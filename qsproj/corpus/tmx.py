"""Reader of translation memories (TMX): units with a text in several languages, exchanged by CAT tools."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TextIO, cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from qsproj.corpus.files import BYTE_ORDER_MARK, PathOrFile, name_of, open_text
from qsproj.errors import DataError, pluralise
from qsproj.progress import notice

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
# Elements of a segment whose content is markup of the original document.
_CODES = frozenset({"bpt", "ept", "it", "ph", "ut", "sub"})
# Characters read at a time.
_CHUNK = 1 << 16


def looks_like_xml(lines: Sequence[str]) -> bool:
    """Return whether the first lines of a file are XML, of TMX or another kind."""
    text = "".join(lines).lstrip(BYTE_ORDER_MARK + " \t\r\n")
    return text.startswith(("<?xml ", "<!DOCTYPE ", "<tmx"))


def read_tmx(path: PathOrFile, *, languages: tuple[str, str] | None = None) -> Iterator[tuple[str, str]]:
    """Yield (source, target) of each unit that has both, then report the number of other units.

    ``languages``: codes of both; ``en`` also matches ``en-US``. None: the languages of the first unit with
    two, the source language of the header first. O(unit) memory.

    Raises DataError when the file is not TMX, when a language is in no unit, or when there are more than two
    languages and none are named.
    """
    with open_text(path) as handle:
        yield from tmx_pairs(handle, name_of(path), languages=languages)


def tmx_pairs(
    handle: TextIO, name: str, *, languages: tuple[str, str] | None, opening: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of :func:`read_tmx` from an open file, of which ``opening`` has been read."""
    named, seen = languages, Counter[str]()
    pairs = units = 0
    for first, unit in _units(handle, name, opening):
        texts: dict[str, str] = {}
        for code, text in unit:
            texts.setdefault(code, text)
        units += 1
        seen.update(list(texts))
        if languages is None and len(texts) > 1:
            own = next((code for code in texts if first and _is(code, first)), unit[0][0])
            languages = own, next(code for code in texts if code != own)
        if languages is None:
            continue
        if named is None and (other := _third(texts, languages)) is not None:
            found = f"units in {', '.join((*languages, other))}"
            remedy = "name two (align: --tokenize CODE CODE)"
            raise DataError(name, None, found, "two languages", remedy)
        sides = [_text_in(texts, code) for code in languages]
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
    one, other = (f"{code}-".lower().replace("_", "-") for code in (found, wanted))
    return one.startswith(other) or other.startswith(one)


def _text_in(texts: dict[str, str], wanted: str) -> str | None:
    """Return the text in a language, preferably in exactly the named variety, None if there is none."""
    if wanted in texts:
        return texts[wanted]
    return next((text for code, text in texts.items() if _is(code, wanted)), None)


def _third(texts: dict[str, str], languages: tuple[str, str]) -> str | None:
    return next((code for code in texts if not any(_is(code, known) for known in languages)), None)


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
                        raise DataError(
                            name, None, f"XML of the kind <{tag}>", "TMX, or lines of pairs", remedy
                        )
                elif event == "end" and tag == "header":
                    source_language = element.get("srclang", "").replace("*all*", "")
                elif event == "end" and tag == "tu":
                    if unit := _unit(element):
                        yield source_language, unit
                    element.clear()
                elif event == "start" and tag == "tu" and len(root):
                    # Free finished units, which the body still holds.
                    body = root[-1]
                    del body[:-1]
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
