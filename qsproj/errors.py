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


def unknown_name(kind: str, name: str, known: list[str]) -> UsageError:
    """Build the error for a name that is not one of ``known``; the message lists them."""
    return UsageError(f"unknown {kind} {name!r}; known: {', '.join(known)}")
