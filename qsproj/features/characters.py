"""Features of the tokeniser: attributes of the characters of a line, and templates that join them."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from qsproj.conventions import Hashes
from qsproj.features.hashing import pair_templates, stable_hash

Codes = Hashes

# Attributes of a character. A run is a sequence of letters and digits between spaces or signs.
CHARACTER_ATTRIBUTES = (
    *("character", "lower", "kind", "class"),
    *("two", "three", "four", "kinds3", "kinds5", "classes3"),
    *("rule", "place", "run", "start", "rest", "chunk"),
    *("ends", "begins"),
)
TEMPLATES = (
    *("character-2", "character-1", "character", "character+1", "character+2"),
    *("two-2", "two-1", "two", "two+1", "three-2", "three-1", "three", "four-2", "four-1"),
    *("lower-1", "lower", "lower+1", "kind-1", "kind", "kind+1", "kinds3-1", "kinds5-2"),
    *("rule", "rule-1", "rule+1", "rule & kinds3-1", "rule & character", "rule & character-1"),
    *("rule & lower", "rule & two-1", "rule & run"),
    *("classes3-1", "classes3-2", "classes3", "character & classes3-1", "character-1 & classes3-2"),
    *("place", "place & run", "run", "start", "rest", "place & rest", "start & rest"),
    *("chunk", "place & chunk"),
    *("ends-1", "begins", "ends-1 & begins", "ends-1 & kinds3-1"),
)
COMPILED_TEMPLATES = pair_templates(TEMPLATES, CHARACTER_ATTRIBUTES)
_RUN = re.compile(r"[^\W_]+")
_MIX, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
# Maximum length of text between spaces, and of words looked up in the vocabulary of the treebank.
LONGEST_CHUNK, LONGEST_KNOWN = 30, 8


def character_attributes(text: str, rules: Sequence[bool] | None, known: frozenset[str]) -> Codes:
    """Return the attributes of each character of a line, uint64[n, A]; 0 for a missing one."""
    codes = np.zeros((len(text), len(CHARACTER_ATTRIBUTES)), dtype=np.uint64)
    columns = {name: codes[:, at] for at, name in enumerate(CHARACTER_ATTRIBUTES)}
    characters = np.array([ord(_digits(character)) for character in text], dtype=np.uint64)
    columns["character"][:] = mixed(characters)
    columns["lower"][:] = [code_of("lower", _digits(character).lower()) for character in text]
    columns["kind"][:] = [code_of("kind", _kind(character)) for character in text]
    if known:
        _add_known(columns, text, known)
    else:
        # Letters of any case and script are one class, so that three hyphens between letters generalise.
        columns["class"][:] = [code_of("class", unicodedata.category(character)[0]) for character in text]
        columns["classes3"][:] = _grams(columns["class"], 3)
    grams = ("two", "lower", 2), ("three", "lower", 3), ("four", "lower", 4)
    for name, base, size in (*grams, ("kinds3", "kind", 3), ("kinds5", "kind", 5)):
        columns[name][:] = _grams(columns[base], size)
    if rules is not None:
        columns["rule"][:] = [code_of("rule", str(rule)) for rule in rules]
    _add_runs(columns, text)
    return codes


def _add_runs(columns: dict[str, Codes], text: str) -> None:
    for match in _RUN.finditer(text):
        run, begin = match[0].lower(), match.start()
        whole = code_of("run", run)
        for at in range(len(run) if len(run) == len(match[0]) else 0):
            columns["place"][begin + at] = code_of("place", "first" if at == 0 else "later")
            columns["run"][begin + at] = whole
            columns["start"][begin + at] = code_of("start", run[max(0, at - 6) : at])
            columns["rest"][begin + at] = code_of("rest", run[at : at + 8])
    for match in re.finditer(r"[^ ]+", text):
        chunk = match[0][:LONGEST_CHUNK].lower()
        for at in range(match.start(), match.end()):
            columns["chunk"][at] = code_of("chunk", f"{chunk}{at - match.start()}")


def _add_known(columns: dict[str, Codes], text: str, known: frozenset[str]) -> None:
    ends, begins = [0] * len(text), [0] * len(text)
    for begin in range(len(text)):
        for length in range(min(LONGEST_KNOWN, len(text) - begin), 0, -1):
            if text[begin : begin + length] in known:
                begins[begin] = max(begins[begin], length)
                ends[begin + length - 1] = max(ends[begin + length - 1], length)
    columns["ends"][:] = [code_of("ends", str(length)) for length in ends]
    columns["begins"][:] = [code_of("begins", str(length)) for length in begins]


def _grams(codes: Codes, size: int) -> Codes:
    return joined(codes, codes, range(1, size))


def joined(first: Codes, codes: Codes, distances: range) -> Codes:
    """Hash each of the codes ``first`` together with the codes at some distances from it, 0 where missing."""
    for distance in distances:
        first = mixed(first * np.uint64(3) + shifted(codes, distance))
    return first


def shifted(codes: Codes, distance: int) -> Codes:
    moved = np.zeros_like(codes)
    if distance < 0:
        moved[-distance:] = codes[:distance]
    else:
        moved[: max(len(codes) - distance, 0)] = codes[distance:]
    return moved


def mixed(codes: Codes) -> Codes:
    """Map codes one-to-one to other codes, never 0."""
    product: Codes = (codes + np.uint64(1)) * _MIX
    return (product ^ (product >> _SHIFT)) | np.uint64(1)


def _digits(character: str) -> str:
    return "0" if character.isdigit() else character


@lru_cache(maxsize=1 << 16)
def code_of(name: str, text: str) -> int:
    """Return the code, never 0, of a text as the value of the attribute ``name``."""
    return stable_hash(f"{name}\t{text}") | 1


@lru_cache(maxsize=1 << 14)
def _kind(character: str) -> str:
    category = unicodedata.category(character)
    if category.startswith("L"):
        script = unicodedata.name(character, "?").split(" ")[0]
        return f"{category}{script}" if script not in ("LATIN", "CYRILLIC", "GREEK") else category
    return category
