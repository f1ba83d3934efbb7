"""Lossless reading and writing of CoNLL-U; CoNLL-X (Buchholz and Marsi 2006); reading of CoNLL-U Plus.

The layout of a :class:`Sentence` holds the original lines, with comments, empty nodes and line ends; writing
puts changed cells into the original rows. Format: universaldependencies.org/format.html.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from io import StringIO
from itertools import chain
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple, TextIO

import numpy as np

from qsproj.conventions import NO_HEAD
from qsproj.corpus.cells import COLUMN_COUNT, COLUMN_NAMES, COLUMN_OF, HEAD, UNSPECIFIED, comment_in
from qsproj.corpus.conllu_faults import NOT_A_HEAD, SHORTER, Fault, column_fault, head_fault, id_fault
from qsproj.corpus.editing import column_values, layout_of
from qsproj.corpus.files import BYTE_ORDER_MARK, PathOrFile, name_of, open_kept_output, open_output, open_text
from qsproj.corpus.messages import check_type, described, number_of
from qsproj.corpus.sentence import Layout, Sentence, check_sentence
from qsproj.errors import DataError, WrongTypeError, pluralise
from qsproj.progress import notice

_ID = re.compile(r"[1-9][0-9]*([-.][1-9][0-9]*)?")
# Comments that occur only in CoNLL-U.
_COMMENT = re.compile(r"#\s*(sent_id|newdoc|newpar|parallel_id|global\.columns)\b|#\s*text\s*=")
# Minimum number of cells of a damaged row of CoNLL-U, with lost tabs or spaces for tabs.
_FEWEST_CELLS = COLUMN_COUNT - 2
_REPEATED = frozenset(COLUMN_OF) - {"forms", "lemmas"}
_COMMON_LENGTH = 1000
# Maximum number of lines of a sentence; more would exhaust memory before an error is found.
_MOST_LINES = 1_000_000
_HEADS = {UNSPECIFIED: NO_HEAD} | {str(head): head for head in range(_COMMON_LENGTH)}


def read_conllu(path_or_file: PathOrFile) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file, one at a time.

    ``path_or_file``: plain, gzip, xz, bzip2 or zip; ``-`` is the standard input. Sentences keep their
    layouts, so that :func:`write_conllu` restores every byte. Missing heads and several roots are legal.

    Raises UsageError when the file cannot be opened; DataError at the first row that is not CoNLL-U (columns,
    IDs, ranges, heads that are not a tree), when there is no sentence, and when the bytes are not UTF-8 or
    the archive is truncated.
    """
    with open_text(path_or_file) as handle:
        yield from sentences_from(handle, name_of(path_or_file))


def sentences_from(lines: Iterable[str], name: str) -> Iterator[Sentence]:
    """Yield the sentences of lines of CoNLL-U as :func:`read_conllu`; ``name``: that of the file."""
    sentence, newline = None, "\n"
    for block in _blocks(iter(lines), name):
        sentence, newline = _sentence(block, name, newline)
        yield sentence
    if sentence is None:
        raise DataError(name, 1, "no sentence", "CoNLL-U", "check that it is the right file")


def looks_like_conllu(head: Sequence[str]) -> bool:
    """Return whether the first lines of a file look like CoNLL-U, valid or not."""
    if any(_COMMENT.match(line.removeprefix(BYTE_ORDER_MARK)) for line in head):
        return True
    row = head[-1].removeprefix(BYTE_ORDER_MARK).rstrip("\r\n") if head else ""
    cells, words = row.split("\t"), row.split()
    if len(cells) >= _FEWEST_CELLS and _ID.fullmatch(cells[0]):
        return True
    return len(words) >= _FEWEST_CELLS and bool(_ID.fullmatch(words[0])) and words.count(UNSPECIFIED) > 1


def write_conllu(sentences: Iterable[Sentence], path_or_file: PathOrFile | None) -> None:
    """Write sentences as CoNLL-U; unchanged sentences are written byte for byte as read.

    Changed ones end with a blank line, which the last of a file may lack. Sentences are consumed one at a
    time; one without layout gets ``sent_id`` and ``text`` comments. A name ending in ``.gz``, ``.xz`` or
    ``.bz2`` is compressed; None and ``-`` are the standard output. The file is created when the last sentence
    is written, so a file may be rewritten while it is read.

    Raises UsageError when the file cannot be written, or ``sentences`` is one sentence or a string;
    ValueError when a changed column has another number of cells, or a cell is empty or has a tab or line end.
    """
    if isinstance(sentences, Sentence | str) or not isinstance(sentences, Iterable):
        raise WrongTypeError(f"found {described(sentences)} as sentences, expected a list; put it in a list")
    with conllu_output(path_or_file) as write:
        for sentence in sentences:
            write(sentence)


def conllu_text(sentences: Iterable[Sentence]) -> str:
    """Return sentences as CoNLL-U, as written by :func:`write_conllu`."""
    text = StringIO()
    write_conllu(sentences, text)
    return text.getvalue()


