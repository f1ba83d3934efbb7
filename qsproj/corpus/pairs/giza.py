r"""GIZA++'s ``A3.final``: three lines a pair, of which the last says what each source word is linked to.

    # Sentence pair (1) source length 2 target length 3 alignment score : 0.01
    das kleine Haus
    NULL ({ }) the ({ 1 }) house ({ 2 3 })

Target words count from 1. What NULL has is linked to nothing. Read only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import TextIO

from qsproj.corpus.alignments import Base, Links, checked_alignments
from qsproj.corpus.files import PathOrFile
from qsproj.corpus.sentence import Alignment
from qsproj.errors import DataError

_SOURCE_WORD = re.compile(r"(\S+) \(\{((?: [0-9]{1,9})*) \}\)")


def read_giza(path: PathOrFile, sizes: Iterable[tuple[int, int]] | None = None) -> Iterator[Alignment]:
    """Yield the alignments of an ``A3.final`` file.

    Parameters and errors as those of :func:`~qsproj.corpus.formats.read_alignments`.
    """
    return checked_alignments(path, _read, sizes, base=Base(1, None))


def _read(handle: TextIO, name: str) -> Iterator[Links]:
    lines = iter(handle)
    for pair, (head, target, links) in enumerate(zip_longest(lines, lines, lines)):
        line = 3 * pair + 1
        if not head.startswith("# Sentence pair"):
            raise _error(name, line, repr(head[:40].rstrip("\n")), "# Sentence pair (1) source length ...")
        if target is None or links is None:
            raise _error(name, line, "the end of the file", "three lines for each pair")
        yield _links(links, len(target.split()), line + 2, name)


def _links(text: str, n_target: int, line: int, name: str) -> Links:
    words = [match.groups() for match in _SOURCE_WORD.finditer(text)]
    if _SOURCE_WORD.sub("", text).strip() or not words or words[0][0] != "NULL":
        raise _error(name, line, repr(text[:40].rstrip("\n")), "NULL ({ 1 }) word ({ 2 3 }) ...")
    pairs = [(source, int(target)) for source, (_, linked) in enumerate(words) for target in linked.split()]
    outside = next((target for _, target in pairs if not 1 <= target <= n_target), None)
    if outside is not None:
        raise _error(name, line, f"a link of target word {outside}", f"words 1 to {n_target}")
    kept = [pair for pair in pairs if pair[0]]
    return Links(
        line,
        [line] * len(kept),
        [source for source, _ in kept],
        [target for _, target in kept],
        [True] * len(kept),
        None,
        (len(words) - 1, n_target),
    )


def _error(name: str, line: int, found: str, expected: str) -> DataError:
    return DataError(name, line, found=found, expected=expected, remedy="check that it is A3.final of GIZA++")
