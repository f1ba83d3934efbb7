"""Registry of file formats, through which commands read and write files.

To add a format, write a module with ``read`` and ``write`` and add a row here. It is then available in all
commands and tested by ``tests/corpus/test_formats.py``. The format of a file of sentences is determined by
its name or its first lines; files of no known format are plain text.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from qsproj.corpus import alignments
from qsproj.corpus.bitext import AS_IN_PAIRS, AS_TEXT, looks_like_xml
from qsproj.corpus.conllu import (
    looks_like_conllu,
    looks_like_plus,
    read_conllu,
    read_conllup,
    read_conllx,
    write_conllu,
    write_conllx,
)
from qsproj.corpus.conllu_faults import advice_on_columns
from qsproj.corpus.files import BYTE_ORDER_MARK, PACKED, PathOrFile, Replayed, name_of, open_text
from qsproj.corpus.sentence import Alignment, Sentence
from qsproj.errors import DataError, QsprojError, UsageError, check_name, pluralise

SENTENCES, ALIGNMENTS = "sentences", "alignments"
DEFAULT_ALIGNMENT_FORMAT = "pharaoh"


@dataclass(frozen=True, slots=True)
class Format:
    """A text format of a corpus."""

    name: str  # as users write it
    holds: str  # SENTENCES or ALIGNMENTS
    # ``read(path_or_file)`` yields the items; for alignments also with ``sizes``, see :func:`read_alignments`
    read: Callable[..., Iterator[Any]]
    write: Callable[..., None] | None  # ``write(items, path_or_file)``; None: the format is only read
    # file extensions of sentence formats; other names are of the first format
    endings: tuple[str, ...] = ()
    # ``looks(lines)``: whether the first lines of a file are of this format; None: its name alone decides
    looks: Callable[[Sequence[str]], bool] | None = None
    has_misc: bool = True  # whether MISC is written


_WRITERS = {DEFAULT_ALIGNMENT_FORMAT: partial(alignments.write_alignments, with_weights=True)}
FORMATS = (
    Format("conllu", SENTENCES, read_conllu, write_conllu, (".conllu",), looks_like_conllu),
    Format("conllup", SENTENCES, read_conllup, None, (".conllup", ".cupt"), looks_like_plus),
    Format("conllx", SENTENCES, read_conllx, write_conllx, (".conllx",), looks_like_conllu, has_misc=False),
    *(
        Format(name, ALIGNMENTS, partial(alignments.read_alignment_lines, format=name), _WRITERS.get(name))
        for name in alignments.READERS
    ),
    Format(alignments.MISC_FORMAT, ALIGNMENTS, alignments.read_links_in_misc, None),
)
WITH_WORDS = ("tsv", "giza")  # formats of alignments that also hold the words of both sides


def names_of(holds: str) -> tuple[str, ...]:
    """Return the names of the formats of sentences or alignments."""
    return tuple(format.name for format in FORMATS if format.holds == holds)


def read_sentences(path: PathOrFile) -> Iterator[Sentence]:
    """Yield the sentences of a file, in the format of its name, else as CoNLL-U."""
    return (named_format(name_of(path)) or FORMATS[0]).read(path)


def write_sentences(sentences: Iterable[Sentence], path: PathOrFile | None) -> None:
    """Write sentences in the format of the file name, else as CoNLL-U."""
    format = named_format(name_of(path)) or FORMATS[0]
    if format.write is None:
        raise UsageError(f"{name_of(path or '')}: {format.name} can only be read; name the file .conllu")
    format.write(sentences, path)


def check_has_misc(path: PathOrFile, option: str) -> None:
    """Raise UsageError if the format of an output has no MISC, to which ``option`` adds values."""
    if not (named_format(name_of(path)) or FORMATS[0]).has_misc:
        expected = "a name of CoNLL-U, as CoNLL-X has no MISC; name the file .conllu"
        raise UsageError(f"{option} adds to MISC, found {name_of(path)}, expected {expected}")


def sentence_formats() -> tuple[Format, ...]:
    """Return the formats of sentences."""
    return tuple(format for format in FORMATS if format.holds == SENTENCES)


def named_format(name: str) -> Format | None:
    """Return the format of sentences of a file name by its extension."""
    for packed in (*PACKED, ".zip", ".zst"):
        name = name.removesuffix(packed)
    return next((format for format in sentence_formats() if name.endswith(format.endings or "\0")), None)


def read_all(paths: Iterable[str]) -> Iterator[Sentence]:
    """Yield the sentences of several files in order; see :func:`read_sentences`."""
    return chain.from_iterable(map(read_sentences, paths))


def read_alignments(
    path: PathOrFile, format: str = DEFAULT_ALIGNMENT_FORMAT, sizes: Iterable[tuple[int, int]] | None = None
) -> Iterator[Alignment]:
    """Yield the alignments of a file, one for each sentence pair.

    ``path``: plain, gzip, xz, bzip2 or zip; ``-`` is the standard input. ``format``: a format of alignments
    (:func:`names_of`), see :mod:`qsproj.corpus.alignments`. ``sizes``: numbers of source and target words of
    each pair, consumed in step; None: those of the last linked words, except in ``tsv``, which has the words.

    Raises UsageError when the format is unknown or the file cannot be opened; DataError at the first link
    that cannot be read or is out of range, or when the file holds more or fewer pairs than ``sizes``.
    """
    check_name("alignment format", format, names_of(ALIGNMENTS))
    row = next(row for row in FORMATS if (row.name, row.holds) == (format, ALIGNMENTS))
    return row.read(path, sizes=sizes)


@dataclass(frozen=True)
class Source:
    """An open file of sentences: its name for messages, its format (None: plain text), its lines."""

    name: str
    format: Format | None
    lines: Iterator[str]

    @property
    def is_text(self) -> bool:
        """Whether it is plain text."""
        return self.format is None

    def sentences(self) -> Iterator[Sentence]:
        """Yield the sentences of a file that is not plain text, by the reader of its format."""
        assert self.format is not None
        return self.format.read(Replayed(self.lines, self.name))


@contextmanager
def open_source(path_or_file: PathOrFile) -> Iterator[Source]:
    """Open a file of sentences and detect its format; raise DataError if it is empty or a bitext."""
    name = name_of(path_or_file)
    with open_text(path_or_file) as handle:
        head = opening(handle)
        if not any(line.removeprefix(BYTE_ORDER_MARK).strip() for line in head):
            remedy = "check that it is the right file"
            raise DataError(name, 1, "no sentence", "CoNLL-U or plain text", remedy)
        found = format_of(name, head)
        if found is None:
            _check_no_pair(head[-1], len(head), name)
            head[0] = head[0].removeprefix(BYTE_ORDER_MARK)
        yield Source(name, found, chain(head, handle))


@contextmanager
def open_raw_text(path_or_file: PathOrFile) -> Iterator[Iterator[str]]:
    """Open a file of plain text and yield its lines; raise DataError if it is empty or of another format."""
    with open_source(path_or_file) as source:
        if not source.is_text:
            raise DataError(source.name, 1, "CoNLL-U", "plain text, one sentence per line", AS_TEXT)
        yield source.lines


def count_sentences(path: str) -> int | None:
    """Return the approximate number of sentences of a file, None if it cannot be read twice."""
    if not Path(path).is_file():
        return None
    try:
        with open_text(path) as handle:
            head = opening(handle)
            is_text, lines = format_of(path, head) is None, chain(head, handle)
            return sum(not line.isspace() if is_text else line.startswith("1\t") for line in lines)
    except QsprojError:
        return None


def format_of(name: str, head: Sequence[str]) -> Format | None:
    """Return the format of a file of sentences, by its name and its :func:`opening`; None for plain text."""
    named = named_format(name)
    if looks_like_plus(head):
        return next(format for format in FORMATS if format.looks is looks_like_plus)
    # A last line without a word is that of a file without any.
    is_one = not head or "\t" in head[-1] or head[-1].startswith(("#", "\n", "\r"))
    if named is not None and (named.looks is None or named.looks(head) or is_one):
        return named
    return next((format for format in sentence_formats() if format.looks and format.looks(head)), None)


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
    """Raise DataError for the first line of a bitext, whose pairs would be read as sentences."""
    cells, side = line.split("\t"), "give one side of it, for instance"
    columns = pluralise(len(cells), "column"), advice_on_columns(len(cells))
    for is_fault, found, remedy in (
        (len(cells) > 3 and cells[0].isdecimal(), *columns),
        (looks_like_xml([line]), "XML", "take its text out"),
        ("\t" in line.strip(), f"a tab {AS_IN_PAIRS}", f"{side}: cut -f2 FILE"),
        (" ||| " in line.strip(), f"||| {AS_IN_PAIRS}", f"{side}: sed 's/.* ||| //' FILE"),
    ):
        if is_fault:
            raise DataError(name, number, found, "CoNLL-U or plain text, one sentence a line", remedy)
