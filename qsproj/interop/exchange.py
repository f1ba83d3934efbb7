"""What converters share: packages that may not be there, sentences from the cells of rows, documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from qsproj.corpus.messages import described, shown
from qsproj.corpus.sentence import Sentence, check_sentence
from qsproj.errors import DataError, UsageError, WrongTypeError


def package(name: str) -> Any:
    """Import a package; UsageError where it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        top = name.partition(".")[0]
        raise UsageError(f"this needs the package {top}; install it: pip install {top}") from error


def listed(sentences: Sentence | Iterable[Sentence]) -> list[Sentence]:
    """Return one sentence or several as a list; UsageError where they are none."""
    if isinstance(sentences, Sentence):
        return [sentences]
    if isinstance(sentences, str | bytes) or not isinstance(sentences, Iterable):
        raise WrongTypeError(
            f"found {described(sentences)}, expected sentences; make them: qsproj.read_conllu"
        )
    found = list(sentences)
    for one in found:
        check_sentence(one, most=None)
    return found


def sentence_of(comments: Sequence[str], rows: Iterable[Sequence[str]], *, where: str) -> Sentence:
    """Return the sentence of comments and rows of ten cells, words and other rows in their order.

    Raises UsageError, which says ``where``, when it is not what CoNLL-U allows.
    """
    checked = [list(row) for row in rows]
    for row in checked:
        for cell in row:
            if not cell or any(mark in cell for mark in "\t\r\n"):
                raise UsageError(
                    f"{where}: found {shown(cell)} in row {row[0]}, expected text without tabs and line ends"
                )
    try:
        return Sentence.from_conllu("\n".join([*comments, *map("\t".join, checked)]) + "\n\n")
    except DataError as error:
        found = str(error).partition("found ")[2]
        raise UsageError(f"{where}: found {found}") from None
