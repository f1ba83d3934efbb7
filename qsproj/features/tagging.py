"""What the tagger looks at: attributes of word types, and templates that join them in context.

Templates are text, so that a stored model says what it looks at: ``lower-1 & suffix3`` joins the
lower-cased previous word to the last three letters of this one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from qsproj.errors import UsageError, unknown_name
from qsproj.features.hashing import stable_hash

LONGEST_AFFIX = 5
WORD_ATTRIBUTES = (
    "kind",
    "form",
    "lower",
    *(f"prefix{length}" for length in range(1, LONGEST_AFFIX + 1)),
    *(f"suffix{length}" for length in range(1, LONGEST_AFFIX + 1)),
    "shape",
)

WORD_TEMPLATES = (
    *WORD_ATTRIBUTES,
    *("lower-2", "lower-1", "lower+1", "lower+2"),
    *("suffix2-1", "suffix3-1", "suffix2+1", "suffix3+1", "shape-1", "shape+1"),
    # Kind of the word before: a capital after a full stop, a quotation mark or nothing says little.
    "shape & kind-1",
    *("lower-1 & lower", "lower & lower+1", "lower-1 & lower+1", "lower-1 & lower-2", "lower+1 & lower+2"),
    *("lower-1 & suffix3", "lower+1 & suffix3", "suffix3-1 & suffix3", "suffix3 & suffix3+1"),
    *("suffix2 & kind", "suffix3 & kind"),
)

# One copy for each set of word classes, which stands for CLASS.
CLASS_TEMPLATES = (
    *("CLASS", "CLASS-2", "CLASS-1", "CLASS+1", "CLASS+2"),
    *("CLASS-1 & CLASS", "CLASS & CLASS+1", "CLASS-1 & CLASS+1"),
    *("CLASS & shape", "CLASS-1 & suffix3", "CLASS+1 & suffix3"),
)

_ATOM = re.compile(r"(?P<name>[a-z]+[0-9]*)(?P<distance>[-+][0-9]+)?")
_DIGIT = re.compile(r"[0-9]")
_QUOTES = re.compile("[„“”«»‹›]|``|''")
# Past this many types the attributes start afresh: text without end is tagged in bounded memory.
_MOST_TYPES = 1 << 18

Classes = Mapping[str, int]


def templates_with(
    class_sets: Sequence[str], word_templates: tuple[str, ...] = WORD_TEMPLATES
) -> tuple[str, ...]:
    """Return the templates of a tagger that has these sets of word classes."""
    return word_templates + tuple(
        template.replace("CLASS", name) for name in class_sets for template in CLASS_TEMPLATES
    )


def compiled(templates: Sequence[str], class_sets: Sequence[str]) -> NDArray[np.int32]:
    """Return int32[K, 4]: first attribute, its distance, second attribute or -1, its distance.

    Raises UsageError when a template names an attribute that is not known or joins more than two.
    """
    known = [*WORD_ATTRIBUTES, *class_sets]
    rows = []
    for template in templates:
        row = []
        for atom in template.split(" & "):
            match = _ATOM.fullmatch(atom)
            if match is None or match["name"] not in known:
                raise unknown_name("attribute of the tagger", atom, known)
            row += [known.index(match["name"]), int(match["distance"] or 0)]
        if len(row) > 4:
            raise UsageError(f"template {template!r} joins more than two attributes")
        rows.append(row + [-1, 0] * (2 - len(row) // 2))
    return np.array(rows, dtype=np.int32)


class WordTable:
    """Word types seen so far, numbered, and their attributes; grows as words are encoded."""

    def __init__(self, class_sets: Mapping[str, Classes]) -> None:
        """Take the sets of word classes by name; a word is looked up as it is, then lower-cased."""
        self._classes = tuple(class_sets.values())
        self._numbers: dict[str, int] = {}
        self._attributes = np.zeros((1024, len(WORD_ATTRIBUTES) + len(self._classes)), dtype=np.uint64)

    @property
    def attributes(self) -> NDArray[np.uint64]:
        """Attribute codes of the word types, uint64[V', A] with V' >= V; 0 for an attribute a word lacks."""
        return self._attributes

    def encode(self, forms: Sequence[str]) -> NDArray[np.int32]:
        """Return the types of the words, int32[n]; valid until the next call for other words."""
        if len(self._numbers) > _MOST_TYPES:
            self._numbers.clear()
        numbers = self._numbers
        result = np.empty(len(forms), dtype=np.int32)
        for i, form in enumerate(forms):
            number = numbers.get(form)
            result[i] = self._add(form) if number is None else number
        return result

    def _add(self, form: str) -> int:
        number = self._numbers[form] = len(self._numbers)
        if number == len(self._attributes):
            self._attributes = np.vstack([self._attributes, np.zeros_like(self._attributes)])
        codes = [_code(text) for text in word_attributes(form)]
        for classes in self._classes:
            word_class = classes.get(form, classes.get(form.lower()))
            codes.append(0 if word_class is None else word_class + 1)
        self._attributes[number] = np.array(codes, dtype=np.uint64)
        return number


def _code(text: str) -> int:
    return stable_hash(text) | 1 if text else 0


def word_attributes(form: str) -> tuple[str, ...]:
    """Return the text of each of ``WORD_ATTRIBUTES``, empty for an affix longer than the word.

    All but the form see every digit as 0 and every quotation mark as ``"``: treebanks differ in them.
    """
    plain = _QUOTES.sub('"', _DIGIT.sub("0", form))
    lower = plain.lower()
    lengths = range(1, LONGEST_AFFIX + 1)
    return (
        _kind(plain),
        form,
        lower,
        *(lower[:length] if length <= len(lower) else "" for length in lengths),
        *(lower[-length:] if length <= len(lower) else "" for length in lengths),
        _shape(plain),
    )


def _kind(form: str) -> str:
    """Return a coarse sort: the sign itself for punctuation, else digits, capitals, capital or small."""
    if not any(character.isalnum() for character in form):
        return form
    if form[0].isdigit():
        return "0"
    if len(form) > 1 and form.isupper():
        return "XX"
    return "X" if form[0].isupper() else "x"


def _shape(form: str) -> str:
    """Return the word with letters as X and x, other signs by Unicode category, runs cut to two."""
    shape: list[str] = []
    for character in form:
        if character.isalpha():
            sign = "X" if character.isupper() else "x"
        else:
            sign = character if character in "-0" else unicodedata.category(character)
        if shape[-2:] != [sign, sign]:
            shape.append(sign)
    return "".join(shape)
