"""Validation of words given by callers, and formatting of values in messages."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import zip_longest
from types import UnionType

from qsproj.errors import UsageError, WrongTypeError

_SHOWN_CHARACTERS = 60
_MOST_DIGITS = 18
_BREAK = re.compile(r"[\t\r\n]")


def words_of(given: object, *, what: str = "a sentence") -> tuple[str, ...]:
    """Return the words of a list of strings, named ``what`` in messages."""
    if isinstance(given, str | bytes):
        expected = "a list of words; split it: text.split()"
        raise WrongTypeError(f"found the string {shown(given)} as {what}, expected {expected}")
    if not isinstance(given, Iterable):
        raise WrongTypeError(f"found {described(given)} as {what}, expected a list of words")
    words = tuple(given)
    if set(map(type, words)) == {str} and all(words) and not _BREAK.search("".join(words)):
        return words
    for number, word in enumerate(words, start=1):
        check_type(word, str, "a string", f"word {number} of {what}")
        if not word or _BREAK.search(word):
            expected = "text without tabs and line ends"
            raise UsageError(f"found {shown(word)} as word {number} of {what}, expected {expected}")
    # Convert numpy strings, which have another repr.
    return tuple(map(str, words))


def first_difference(words: Sequence[str], others: Sequence[str]) -> tuple[int, str, str]:
    """Return the number, from 1, of the first word that differs, and both words, quoted."""
    pairs = zip_longest(map(repr, words), map(repr, others), fillvalue="nothing")
    return next((number, *pair) for number, pair in enumerate(pairs, start=1) if pair[0] != pair[1])


@lru_cache(maxsize=1 << 12)
def number_of(digits: str) -> int:
    """Return the number of decimal digits; for more than 18, a number larger than any word ID."""
    return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS


def probability_in(text: str) -> float | None:
    """Return the probability that a text states, None if it states none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value <= 1.0 else None


def excerpt(text: str) -> str:
    """Return a text quoted for messages, cut to 40 characters."""
    return repr(text if len(text) <= 40 else f"{text[:40]}...")


def shown(value: object) -> str:
    """Return a value for messages: in one line, shortened, strings quoted."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def check_type(given: object, kind: type | UnionType, expected: str, name: str = "") -> None:
    """Raise WrongTypeError unless a value is of a type; ``name``: the argument."""
    if not isinstance(given, kind):
        raise WrongTypeError(f"found {described(given)}{name and f' as {name}'}, expected {expected}")


def described(value: object) -> str:
    """Describe a value of a wrong type: ``None``, ``3 (int)``, ``an ArcParser``."""
    if value is None:
        return "None"
    kind = type(value).__name__
    article = "an" if kind[0] in "AEIOU" else "a"
    return f"{article} {kind}" if type(value).__module__.startswith("qsproj.") else f"{shown(value)} ({kind})"
