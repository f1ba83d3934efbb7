"""Every format that is read or written: one row each. ``tests/corpus/test_formats.py`` tries them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from qsproj.corpus.alignments import read_alignments, write_alignments
from qsproj.corpus.bitext import read_bitext
from qsproj.corpus.conllu import read_conllu, write_conllu


@dataclass(frozen=True, slots=True)
class Format:
    """A text format of a corpus.

    Attributes
    ----------
    name : str
        As users write it.
    read : callable
        ``read(path_or_file)`` yields what the file holds, one sentence or pair at a time.
    write : callable or None
        ``write(items, path_or_file)`` writes what ``read`` yields; None for a format that is only read.
    """

    name: str
    read: Callable[..., Iterator[Any]]
    write: Callable[..., None] | None


FORMATS = (
    Format("conllu", read_conllu, write_conllu),
    Format("pharaoh", read_alignments, partial(write_alignments, with_weights=True)),
    Format(
        "talp",
        partial(read_alignments, format="talp"),
        partial(write_alignments, format="talp", with_weights=True),
    ),
    Format(
        "naacl",
        partial(read_alignments, format="naacl"),
        partial(write_alignments, format="naacl", with_weights=True),
    ),
    Format(
        "naacl-zero",
        partial(read_alignments, format="naacl-zero"),
        partial(write_alignments, format="naacl-zero", with_weights=True),
    ),
    Format("tsv", partial(read_alignments, format="tsv"), None),
    Format("bitext", read_bitext, None),
)
