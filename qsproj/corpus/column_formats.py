"""Convert lines of CoNLL-U Plus and CoNLL-X to the ten columns of CoNLL-U."""

import re
from collections.abc import Iterator, Sequence

from qsproj.corpus.cells import COLUMN_COUNT, COLUMN_NAMES, UNSPECIFIED
from qsproj.corpus.files import BYTE_ORDER_MARK
from qsproj.errors import DataError, pluralise
from qsproj.progress import notice

_COLUMNS = re.compile(rf"{BYTE_ORDER_MARK}?#\s*global\.columns\s*=(.*)")
_ID, _FORM = COLUMN_NAMES[:2]
_SHORTER = 8  # columns of CoNLL-X without PHEAD and PDEPREL


def looks_like_plus(head: Sequence[str]) -> bool:
    """Return whether the first lines of a file declare columns other than those of CoNLL-U."""
    named = next((match for match in map(_COLUMNS.match, head) if match), None)
    return named is not None and tuple(named[1].split()) != COLUMN_NAMES


def plus_as_conllu(lines: Iterator[str], name: str) -> Iterator[str]:
    """Yield the lines of CoNLL-U Plus with the ten columns of CoNLL-U; missing ones are empty."""
    columns = COLUMN_NAMES
    for number, line in enumerate(lines, start=1):
        if match := _COLUMNS.match(line):
            columns = tuple(match[1].split())
            if not {_ID, _FORM} <= set(columns):
                raise DataError(name, number, "global.columns without ID and FORM", "both", "check the file")
            if more := [column for column in columns if column not in COLUMN_NAMES]:
                notice(f"{name}: left out the columns that CoNLL-U does not have: {', '.join(more)}")
            yield f"{line[: match.start(1)]} {' '.join(COLUMN_NAMES)}{line[match.end(1) :].lstrip(' ')}"
        elif line.startswith("#") or not line.strip():
            yield line
        else:
            text = line.rstrip("\r\n")
            cells = dict(zip(columns, text.split("\t")))
            if text.count("\t") != len(columns) - 1:
                found = pluralise(text.count("\t") + 1, "column")
                expected = f"{len(columns)}, as in global.columns"
                raise DataError(name, number, found, expected, "correct the row")
            row = "\t".join(cells.get(column, UNSPECIFIED) for column in COLUMN_NAMES)
            yield row + line[len(text) :]


def with_last_columns(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines of CoNLL-X; rows of eight columns get empty PHEAD and PDEPREL."""
    for line in lines:
        text = line.rstrip("\r\n")
        is_short = text.count("\t") == _SHORTER - 1
        yield text + f"\t{UNSPECIFIED}" * (COLUMN_COUNT - _SHORTER) + line[len(text) :] if is_short else line


def advice_on_columns(count: int) -> str:
    """Return advice on the format of a row with another number of columns."""
    if count == _SHORTER:
        return "CoNLL-X has 8 or 10: name such a file .conllx"
    if count == 14:
        return (
            "CoNLL-2009 has 14 and more; take ten: "
            r"""awk -F'\t' -v OFS='\t' 'NF {print $1,$2,$3,$5,$5,$7,$9,$11,"_","_"; next} 1' FILE"""
        )
    if count > COLUMN_COUNT:
        return (
            "CoNLL-U Plus (its first line is # global.columns = ...) is read from files named .conllup; "
            f"or take the first ten: cut -f1-{COLUMN_COUNT} FILE"
        )
    return (
        "read are CoNLL-U (10 columns), CoNLL-U Plus (# global.columns = ..., named .conllup) and CoNLL-X (8 "
        "or 10, named .conllx); write _ for unknown values"
    )
