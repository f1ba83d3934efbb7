"""Sentences made by hand: every cell is checked, so that what is made can be written and learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import index
from typing import TypeVar

from qsproj.conventions import NO_HEAD, frozen_heads
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.conllu_faults import head_fault
from qsproj.corpus.words import described, words_of
from qsproj.errors import UsageError, WrongTypeError, counted

Made = TypeVar("Made")


def make_sentence(
    kind: Callable[..., Made],
    forms: Iterable[str],
    *,
    upos: Iterable[str | None] | None = None,
    heads: Iterable[int | None] | None = None,
    deprels: Iterable[str | None] | None = None,
    sent_id: str = "",
) -> Made:
    """Do what :meth:`qsproj.corpus.sentence.Sentence.from_words` says, for this class."""
    words = words_of(forms)
    if not words:
        raise UsageError("a sentence has no words, expected at least one")
    n, unspecified = len(words), (UNSPECIFIED,) * len(words)
    return kind(
        sent_id=_name(sent_id),
        forms=words,
        lemmas=unspecified,
        upos=_column("upos", upos, n) or unspecified,
        xpos=unspecified,
        feats=unspecified,
        deprels=_column("deprels", deprels, n) or unspecified,
        heads=frozen_heads([NO_HEAD] * (n + 1) if heads is None else checked_heads(heads, n)),
    )


def _name(sent_id: str) -> str | None:
    if not isinstance(sent_id, str) or any(mark in sent_id for mark in "\r\n"):
        error = UsageError if isinstance(sent_id, str) else WrongTypeError
        raise error(f"found {described(sent_id)} as sent_id, expected a string without line ends")
    return sent_id or None


def _column(name: str, cells: Iterable[str | None] | None, n: int) -> tuple[str, ...] | None:
    """Return n cells, ``_`` where one is not known."""
    if cells is None:
        return None
    if not isinstance(cells, str | bytes) and isinstance(cells, Iterable):
        cells = [UNSPECIFIED if cell is None else cell for cell in cells]
    found = words_of(cells, what=name)
    if len(found) != n:
        raise UsageError(f"found {counted(len(found), 'cell')} in {name}, expected {n}, one for each word")
    return found


def checked_heads(heads: Iterable[int | None], n: int) -> list[int]:
    """Return n + 1 heads, the root's first.

    ``heads``: n, or n + 1 with -1 first; -1 or None where missing.

    Raises UsageError when there are more or fewer, one is no number or out of range, or they form a cycle.
    """
    if isinstance(heads, str | bytes) or not isinstance(heads, Iterable):
        raise WrongTypeError(f"found {described(heads)} as heads, expected a list of numbers")
    found = [NO_HEAD if head is None else _number(head, word) for word, head in enumerate(heads, start=1)]
    if len(found) == n:
        found.insert(0, NO_HEAD)
    elif len(found) != n + 1 or found[0] != NO_HEAD:
        raise UsageError(f"found {counted(len(found), 'head')}, expected {n}, one for each word")
    fault = head_fault([str(head) for head in found[1:]], found)
    if fault is not None:
        raise UsageError(f"found {fault.found}, expected {fault.expected}; {fault.remedy}")
    return found


def _number(head: object, word: int) -> int:
    try:
        number = index(head)  # type: ignore[arg-type]
    except TypeError:
        raise WrongTypeError(f"found {described(head)} as head {word}, expected a whole number") from None
    if number < NO_HEAD:
        raise UsageError(f"found {number} as head {word}, expected 0 for the root, -1 where it is missing")
    return number
