"""Errors that users can cause and fix; the command line prints each in one line with exit code 2."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

# The longest file name has 255 characters; words of a text may be longer.
_LONGEST_SHOWN, _SHOWN_OF_LONGER = 255, 60
NAME_OF_INPUT = "standard input"  # the file ``-`` in messages
_LONG = re.compile(rf"[^\s/]{{{_LONGEST_SHOWN + 1},}}")


class QsprojError(Exception):
    """Base of all errors caused by the input or the caller rather than by a bug.

    All can be pickled, whatever their constructors take. Words of more than 255 characters are shortened.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(truncate(text))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the text, to be restored without the constructor."""
        return type(self).__new__, (type(self), *self.args), self.__dict__


def truncate(text: str) -> str:
    """Return a message with its very long words shortened."""
    return _LONG.sub(lambda found: f"{found[0][:_SHOWN_OF_LONGER]}...", text)


class DataError(QsprojError, ValueError):
    """A file has invalid content; the text is ``path:line: found X, expected Y; what to do``."""

    def __init__(self, path: str, line: int | None, found: str, expected: str, remedy: str = "") -> None:
        self.path = path = NAME_OF_INPUT if path == "-" else path
        self.line, self.remedy = line, remedy
        self._facts = {"found": found, "expected": expected, "remedy": remedy}
        where = path if line is None else f"{path}:{line}"
        text = f"{where}: found {found}, expected {expected}"
        super().__init__(f"{text}; {remedy}" if remedy else text)

    def at(self, line: int | None, path: str | None = None) -> "DataError":
        """Return the same error for another line or file."""
        return DataError(self.path if path is None else path, line, **self._facts)

    def with_remedy(self, remedy: str) -> "DataError":
        """Return the same error with another remedy."""
        return DataError(self.path, self.line, **self._facts | {"remedy": remedy})


class UsageError(QsprojError, ValueError):
    """An argument is wrong: an unknown name, a missing file, conflicting options."""


class WrongTypeError(UsageError, TypeError):
    """An argument of a public function has a wrong type, such as a string where a list is expected."""


class WordIndexError(UsageError, IndexError):
    """A sentence has no word with this number."""


class MissingMethodError(UsageError, AttributeError):
    """A method that this kind of model lacks and another kind has."""


class NothingToLearnError(UsageError):
    """The training data is empty or unusable; callers that know the file names add them."""


class SentenceError(UsageError):
    """A sentence is invalid; callers that know its file and line, or that of ``word``, add them."""

    def __init__(self, *, found: str, expected: str, remedy: str, word: int = 0) -> None:
        self.found, self.expected, self.remedy, self.word = found, expected, remedy, word
        super().__init__(f"found {found}, expected {expected}; {remedy}")

    def at(self, path: str, line: int | None) -> DataError:
        """Return the error with the path and line of the sentence."""
        return DataError(path, line, self.found, self.expected, self.remedy)


class SentenceLengthError(SentenceError):
    """A sentence has no words, or more than the model's limit."""

    def __init__(self, words: int, limit: int) -> None:
        found = f"a sentence of {pluralise(words, 'word')}"
        super().__init__(found=found, expected=f"1 to {limit:,}", remedy="split it, or leave it out")


class UntaggedError(SentenceError):
    """A sentence lacks all the tag columns of CoNLL-U that the parser reads."""

    def __init__(self, columns: Sequence[str]) -> None:
        super().__init__(
            found=f"a sentence without {' or '.join(columns)}",
            expected="the tags that the parser reads",
            remedy="tag it first (qsproj tag, qsproj.train_tagger), or make one model of a tagger and the "
            "parser (qsproj bundle)",
        )


class MissingTreeError(SentenceError):
    """A sentence with words without a head where a whole tree is required."""

    def __init__(self, words: int) -> None:
        super().__init__(
            found=f"{pluralise(words, 'word')} without a head",
            expected="a whole tree in the old style, which a converter reads",
            remedy="parse it first (qsproj parse)",
        )


def pluralise(count: int, noun: str) -> str:
    """Format a count with its noun, given in the singular: 1 word, 1,001 words."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listed_reasons(counts: Mapping[str, int]) -> str:
    """Format the number of left-out items by reason."""
    return "; ".join(f"{count:,} for {reason}" for reason, count in counts.items()) or "none"


FILE_LOST = "a file was not written"  # note of a BrokenPipeError that cost more than standard output


def listed_first(names: Collection[object], most: int) -> str:
    """List the first names for a message; an ellipsis stands for the others."""
    return ", ".join(map(str, list(names)[:most])) + (", ..." if len(names) > most else "")


def unknown_name(kind: str, name: object, known: Iterable[str]) -> UsageError:
    """Build the error for a name that is not one of ``known``; the message lists them."""
    error = UsageError if isinstance(name, str) else WrongTypeError
    return error(f"unknown {kind} {' '.join(repr(name).split())}; known: {', '.join(known)}")


def check_name(kind: str, name: object, known: Collection[str]) -> None:
    """Raise :func:`unknown_name` unless a name is one of ``known``."""
    if not isinstance(name, str) or name not in known:
        raise unknown_name(kind, name, known)


def optional_package(name: str, missing: str) -> Any:
    """Import a package; UsageError with the text ``missing`` where it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(missing) from error
