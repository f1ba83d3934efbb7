"""The format of a file of sentences: one of the table, or plain text. Every command asks here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TextIO, cast

from qsproj.corpus.files import PathOrFile, name_of, open_text
from qsproj.corpus.formats import Format, named_format, sentence_formats
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, QsprojError

BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Source:
    """An open file of sentences.

    Attributes
    ----------
    name : str
        What messages call it.
    format : Format or None
        That of its sentences; None for plain text.
    lines : iterator of str
        All of its lines, a byte order mark left out of plain text.
    """

    name: str
    format: Format | None
    lines: Iterator[str]

    @property
    def is_text(self) -> bool:
        """Whether it is plain text."""
        return self.format is None

    def sentences(self) -> Iterator[Sentence]:
        """Yield the sentences of a file that is no plain text, as the reader of its format does."""
        assert self.format is not None
        return self.format.read(cast(TextIO, _Replayed(self.lines, self.name)))


@contextmanager
def open_source(path_or_file: PathOrFile) -> Iterator[Source]:
    """Open a file of sentences and find out what it is; ``-`` is the standard input.

    Raises UsageError when the file cannot be opened; DataError when it holds nothing, or pairs of sentences.
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
        found = format_of(name, head)
        if found is None:
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
            if format_of(path, head) is not None:
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


def format_of(name: str, head: Sequence[str]) -> Format | None:
    """Return the format of a file of sentences, by its name and its :func:`opening`; None for plain text.

    What is not even nearly what it is called is that all the same, where it has columns: its reader tells
    what is wrong with them.
    """
    named = named_format(name)
    if named is not None and (named.looks is None or named.looks(head) or "\t" in head[-1]):
        return named
    known = [format for format in sentence_formats() if format.looks is not None]
    return next((format for format in known if format.looks is not None and format.looks(head)), None)


def opening(lines: Iterator[str]) -> list[str]:
    """Return the first lines of a file, up to the first that is neither blank nor begins with #."""
    head = []
    for line in lines:
        head.append(line)
        bare = line.removeprefix(BYTE_ORDER_MARK)
        if bare.strip() and not bare.startswith("#"):
            break
    return head


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
