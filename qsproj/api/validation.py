"""Checks of the arguments of public functions; each error is one clear sentence."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from operator import index
from typing import TypeVar, cast

import numpy as np

from qsproj.conventions import Rng
from qsproj.corpus.messages import described, shown, words_of
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
from qsproj.errors import UsageError, WrongTypeError, pluralise

Kind = TypeVar("Kind")


def sentences_of(given: object, name: str, *, least: int = 1) -> list[Sentence]:
    """Return a list of at least ``least`` sentences from any iterable; ``name`` is for messages.

    Raises WrongTypeError for a single sentence or other types, UsageError for too few sentences.
    """
    found = each_a(Sentence, given, name, "qsproj.Sentence.from_words, qsproj.read_conllu")
    if len(found) < least:
        raise UsageError(f"found {pluralise(len(found), 'sentence')} in {name}, expected {least} or more")
    return found


def texts_of(given: object, name: str) -> list[Sentence | tuple[str, ...]]:
    """Return sentences unchanged, and lists of words as tuples; raises as :func:`sentences_of`."""
    return [
        text if isinstance(text, Sentence) else words_of(text, what=f"sentence {number} of {name}")
        for number, text in enumerate(listed(given, name), start=1)
    ]


def words_in(text: Sentence | tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of an element of :func:`texts_of`."""
    return text.forms if isinstance(text, Sentence) else text


def listed(given: object, name: str) -> list[object]:
    """Return an iterable as a list; WrongTypeError for strings, single sentences, pairs and alignments."""
    if isinstance(given, str | bytes):
        remedy = "read files first: qsproj.read_conllu, qsproj.read_alignments"
        raise WrongTypeError(f"found the string {shown(given)} as {name}, expected a list; {remedy}")
    if isinstance(given, Sentence | SentencePair | Alignment):
        raise WrongTypeError(f"found one {type(given).__name__} as {name}, expected a list; put it in a list")
    if not isinstance(given, Iterable):
        raise WrongTypeError(f"found {described(given)} as {name}, expected a list")
    return list(given)


def each_a(kind: type[Kind], given: object, name: str, makers: str) -> list[Kind]:
    """Return a list of elements of a class, which ``makers`` make; WrongTypeError for others."""
    elements = listed(given, name)
    for number, element in enumerate(elements, start=1):
        if not isinstance(element, kind):
            found = f"{described(element)} as element {number} of {name}"
            expected = f"objects of class {kind.__name__}; make them: {makers}"
            raise WrongTypeError(f"found {found}, expected {expected}")
    return cast("list[Kind]", elements)


def check_same_number(**lists: Sequence[object]) -> None:
    """Raise UsageError unless the lists have equal length; it names the first element without a partner."""
    for number, row in enumerate(zip_longest(*lists.values()), start=1):
        missing = [name for name, one in zip(lists, row) if one is None]
        if missing:
            there = next(name for name in lists if name not in missing)
            sizes = ", ".join(f"{len(one)} in {name}" for name, one in lists.items())
            found = f"element {number} in {there} and none in {missing[0]} ({sizes})"
            raise UsageError(f"found {found}, expected equally many")


def generator_of(seed: object) -> Rng:
    """Return a random generator; the seed is an integer of at least 0."""
    return np.random.default_rng(whole_number(seed, "seed", least=0))


def whole_number(given: object, name: str, *, least: int) -> int:
    """Return an integer, Python's or NumPy's, as int; UsageError when it is too small or no integer."""
    text = f"found {described(given)} as {name}, expected a whole number of at least {least}"
    try:
        number = index(given)  # type: ignore[arg-type]
    except TypeError:
        raise WrongTypeError(text) from None
    if isinstance(given, bool):
        raise WrongTypeError(text)
    if number < least:
        raise UsageError(text)
    return number