def sentences_in(text: str) -> list[Sentence]:
    """Return the sentences of a text; raise as :func:`read_conllu`, and when it is not a string."""
    check_type(text, str, "a string", "CoNLL-U")
    return list(sentences_from(StringIO(text), "<text>"))


@contextmanager
def conllu_output(path_or_file: PathOrFile | None) -> Iterator[Callable[[Sentence], None]]:
    """Open a file of CoNLL-U and yield a function that writes a sentence; see :func:`write_conllu`."""
    with open_output(path_or_file) as handle:
        yield _writer(handle)


@contextmanager
def conllu_kept(path: Path) -> Iterator[tuple[Iterator[Sentence], Callable[[Sentence], None]]]:
    """Open a resumable output file of CoNLL-U."""
    with open_kept_output(path, unit_end=b"\n\n") as (handle, begun):
        yield read_conllu(begun) if begun else iter(()), _writer(handle)


def _writer(handle: TextIO) -> Callable[[Sentence], None]:
    missing: str | None = None  # line ends that the sentence before lacks

    def write(sentence: Sentence) -> None:
        nonlocal missing
        layout = layout_of(check_sentence(sentence, most=None))
        lines = _current_lines(sentence, layout)
        start = layout.start if missing is None else missing
        missing, end = _missing_line_ends(layout), layout.end
        if lines is not layout.lines:
            missing, end = "", end + missing
        handle.write(f"{start}{layout.newline.join(lines)}{end}")

    return write


def _missing_line_ends(layout: Layout) -> str:
    """Return what the last sentence of a file may lack: the end of its last line, and a blank line."""
    has_open_line = bool(layout.end) and not layout.end.endswith("\n")
    return layout.newline * max(2 - layout.end.count("\n"), int(has_open_line))


class _Block(NamedTuple):
    """The lines of one sentence as in the file, with line ends."""

    number: int
    start: str
    lines: list[str]
    blank_lines: str


def _blocks(text: Iterator[str], name: str) -> Iterator[_Block]:
    """Split a text at blank lines. O(longest sentence) memory."""
    number, start, lines, blank_lines = 1, "", list[str](), ""
    first_line = next(text, "")
    if first_line.startswith(BYTE_ORDER_MARK):
        start, first_line = BYTE_ORDER_MARK, first_line[1:]
    for line in chain([first_line], text):
        # A row of tabs is a faulty row, not the end of a sentence.
        if (line.isspace() and "\t" not in line) or not line:
            if lines:
                blank_lines += line
            else:
                start += line
                number += 1
            continue
        if blank_lines:
            yield _Block(number, start, lines, blank_lines)
            number += len(lines) + blank_lines.count("\n")
            start, lines, blank_lines = "", [], ""
        lines.append(line)
        if len(lines) > _MOST_LINES:
            found = f"a sentence of more than {pluralise(_MOST_LINES, 'line')}"
            expected, remedy = "a blank line after each sentence", "check that it is the right file"
            raise DataError(name, number, found, expected, remedy)
    if lines:
        yield _Block(number, start, lines, blank_lines)


