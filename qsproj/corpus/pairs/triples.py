"""Weighted triples: a line ``source target weight`` for each link, a blank line after each sentence pair.

    0 0 0.93
    1 2 0.4

    2 0 1

Words count from 0 (``triples``) or from 1 (``triples-one``), which a file does not say. A pair without links
is its blank line alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TextIO

from qsproj.corpus.alignments import Base, Links, check_first_and_last, checked_alignments, link_weight
from qsproj.corpus.files import PathOrFile, open_output
from qsproj.corpus.sentence import Alignment
from qsproj.corpus.words import number_of
from qsproj.errors import DataError

FROM_ZERO, FROM_ONE = Base(0, "triples-one"), Base(1, "triples")
_BYTE_ORDER_MARK = "\ufeff"
_TRIPLE = re.compile(r"([0-9]+)\s+([0-9]+)\s+([0-9.eE+-]+)")


def read_triples(
    path: PathOrFile, sizes: Iterable[tuple[int, int]] | None = None, *, base: Base
) -> Iterator[Alignment]:
    """Yield the alignments of a file of triples; ``base`` is FROM_ZERO or FROM_ONE.

    Other parameters and errors as those of :func:`~qsproj.corpus.formats.read_alignments`.
    """
    return checked_alignments(path, partial(_read, base=base), sizes, base=base)


def write_triples(alignments: Iterable[Alignment], path: PathOrFile | None, *, base: Base) -> None:
    """Write alignments as triples; a link without a weight has weight 1, and whether it is sure is lost."""
    with open_output(path) as handle:
        for alignment in alignments:
            weights = (
                [1.0] * len(alignment.links) if alignment.weights is None else alignment.weights.tolist()
            )
            for (source, target), weight in zip(alignment.links.tolist(), weights, strict=True):
                handle.write(f"{source - 1 + base.first_word} {target - 1 + base.first_word} {weight:.6g}\n")
            handle.write("\n")


def _read(handle: TextIO, name: str, *, base: Base) -> Iterator[Links]:
    begun = Links(1, [], [], [], [], [])
    for line, text in enumerate(handle, start=1):
        stripped = text.lstrip(_BYTE_ORDER_MARK).strip()
        if not stripped:
            yield begun
            begun = Links(line + 1, [], [], [], [], [])
            continue
        match = _TRIPLE.fullmatch(stripped)
        if match is None:
            expected = "source target weight, three numbers, or a blank line after a pair"
            raise DataError(
                name, line, found=repr(stripped[:40]), expected=expected, remedy="check the format"
            )
        _add(begun, match, line, name, base)
    if begun.lines:
        yield begun


def _add(links: Links, match: re.Match[str], line: int, name: str, base: Base) -> None:
    """Add the link of a line to those of its pair."""
    words = [number_of(word) + 1 - base.first_word for word in match.groups()[:2]]
    check_first_and_last(words, line, name, base=base)
    links.lines.append(line)
    links.sources.append(words[0])
    links.targets.append(words[1])
    links.sure.append(True)
    if links.weights is None:
        raise AssertionError("triples have weights")
    links.weights.append(link_weight(match[3], line, name))
