"""Bitext: sentences and their translations, one pair for each line, so that line numbers stay aligned.

Three forms: two files, one sentence a line; one file with ``source ||| target`` lines; one file with
``source TAB target`` lines, of which further columns are ignored.
"""

from collections.abc import Iterator
from itertools import zip_longest

from qsproj.corpus.files import BYTE_ORDER_MARK, PathOrFile, name_of, open_text
from qsproj.errors import DataError, counted

_BARS = "|||"
_FORMS = "source ||| target, or source TAB target"


def read_bitext(source: PathOrFile, target: PathOrFile | None = None) -> Iterator[tuple[str, str]]:
    """Yield (source, target), stripped of white space at both ends, for each line; blank ones, too.

    Without ``target``, each line of ``source`` is a pair, parted by ``|||``, or by a tab where the first line
    has none. Raises DataError when files have unequal numbers of lines, or a line has no separator.
    """
    return _pairs_of_lines(source) if target is None else _pairs_of_files(source, target)


def _pairs_of_files(source: PathOrFile, target: PathOrFile) -> Iterator[tuple[str, str]]:
    with open_text(source) as source_lines, open_text(target) as target_lines:
        rows = zip_longest(source_lines, target_lines)
        for number, (source_line, target_line) in enumerate(rows, start=1):
            if source_line is None or target_line is None:
                rest = 1 + sum(1 for _ in rows)
                longer, shorter = (source, target) if target_line is None else (target, source)
                raise DataError(
                    name_of(longer),
                    number,
                    found=f"{counted(number - 1 + rest, 'line')} in {name_of(longer)}",
                    expected=f"{number - 1} as in {name_of(shorter)}",
                    remedy="check that both hold the same sentences, one a line",
                )
            yield _clean(source_line), _clean(target_line)


def _pairs_of_lines(path: PathOrFile) -> Iterator[tuple[str, str]]:
    separator = ""
    with open_text(path) as handle:
        for number, line in enumerate(handle, start=1):
            if number == 1:
                separator = _BARS if _BARS in line else "\t"
            source, found, rest = line.partition(separator)
            if not found:
                raise DataError(
                    name_of(path),
                    number,
                    found=f"a line without {separator!r}",
                    expected=f"source {separator!r} target, as in line 1" if number > 1 else _FORMS,
                    remedy="a pair of empty sentences is the separator alone",
                )
            target = rest if separator == _BARS else rest.partition("\t")[0]
            yield _clean(source), _clean(target)


def _clean(line: str) -> str:
    return line.lstrip(BYTE_ORDER_MARK).strip()
