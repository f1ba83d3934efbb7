"""Word alignments: Pharaoh, Talp, NAACL and aligned TSV.

============== ======================================================= =================================
format         a link                                                  words count from
============== ======================================================= =================================
``pharaoh``    ``0-2``, possible ``0p2`` or ``0?2``, ``0-2:0.93``      0
``talp``       the same                                                1
``naacl``      ``sentence source target [S|P] [weight]``, one a line   1; 0 is NULL (Mihalcea & Pedersen
                                                                       2003, HLT-NAACL shared task)
``naacl-zero`` the same                                                0; no NULL
``tsv``        source TAB target TAB Pharaoh, words between spaces     0
============== ======================================================= =================================

In the first two, and in ``tsv``, a line is a sentence. Source comes first in all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from typing import NamedTuple, TextIO

import numpy as np

from qsproj.corpus.files import PathOrFile, name_of, open_output, open_text
from qsproj.corpus.sentence import Alignment, make_alignment
from qsproj.errors import DataError, unknown_name

_BYTE_ORDER_MARK = "\ufeff"
_PHARAOH_LINK = re.compile(r"([0-9]+)([-p?])([0-9]+)(?::([0-9.eE+-]+))?")
_NAACL_LINK = re.compile(r"([0-9]+)\s+([0-9]+)\s+([0-9]+)(?:\s+([SP]))?(?:\s+([0-9.eE+-]+))?")
_MAX_WORD = 2**31 - 2


class _Link(NamedTuple):
    """A link as it stands in a file, its words 1-based; ``text`` and ``line`` are for errors."""

    line: int
    text: str
    source: int
    target: int
    sure: bool
    weight: float | None


class _Links(NamedTuple):
    """What a file says of one sentence pair; ``sizes`` where the file holds the words, too."""

    line: int
    links: list[_Link]
    sizes: tuple[int, int] | None = None


def read_alignments(
    path: PathOrFile, format: str = "pharaoh", sizes: Iterable[tuple[int, int]] | None = None
) -> Iterator[Alignment]:
    """Yield the alignments of a file, one for each sentence pair.

    Parameters
    ----------
    path : path, ``"-"`` or open file
        Plain, gzip or xz.
    format : str
        One of the names in this module's table.
    sizes : iterable of (int, int) or None
        Numbers of source and target words of each pair, consumed in step. None: the numbers are those of
        the last linked words, except in ``tsv``, which holds the words.

    Raises
    ------
    UsageError
        When the format is unknown or the file cannot be opened.
    DataError
        At the first link that cannot be read or is out of range, or when the file holds more or fewer
        pairs than ``sizes``.
    """
    if format not in _READERS:
        raise unknown_name("alignment format", format, list(_READERS))
    return _checked_alignments(path, _READERS[format], sizes)


def write_alignments(
    alignments: Iterable[Alignment],
    path: PathOrFile | None,
    *,
    format: str = "pharaoh",
    with_weights: bool = False,
) -> None:
    """Write alignments, in a format that :func:`read_alignments` reads.

    Parameters
    ----------
    alignments : iterable of Alignment
        Consumed one at a time.
    path : path, ``"-"``, None or open file
        None and ``-`` are the standard output.
    format : str
        Any but ``tsv``, for which the words would be needed.
    with_weights : bool
        Whether to write weights, to six digits, for alignments that have them.

    Raises
    ------
    UsageError
        When the format is unknown or the file cannot be written.
    """
    if format not in _LINK_WRITERS:
        raise unknown_name("alignment format to write", format, list(_LINK_WRITERS))
    write_link, separator = _LINK_WRITERS[format]
    with open_output(path) as handle:
        for number, alignment in enumerate(alignments, start=1):
            weights = alignment.weights if with_weights else None
            probabilities = [None] * len(alignment.links) if weights is None else weights.tolist()
            rows = zip(alignment.links.tolist(), alignment.sure.tolist(), probabilities)
            links = [write_link(number, *link, sure, weight) for link, sure, weight in rows]
            # One line a sentence also where nothing is linked; one line a link has none to write then.
            if links or separator == " ":
                handle.write(separator.join(links) + "\n")


def _checked_alignments(
    path: PathOrFile,
    read: Callable[[TextIO, str], Iterator[_Links]],
    sizes: Iterable[tuple[int, int]] | None,
) -> Iterator[Alignment]:
    name = name_of(path)
    expected = None if sizes is None else iter(sizes)
    line = count = 0
    with open_text(path) as handle:
        for count, sentence in enumerate(read(handle, name), start=1):
            line = sentence.line
            size = sentence.sizes
            if expected is not None:
                size = next(expected, None)
                if size is None:
                    raise _count_error(name, line, f"pair {count}", f"{count - 1} pairs")
            yield _alignment(sentence.links, size, name)
        # NAACL files say nothing of a pair without links: those after the last are in ``sizes`` only.
        missing = None if expected is None else next(expected, None)
        if missing is not None and read not in (_READERS["naacl"], _READERS["naacl-zero"]):
            raise _count_error(name, line, f"the end after {count} pairs", "more")
        while missing is not None and expected is not None:
            yield _alignment([], missing, name)
            missing = next(expected, None)


def _count_error(name: str, line: int, found: str, expected: str) -> DataError:
    remedy = "check that the alignment is that of these sentences"
    return DataError(name, line or 1, found=found, expected=f"{expected}, as in the sentences", remedy=remedy)


def _alignment(links: list[_Link], size: tuple[int, int] | None, name: str) -> Alignment:
    sources = [link.source for link in links]
    targets = [link.target for link in links]
    n_source, n_target = size or (max(sources, default=0), max(targets, default=0))
    if max(sources, default=0) > n_source or max(targets, default=0) > n_target:
        bad = next(link for link in links if link.source > n_source or link.target > n_target)
        raise DataError(
            name,
            bad.line,
            found=f"link {bad.text}",
            expected=f"words of a pair of {n_source} by {n_target}",
            remedy="check that source and target are in this order and words count from where they should",
        )
    weights = None
    if any(link.weight is not None for link in links):
        weights = [1.0 if link.weight is None else link.weight for link in links]
    return make_alignment(
        n_source,
        n_target,
        np.array([sources, targets], dtype=np.int32).T,
        sure=[link.sure for link in links],
        weights=weights,
    )


def _pharaoh_line(text: str, line: int, name: str, *, first_word: int) -> list[_Link]:
    links = []
    for token in text.split():
        match = _PHARAOH_LINK.fullmatch(token)
        if match is None:
            expected = "links like 0-2, 0p2 or 0-2:0.93 between spaces"
            raise DataError(name, line, found=repr(token[:40]), expected=expected, remedy="check the format")
        source, kind, target, weight = match.groups()
        words = _words_from_1(source, target, token, line, name, first_word=first_word)
        links.append(_Link(line, token, *words, kind == "-", _weight(weight, line, name)))
    return links


def _words_from_1(
    source: str, target: str, text: str, line: int, name: str, *, first_word: int
) -> tuple[int, int]:
    """Return both words, 1-based, of a link in a file whose first word is ``first_word``."""
    words = (int(source) + 1 - first_word, int(target) + 1 - first_word)
    if min(words) < 1 or max(words) > _MAX_WORD:
        expected = f"words that count from {first_word}"
        remedy = "where they count from 0, name the format pharaoh or naacl-zero"
        raise DataError(name, line, found=f"link {text}", expected=expected, remedy=remedy)
    return words


def _weight(text: str | None, line: int, name: str) -> float | None:
    if text is None:
        return None
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 <= weight <= 1:
        raise DataError(
            name, line, found=f"weight {text!r}", expected="a probability", remedy="bring it to 0..1"
        )
    return weight


def _read_pharaoh(handle: TextIO, name: str, *, first_word: int) -> Iterator[_Links]:
    for line, text in enumerate(handle, start=1):
        yield _Links(line, _pharaoh_line(text.lstrip(_BYTE_ORDER_MARK), line, name, first_word=first_word))


def _read_tsv(handle: TextIO, name: str) -> Iterator[_Links]:
    for line, text in enumerate(handle, start=1):
        cells = text.rstrip("\r\n").lstrip(_BYTE_ORDER_MARK).split("\t")
        if len(cells) != 3:
            found = f"{len(cells)} column{'s' if len(cells) > 1 else ''}"
            expected = "source, target and links, separated by tabs"
            raise DataError(name, line, found=found, expected=expected, remedy="check the format")
        sizes = (len(cells[0].split()), len(cells[1].split()))
        yield _Links(line, _pharaoh_line(cells[2], line, name, first_word=0), sizes)


def _read_naacl(handle: TextIO, name: str, *, first_word: int) -> Iterator[_Links]:
    """Yield the links of sentences 1, 2, ...; a number that is skipped is a pair without links."""
    following = 1
    rows = _naacl_links(handle, name, first_word=first_word)
    for number, group in groupby(rows, key=lambda row: row[0]):
        found = list(group)
        line = found[0][1]
        if number < following:
            expected = f"{following} or later"
            remedy = "sort the file by sentence"
            raise DataError(name, line, found=f"sentence {number}", expected=expected, remedy=remedy)
        for _ in range(following, number):
            yield _Links(line, [])
        yield _Links(line, [link for _, _, link in found if link is not None])
        following = number + 1


def _naacl_links(handle: TextIO, name: str, *, first_word: int) -> Iterator[tuple[int, int, _Link | None]]:
    """Yield (sentence, line, link) for each line; the link is None where one side is NULL."""
    for line, text in enumerate(handle, start=1):
        stripped = text.lstrip(_BYTE_ORDER_MARK).strip()
        match = _NAACL_LINK.fullmatch(stripped)
        if match is None:
            expected = "sentence source target [S|P] [weight]"
            raise DataError(
                name, line, found=repr(stripped[:40]), expected=expected, remedy="check the format"
            )
        number, source, target, kind, weight = match.groups()
        is_null = first_word == 1 and (int(source) == 0) != (int(target) == 0)
        link = None
        if not is_null:
            words = _words_from_1(source, target, f"{source} {target}", line, name, first_word=first_word)
            link = _Link(line, f"{source} {target}", *words, kind != "P", _weight(weight, line, name))
        yield int(number), line, link


def _pharaoh_link(
    _: int, source: int, target: int, sure: bool, weight: float | None, *, first_word: int
) -> str:
    mark = "-" if sure else "p"
    suffix = "" if weight is None else f":{weight:.6g}"
    return f"{source - 1 + first_word}{mark}{target - 1 + first_word}{suffix}"


def _naacl_link(
    number: int, source: int, target: int, sure: bool, weight: float | None, *, first_word: int
) -> str:
    suffix = "" if weight is None else f" {weight:.6g}"
    words = f"{source - 1 + first_word} {target - 1 + first_word}"
    return f"{number} {words} {'S' if sure else 'P'}{suffix}"


_READERS: dict[str, Callable[[TextIO, str], Iterator[_Links]]] = {
    "pharaoh": partial(_read_pharaoh, first_word=0),
    "talp": partial(_read_pharaoh, first_word=1),
    "naacl": partial(_read_naacl, first_word=1),
    "naacl-zero": partial(_read_naacl, first_word=0),
    "tsv": _read_tsv,
}
_LINK_WRITERS: dict[str, tuple[Callable[..., str], str]] = {
    "pharaoh": (partial(_pharaoh_link, first_word=0), " "),
    "talp": (partial(_pharaoh_link, first_word=1), " "),
    "naacl": (partial(_naacl_link, first_word=1), "\n"),
    "naacl-zero": (partial(_naacl_link, first_word=0), "\n"),
}
