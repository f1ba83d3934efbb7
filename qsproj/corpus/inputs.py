"""What a file of sentences is: CoNLL-U, or plain text with one sentence a line. Every command asks here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TextIO, cast

from qsproj.corpus.columns import COLUMN_COUNT, UNSPECIFIED
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.files import PathOrFile, name_of, open_text
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, QsprojError

BYTE_ORDER_MARK = "\ufeff"
_ID = re.compile(r"[1-9][0-9]*([-.][1-9][0-9]*)?")
# Comments that nothing but CoNLL-U begins with.
_COMMENT = re.compile(r"#\s*(sent_id|newdoc|newpar|parallel_id|global\.columns)\b|#\s*text\s*=")
# A row of CoNLL-U that lost a few tabs, or whose tabs became spaces, has still as many cells.
_FEWEST_CELLS = COLUMN_COUNT - 2


@dataclass(frozen=True)
class Source:
    """An open file of sentences.

    Attributes
    ----------
    name : str
        What messages call it.
    is_conllu : bool
        Otherwise it is plain text.
    lines : iterator of str
        All of its lines, a byte order mark left out of plain text.
    """

    name: str
    is_conllu: bool
    lines: Iterator[str]

    def sentences(self) -> Iterator[Sentence]:
        """Yield the sentences of CoNLL-U, as :func:`~qsproj.corpus.conllu.read_conllu` does."""
        return read_conllu(cast(TextIO, _Replayed(self.lines, self.name)))


@contextmanager
def open_source(path_or_file: PathOrFile) -> Iterator[Source]:
    """Open a file of sentences and find out what it is; ``-`` is the standard input.

    Raises
    ------
    UsageError
        When the file cannot be opened.
    DataError
        When it holds nothing, or pairs of sentences.
    """
    name = name_of(path_or_file)
    with open_text(path_or_file) as handle:
        head = opening(handle)
        if not any(line.removeprefix(BYTE_ORDER_MARK).strip() for line in head):
            raise DataError(
                name,
                1,
                found="no sentence",
                expected="CoNLL-U or plain text",
                remedy="check that it is the right file",
            )
        # Not even nearly CoNLL-U, but called so: its reader tells what is wrong with its columns.
        found = looks_like_conllu(head) or (_named_as_rows(name) and "\t" in head[-1])
        if not found:
            _check_no_pair(head[-1], len(head), name)
            head[0] = head[0].removeprefix(BYTE_ORDER_MARK)
        yield Source(name, found, chain(head, handle))


def count_sentences(path: str) -> int | None:
    """Return how many sentences a file has, to within blank lines, without reading them as such.

    None for what can be read only once, and for what cannot be read: its reader tells why.
    """
    if not Path(path).is_file():
        return None
    try:
        with open_text(path) as handle:
            head = opening(handle)
            if looks_like_conllu(head):
                # A sentence ends with a blank line; the last may lack it.
                lines, count = chain(head, handle), 0
                is_inside = False
                for line in lines:
                    count += is_inside and not line.strip()
                    is_inside = bool(line.strip()) and (is_inside or not line.startswith("#"))
                return count + is_inside
            return sum(not line.isspace() for line in chain(head, handle))
    except QsprojError:
        return None


def _named_as_rows(name: str) -> bool:
    """Return whether the name of a file says that it has a row for each word."""
    return name.removesuffix(".gz").removesuffix(".xz").endswith((".conllu", ".conllx"))


def opening(lines: Iterator[str]) -> list[str]:
    """Return the first lines of a file, up to the first that is neither blank nor begins with #."""
    head = []
    for line in lines:
        head.append(line)
        bare = line.removeprefix(BYTE_ORDER_MARK)
        if bare.strip() and not bare.startswith("#"):
            break
    return head


def looks_like_conllu(head: Sequence[str]) -> bool:
    """Return whether the :func:`opening` of a file is that of CoNLL-U, whole or with faults.

    What is nearly CoNLL-U counts as such, for its reader to name the line that is not: a comment as only
    CoNLL-U has, or a first row that starts with the number of a word and has about ten cells.
    """
    if any(_COMMENT.match(line.removeprefix(BYTE_ORDER_MARK)) for line in head):
        return True
    row = head[-1].removeprefix(BYTE_ORDER_MARK).rstrip("\r\n") if head else ""
    cells, words = row.split("\t"), row.split()
    if len(cells) >= _FEWEST_CELLS and _ID.fullmatch(cells[0]):
        return True
    return len(words) >= _FEWEST_CELLS and bool(_ID.fullmatch(words[0])) and words.count(UNSPECIFIED) > 1


def _check_no_pair(line: str, number: int, name: str) -> None:
    """Raise DataError for the first line of a bitext, whose pairs would pass for sentences."""
    for separator, shown, remedy in (
        ("\t", "a tab", "give one side of it, for instance: cut -f2 FILE"),
        (" ||| ", "|||", "give one side of it, for instance: sed 's/.* ||| //' FILE"),
    ):
        if separator in line.strip():
            expected = "CoNLL-U or plain text, one sentence a line"
            found = f"{shown} as between the sentences of a pair"
            raise DataError(name, number, found=found, expected=expected, remedy=remedy)


class _Replayed:
    """Lines already read and those still to come, as the open text that a reader takes."""

    encoding = "utf-8"

    def __init__(self, lines: Iterator[str], name: str) -> None:
        self.name = name
        self._lines = lines

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def readline(self) -> str:
        return next(self._lines, "")

    def read(self) -> str:
        return "".join(self._lines)