def _sentence(block: _Block, name: str, newline: str) -> tuple[Sentence, str]:
    """Return a sentence and its line end; ``newline`` is that of the sentence before."""
    lines, newline, end = _without_line_ends(block, newline)
    cells = _word_cells([line for line in lines if line[0] != "#"])
    if isinstance(cells, Fault):
        row_lines = [i for i, line in enumerate(lines) if line[0] != "#"] or [0]
        raise DataError(name, block.number + row_lines[cells.row], *cells[1:])
    word_lines = _word_lines(lines, len(cells) // COLUMN_COUNT)
    head_cells = cells[HEAD::COLUMN_COUNT]
    heads = _head_numbers(head_cells)
    fault = head_fault(head_cells, heads)
    if fault is not None:
        raise DataError(name, block.number + word_lines[fault.row], *fault[1:])
    head_array = np.array(heads, dtype=np.int32)
    head_array.flags.writeable = False
    sent_id = comment_in(lines, "sent_id")
    columns: dict[str, Any] = {
        # Interning saves memory: few different tags and labels occur in many words.
        name: tuple(map(intern, cells[at::COLUMN_COUNT]) if name in _REPEATED else cells[at::COLUMN_COUNT])
        for name, at in COLUMN_OF.items()
    }
    layout = Layout(tuple(lines), word_lines, newline, end, block.start, block.number)
    return Sentence(sent_id=sent_id and sent_id[1], heads=head_array, layout=layout, **columns), newline


def _without_line_ends(block: _Block, newline: str) -> tuple[list[str], str, str]:
    """Return the lines, their common line end (LF where mixed), and what follows the last of them.

    ``newline`` is the line end of the sentence before: that of a last line which has none.
    """
    text = "".join(block.lines)
    if block.lines[0].endswith("\n"):
        all_crlf = "\r" in text and text.count("\r\n") == text.count("\n")
        newline = "\r\n" if all_crlf else "\n"
    lines = text.split(newline)
    if lines[-1]:
        return lines, newline, block.blank_lines
    lines.pop()
    return lines, newline, newline + block.blank_lines


def _word_cells(rows: list[str]) -> list[str] | Fault:
    """Return the cells of word rows in one list, or the fault of columns or IDs."""
    # Only the first cell of a row begins with a line end: if every tenth cell does, all rows have ten cells.
    text = "\t\n".join(rows)
    cells = text.split("\t")
    ids = "".join(cells[::COLUMN_COUNT])
    ten_columns = len(cells) == COLUMN_COUNT * len(rows) and ids.count("\n") == len(rows) - 1
    sound = ten_columns and "\t\t" not in text and text[-1] != "\t" and "\r" not in text
    if sound and ids == _counting(len(rows)):
        return cells
    numbers = ids.split("\n") if rows else []
    if not sound or "" in numbers:
        fault = column_fault(rows)
        if fault is not None:
            return fault
    words = [row for row, number in zip(rows, numbers) if number.isdecimal()]
    return id_fault(numbers) or "\t".join(words).split("\t")


@lru_cache(_COMMON_LENGTH)
def _counting(words: int) -> str:
    return "\n".join(map(str, range(1, words + 1)))


def _word_lines(lines: list[str], words: int) -> tuple[int, ...]:
    comments = len(lines) - words
    if lines[comments].startswith("1\t"):
        return _numbers(comments, len(lines))
    return tuple(i for i, line in enumerate(lines) if line.partition("\t")[0].isdecimal())


@lru_cache(_COMMON_LENGTH)
def _numbers(first: int, end: int) -> tuple[int, ...]:
    return tuple(range(first, end))


def _head_numbers(texts: list[str]) -> list[int]:
    """Return n + 1 heads: ``NO_HEAD`` for the root and for ``_``, ``NOT_A_HEAD`` if not a number."""
    with suppress(KeyError):
        return [NO_HEAD, *map(_HEADS.__getitem__, texts)]
    heads = [NO_HEAD]
    for text in texts:
        is_number = text.isascii() and text.isdecimal() and not text.startswith("0")
        heads.append(_HEADS.get(text, number_of(text) if is_number else NOT_A_HEAD))
    return heads


def _current_lines(sentence: Sentence, layout: Layout) -> Iterable[str]:
    lines, found = layout.lines, comment_in(layout.lines, "sent_id")
    if sentence.sent_id != (found and found[1]):
        first, rest = (lines[: found[0]], lines[found[0] + 1 :]) if found else ((), lines)
        named = () if sentence.sent_id is None else (f"# sent_id = {sentence.sent_id}",)
        lines = (*first, *named, *rest)
    # In one list, so that ``cells[column::COLUMN_COUNT]`` is a column.
    cells = "\t".join([layout.lines[i] for i in layout.word_lines]).split("\t")
    columns = column_values(sentence)
    changed = [(at, values) for at, values in columns if tuple(cells[at::COLUMN_COUNT]) != values]
    if not changed:
        return lines
    words = len(layout.word_lines)
    for column, values in changed:
        name = COLUMN_NAMES[column]
        if len(values) != words:
            raise ValueError(f"{name} has {len(values)} cells, expected {words}, one for each word")
        for word, value in enumerate(values, start=1):
            if not value or "\t" in value or "\n" in value:
                expected = "text without tabs and line ends"
                raise ValueError(f"{name} of word {word} is {value!r}, expected {expected}")
        cells[column::COLUMN_COUNT] = values
    result, inserted = list(lines), len(lines) - len(layout.lines)
    for word, at in enumerate(layout.word_lines):
        result[at + inserted] = "\t".join(cells[word * COLUMN_COUNT : (word + 1) * COLUMN_COUNT])
    return result


_COLUMNS = re.compile(rf"{BYTE_ORDER_MARK}?#\s*global\.columns\s*=(.*)")  # of CoNLL-U Plus


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
        for sentence in sentences_from(_with_last_columns(handle), name):
            layout = layout_of(sentence)
            if len(layout.word_lines) < len(layout.lines):
                other = next(i for i in range(len(layout.lines)) if i not in layout.word_lines)
                found, expected = "a comment, a range or an empty node", "words only, as in CoNLL-X"
                remedy = "if it is CoNLL-U, name the file .conllu"
                raise DataError(name, (layout.line or 1) + other, found, expected, remedy)
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
    lines = []
    for line in (layout.lines[at] for at in layout.word_lines):
        # DEPS of CoNLL-U are numbers with relations.
        row, deps, _ = line.rsplit("\t", 2)
        lines.append(line if deps.isdecimal() else f"{row}\t{UNSPECIFIED}\t{UNSPECIFIED}")
    words = replace(layout, lines=tuple(lines), word_lines=tuple(range(len(lines))))
    return replace(sentence, sent_id=None, layout=words)
