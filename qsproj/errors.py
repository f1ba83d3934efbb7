"""Errors that a user can cause and mend; the command line turns each into one line and exit code 2."""

from __future__ import annotations


class QsprojError(Exception):
    """Base of every error that is the input's or the caller's, not a bug of ours."""


class DataError(QsprojError):
    """A file holds something it should not.

    The text reads ``path:line: found X, expected Y; what to do``.
    """

    def __init__(
        self,
        path: str,
        line: int | None,
        *,
        found: str,
        expected: str,
        remedy: str = "",
    ) -> None:
        self.path = path
        self.line = line
        where = path if line is None else f"{path}:{line}"
        text = f"{where}: found {found}, expected {expected}"
        super().__init__(f"{text}; {remedy}" if remedy else text)


class UsageError(QsprojError):
    """An argument is wrong: an unknown name, a file that is not there, options that exclude each other."""


class SentenceLengthError(UsageError):
    """A sentence is longer than a model takes; whoever knows its file and line says these too."""

    def __init__(self, words: int, limit: int) -> None:
        self.found = f"a sentence of {words:,} words"
        self.expected = f"1 to {limit:,}"
        self.remedy = "split it, or leave it out"
        super().__init__(f"found {self.found}, expected {self.expected}; {self.remedy}")


def unknown_name(kind: str, name: str, known: list[str]) -> UsageError:
    """Build the error for a name that is not one of ``known``; the message lists them."""
    return UsageError(f"unknown {kind} {name!r}; known: {', '.join(known)}")
