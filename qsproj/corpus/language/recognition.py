"""Identify the language of a text by its most frequent words, to detect wrong language codes."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from qsproj.corpus.files import packaged_rows
from qsproj.corpus.messages import check_type
from qsproj.corpus.unspaced import UNSPACED, UNSPACED_LANGUAGES
from qsproj.errors import DataError, UsageError

# Frequent function words of each language. Related languages share some.
_COMMONEST = {code: words.split() for code, words in packaged_rows(__file__, "commonest-words.tsv")}
_LIKE = {"no": "nb", "bs": "hr"}
_WORD = re.compile(r"[^\W\d_]+")

# Minimum share of words of another language in a text, and minimum ratio to those of the given language, for
# the code to be wrong; the ratio is lower for two swapped codes.
COMMON_ENOUGH, MORE_COMMON, SWAPPED = 0.08, 2.5, 1.5
LEAST_WORDS = 200  # for a decision
LOOKED_AT = 1000  # lines that show the language of a text
_UNSPACED_SHARE = 0.3
OTHER_SCRIPT = "another script"


@dataclass(frozen=True, slots=True)
class Recognised:
    """The evidence for the language of a text."""

    words: int  # number of words
    shares: Mapping[str, float]  # share of words among the most frequent ones of each language
    is_unspaced: bool  # whether its script has no spaces between words

    def other_than(self, code: str) -> str | None:
        """Return the language of the text if it is not that of a code; None if it is, or without evidence."""
        if self.words < LEAST_WORDS:
            return None
        if self.is_unspaced and _THREE_LETTERS.fullmatch(code):
            return None  # a language whose script is not known here
        if self.is_unspaced != (code in UNSPACED_LANGUAGES):
            return OTHER_SCRIPT
        return other_than(code, self.shares)

    def share(self, code: str) -> float | None:
        """Return the share of words among the most frequent of a language, None without a list."""
        return self.shares.get(_LIKE.get(code, code))

    def likely(self) -> dict[str, float]:
        """Return the rounded shares of the likely languages, none without evidence."""
        most = max(self.shares.values())
        if self.words < LEAST_WORDS or most < COMMON_ENOUGH:
            return {}
        return {code: round(share, 3) for code, share in self.shares.items() if MORE_COMMON * share > most}


def other_than(code: str, shares: Mapping[str, float]) -> str | None:
    """Return the language of a text with these shares if it is not that of a code, else None."""
    own = _LIKE.get(code, code)
    if own not in _COMMONEST or not shares:
        return None
    best = max(sorted(shares), key=shares.__getitem__)
    fits = shares[best] < max(COMMON_ENOUGH, MORE_COMMON * shares.get(own, 0.0))
    # Text in another script than the list may be transliterated, or correct as Latin script for Serbian.
    fits = fits or _script(_COMMONEST[own][0][0]) != _script(_COMMONEST[best][0][0])
    return None if fits else best


def recognise(lines: Iterable[str]) -> Recognised:
    """Count the frequent words of a text; lines are read once."""
    counts: Counter[str] = Counter()
    letters = unspaced = 0
    for line in lines:
        words = _WORD.findall(line.lower())
        counts.update(words)
        letters += sum(map(len, words))
        unspaced += sum(map(len, UNSPACED.findall(line)))
    total = counts.total()
    shares = {code: sum(counts[word] for word in words) / max(total, 1) for code, words in _COMMONEST.items()}
    return Recognised(total, shares, unspaced >= _UNSPACED_SHARE * max(letters, 1))


def check_language(path: str, lines: Iterable[str], language: str) -> None:
    """Raise DataError when the commonest words of a text are those of another language."""
    if other := recognise(lines).other_than(language):
        found, expected = f"text in {other}, as its commonest words show", f"{language}, as its code says"
        raise DataError(path, None, found, expected, "name text of the target language")


def are_swapped(sides: tuple[Recognised, Recognised], codes: tuple[str, str]) -> bool:
    """Return whether the two language codes are swapped, judging by the words of the texts."""
    if min(side.words for side in sides) < LEAST_WORDS:
        return False
    unspaced = [code in UNSPACED_LANGUAGES for code in codes]
    if unspaced[0] != unspaced[1]:
        return [side.is_unspaced for side in sides] == unspaced[::-1]
    pairs = [(sides[at].share(code), sides[1 - at].share(code)) for at, code in enumerate(codes)]
    known = [(own, other) for own, other in pairs if own is not None and other is not None]
    ratio = prod(other / max(own, 1e-3) for own, other in known)
    return any(other > COMMON_ENOUGH for _, other in known) and ratio > SWAPPED ** len(known) > 1


def share_in_scripts(text: str, codes: Iterable[str]) -> float:
    """Return the share of letters in the scripts of some languages that have a list."""
    letters = count_scripts([text])
    inside = sum(letters[script] for script in {_script(_COMMONEST[code][0][0]) for code in codes})
    return inside / max(letters.total(), 1)


def commonest_script(lines: Iterable[str]) -> str:
    """Return the script of most letters by its Unicode name, such as LATIN; empty without letters."""
    scripts = count_scripts(lines)
    return max(scripts, key=scripts.__getitem__, default="")


def count_scripts(lines: Iterable[str]) -> Counter[str]:
    """Return the number of letters of each script, by its Unicode name."""
    letters = Counter(character for line in lines for character in line if character.isalpha())
    scripts: Counter[str] = Counter()
    for letter, number in letters.items():
        scripts[_script(letter)] += number
    return scripts


def _script(letter: str) -> str:
    return unicodedata.name(letter, "?").partition(" ")[0]


# The codes of ISO 639-1, as Universal Dependencies has them, and other codes of the same languages.
OTHER_CODES = {other: row[0] for row in packaged_rows(__file__, "codes.tsv") for other in row[1].split()}
_THREE_LETTERS = re.compile("[a-z]{3}")


def check_known_language(language: str) -> None:
    """Raise UsageError unless a code is of ISO 639-1, or has three small letters and no equivalent there."""
    check_type(language, str, 'a code such as "de"', "language")
    if code := OTHER_CODES.get(language):
        raise UsageError(
            f"found language {language!r}, expected {code!r}, its code in Universal Dependencies"
        )
    if language not in OTHER_CODES.values() and not _THREE_LETTERS.fullmatch(language):
        raise UsageError(
            f"found language {language!r}, expected a code of ISO 639: two letters (en, de), or three for "
            "languages without a two-letter code; qaa to qtz for a language without any"
        )
