"""Context managers that add lines or file names to errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from qsproj.corpus.editing import lines_in
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.errors import NothingToLearnError, SentenceError, UsageError


@contextmanager
def adding_lines(path: str) -> Iterator[Iterator[Sentence]]:
    """Yield the sentences of a file; add the line of the last sentence read to errors of the block."""
    line = 1

    def sentences() -> Iterator[Sentence]:
        nonlocal line
        for sentence in read_sentences(path):
            yield sentence
            line += lines_in(sentence)

    try:
        yield sentences()
    except SentenceError as error:
        raise error.at(name_of(path), line) from error


@contextmanager
def adding_paths(*paths: str | None) -> Iterator[None]:
    """Add the names of these files to a NothingToLearnError in the block."""
    try:
        yield
    except NothingToLearnError as error:
        names = ", ".join(name_of(path) for path in paths if path is not None)
        raise UsageError(f"{names}: {error}") from error
