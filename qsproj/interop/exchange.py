"""Helpers shared by converters: optional imports, lists of sentences, sentences from rows of cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from qsproj.corpus.messages import described, shown
from qsproj.corpus.sentence import Sentence, check_sentence
from qsproj.errors import DataError, UsageError, WrongTypeError


def package(name: str) -> Any:
    """Import a package; UsageError when it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        top = name.partition(".")[0]
        raise UsageError(f"this needs the package {top}; install it: pip install {top}") from error


def listed(sentences: Sentence | Iterable[Sentence]) -> list[Sentence]:
    """Return one or several sentences as a list; UsageError for other types."""
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
    """Build a sentence from comments and rows of ten cells, in the order of CoNLL-U.

    Raises UsageError, which names ``where``, when it is not valid CoNLL-U.
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
