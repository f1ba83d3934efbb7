"""Sentences of files that options name, with the line or the file in errors."""

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
    """Give the sentences of a file; an error in the block names the line of the last one that was taken."""
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
    """Have an error in the block that these files teach nothing say their names."""
    try:
        yield
    except NothingToLearnError as error:
        names = ", ".join(name_of(path) for path in paths if path is not None)
        raise UsageError(f"{names}: {error}") from error
