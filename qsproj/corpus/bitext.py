"""Bitext: sentences and their translations, one pair per line, so that line numbers stay aligned.

Four forms: two files, one sentence per line; one file with ``source ||| target`` lines; one file with
``source TAB target`` lines; TMX (:mod:`qsproj.corpus.tmx`). Further columns of a line are ignored.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import TextIO

from qsproj.corpus.files import BYTE_ORDER_MARK, PathOrFile, name_of, open_text
from qsproj.corpus.tmx import looks_like_xml, tmx_pairs
from qsproj.errors import DataError, pluralise
from qsproj.progress import notice

_BARS = "|||"
_FORMS = "source ||| target, or source TAB target"
# Number of lines used to check which columns hold text, and the minimum for the check.
_LOOKED_AT, _FEWEST_LINES = 100, 3
_NUMBER = re.compile(r"[-+]?[\d.,:]*\d(?:[eE][-+]?\d+)?%?|\S+://\S*")
_NAME = re.compile(r"\S*\d\S*|[a-z]{2,3}([-_]\w+)?|\S+[./_]\S+")


def read_bitext(
    source: PathOrFile, target: PathOrFile | None = None, *, languages: tuple[str, str] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield (source, target), stripped of white space at both ends, for each line, including blank ones.

    Without ``target``, each line of ``source`` is a pair, separated by ``|||``, or by a tab if the first line
    has no ``|||``; or ``source`` is TMX, which may hold more languages than the two of ``languages``.

    Raises DataError when files have unequal numbers of lines, a line has no separator, or one of the two
    columns holds numbers or names.
    """
    return _pairs_of_file(source, languages) if target is None else _pairs_of_files(source, target)


def _pairs_of_files(source: PathOrFile, target: PathOrFile) -> Iterator[tuple[str, str]]:
    with open_text(source) as source_lines, open_text(target) as target_lines:
        sides = (source, source_lines), (target, target_lines)
        rows = zip_longest(*(_checked_side(lines, name_of(path)) for path, lines in sides))
        for number, (source_line, target_line) in enumerate(rows, start=1):
            if source_line is None or target_line is None:
                rest = 1 + sum(1 for _ in rows)
                longer, shorter = (source, target) if target_line is None else (target, source)
                raise DataError(
                    name_of(longer),
                    number,
                    found=f"{pluralise(number - 1 + rest, 'line')} in {name_of(longer)}",
                    expected=f"{number - 1} as in {name_of(shorter)}",
                    remedy="check that both hold the same sentences, one a line",
                )
            yield _clean(source_line), _clean(target_line)


def _checked_side(handle: TextIO, name: str) -> Iterator[str]:
    """Yield the lines of one side after checking that the first are not XML or columns of numbers."""
    lines = iter(handle)
    head = list(islice(lines, _LOOKED_AT))
    if looks_like_xml(head):
        raise DataError(
            name, 1, "XML", "one sentence a line", "give only the TMX file; it contains both sides"
        )
    rows = [line.rstrip("\r\n").split("\t") for line in head if line.strip()]
    _check_columns(rows, "\t", 1, name)
    return chain(head, lines)


def _pairs_of_file(path: PathOrFile, languages: tuple[str, str] | None) -> Iterator[tuple[str, str]]:
    name = name_of(path)
    with open_text(path) as handle:
        head = list(islice(handle, _LOOKED_AT))
        if looks_like_xml(head):
            yield from tmx_pairs(handle, name, languages=languages, opening="".join(head))
        else:
            yield from _pairs_of_lines(head, handle, name)


def _pairs_of_lines(head: list[str], rest: TextIO, name: str) -> Iterator[tuple[str, str]]:
    separator = _BARS if head and _BARS in head[0] else "\t"
    _check_columns(
        [line.rstrip("\r\n").split(separator) for line in head if line.strip()], separator, 2, name
    )
    for number, line in enumerate(chain(head, rest), start=1):
        source, found, others = line.partition(separator)
        if not found:
            raise DataError(
                name,
                number,
                found=f"a line without {separator!r}",
                expected=f"source {separator!r} target, as in line 1" if number > 1 else _FORMS,
                remedy="a pair of empty sentences is the separator alone",
            )
        target, further, _ = others.partition(separator)
        if further:
            notice(f"{name}: columns after the second are ignored")
        yield _clean(source), _clean(target)


def _check_columns(rows: Sequence[Sequence[str]], separator: str, wanted: int, name: str) -> None:
    """Raise DataError if one of the first ``wanted`` columns holds numbers, names or addresses.

    Document names and language codes are errors only if other columns hold text.
    """
    columns = [[cell.strip(f" {BYTE_ORDER_MARK}") for cell in column] for column in zip(*rows)]
    if len(rows) < _FEWEST_LINES:
        return
    numbers = {at for at, cells in enumerate(columns, start=1) if _all_match(_NUMBER, cells)}
    names = {at for at, cells in enumerate(columns, start=1) if _all_match(_NAME, cells)} | numbers
    without = [at for at in range(1, len(columns) + 1) if at not in names]
    if len(without) >= wanted:
        numbers = names
    bad = next((at for at in range(1, wanted + 1) if at in numbers), None)
    if bad is None:
        return
    text = [at for at in range(1, len(columns) + 1) if at not in numbers][:wanted]
    remedy = "give the columns that hold text"
    if len(text) == wanted:
        remedy = f"take the text: cut -f{','.join(map(str, text))} FILE"
        if separator == _BARS:
            fields = '" ||| "'.join(f"${at}" for at in text)
            remedy = f"take the text: awk -F ' [|][|][|] ' '{{print {fields}}}' FILE"
    found = f"numbers or names alone in column {bad}" if len(columns) > 1 else "numbers alone"
    expected = "text in the first two columns" if wanted > 1 else "one sentence a line"
    raise DataError(name, None, found, expected, remedy)


def _all_match(pattern: re.Pattern[str], cells: Sequence[str]) -> bool:
    """Return whether all non-empty cells match, and there are enough of them."""
    filled = [cell for cell in cells if cell]
    return len(filled) >= _FEWEST_LINES and all(map(pattern.fullmatch, filled))


def _clean(line: str) -> str:
    return line.lstrip(BYTE_ORDER_MARK).strip()
