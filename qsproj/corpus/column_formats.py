"""CoNLL-U Plus, which is only read, and CoNLL-X (Buchholz and Marsi 2006), in the ten columns of CoNLL-U."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from qsproj.corpus.cells import COLUMN_COUNT, COLUMN_NAMES, DEPS, MISC, UNSPECIFIED
from qsproj.corpus.conllu import sentences_from, write_conllu
from qsproj.corpus.conllu_faults import SHORTER
from qsproj.corpus.editing import at_lines, layout_of
from qsproj.corpus.files import BYTE_ORDER_MARK, PathOrFile, name_of, open_text
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, pluralise
from qsproj.progress import notice

_COLUMNS = re.compile(rf"{BYTE_ORDER_MARK}?#\s*global\.columns\s*=(.*)")


def looks_like_plus(head: Sequence[str]) -> bool:
    """Return whether the first lines of a file declare columns other than those of CoNLL-U."""
    named = next((match for match in map(_COLUMNS.match, head) if match), None)
    return named is not None and tuple(named[1].split()) != COLUMN_NAMES


def read_conllup(path_or_file: PathOrFile) -> Iterator[Sentence]:
    """Yield the sentences of CoNLL-U Plus, with the columns of CoNLL-U; others are dropped with a notice."""
    name = name_of(path_or_file)
    with open_text(path_or_file) as handle:
        yield from sentences_from(_plus_as_conllu(handle, name), name)


def _plus_as_conllu(lines: Iterator[str], name: str) -> Iterator[str]:
    """Yield the lines of CoNLL-U Plus with the ten columns of CoNLL-U; missing ones are empty."""
    columns = COLUMN_NAMES
    for number, line in enumerate(lines, start=1):
        if match := _COLUMNS.match(line):
            columns = tuple(match[1].split())
            if not set(COLUMN_NAMES[:2]) <= set(columns):
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


def read_conllx(path_or_file: PathOrFile) -> Iterator[Sentence]:
    """Yield the sentences of CoNLL-X: eight or ten columns, words only.

    CPOSTAG and POSTAG are read as UPOS and XPOS; PHEAD and PDEPREL, the last two columns, are kept as read.
    Raises DataError as :func:`qsproj.read_conllu`, and at a line that is not a word.
    """
    name = name_of(path_or_file)
    with open_text(path_or_file) as handle:
        for line, sentence in at_lines(sentences_from(_with_last_columns(handle), name)):
            layout = layout_of(sentence)
            if len(layout.word_lines) < len(layout.lines):
                other = next(i for i in range(len(layout.lines)) if i not in layout.word_lines)
                found, expected = "a comment, a range or an empty node", "words only, as in CoNLL-X"
                remedy = "if it is CoNLL-U, name the file .conllu"
                raise DataError(name, line + layout.start.count("\n") + other, found, expected, remedy)
            yield sentence


def _with_last_columns(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        text = line.rstrip("\r\n")
        is_short = text.count("\t") == SHORTER - 1
        yield text + f"\t{UNSPECIFIED}" * (COLUMN_COUNT - SHORTER) + line[len(text) :] if is_short else line


def write_conllx(sentences: Iterable[Sentence], path_or_file: PathOrFile | None) -> None:
    """Write sentences as CoNLL-X; unchanged sentences of CoNLL-X are written byte for byte as read."""
    write_conllu(map(_words_alone, sentences), path_or_file)


def _words_alone(sentence: Sentence) -> Sentence:
    """Return the sentence with a layout of words only, and with CoNLL-X values in the last two columns."""
    layout = layout_of(sentence)
    rows = [layout.lines[at].split("\t") for at in layout.word_lines]
    for row in rows:
        # DEPS of CoNLL-U are numbers with relations.
        if not row[DEPS].isdecimal():
            row[DEPS] = row[MISC] = UNSPECIFIED
    lines, places = tuple(map("\t".join, rows)), tuple(range(len(rows)))
    return replace(sentence, sent_id=None, layout=replace(layout, lines=lines, word_lines=places))
