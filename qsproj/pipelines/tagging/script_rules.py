"""The tags that the script of a word allows: of signs, digits, small letters and foreign letters."""

import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from qsproj.corpus.characters import is_lower_case
from qsproj.corpus.language.recognition import commonest_script, count_scripts
from qsproj.pipelines.tagging.conventions import ORDINALS_IN_DIGITS
from qsproj.pipelines.tagging.options import HALF

LATIN = "LATIN"
WITH_LATIN = ("HIRAGANA", "KATAKANA")  # scripts of texts in which words in Latin letters are not foreign
ADJECTIVE = "ADJ"

_ROMAN = re.compile("[IVXLCDM]+")  # Roman numerals, which are words of any script
# Years, and numbers with an ending: 1945, 3-й, 80-х.
_ORDINAL = re.compile(r"1\d{3}|20\d\d|\d+-?[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class ScriptRules:
    """Rules of one text: which tags a word may have by its script."""

    latin_is_foreign: bool = False  # whether words in Latin letters are X
    of_numbers: frozenset[str] = frozenset()  # tags of numbers in digits, beside NUM: days in Russian are ADJ
    with_ordinals: bool = False  # whether years, and numbers with endings, are ADJ

    @classmethod
    def of(
        cls, vocabulary: Iterable[str], *, language: str | None = None, of_numbers: Iterable[str] = ()
    ) -> "ScriptRules":
        """Return the rules of a text of these types."""
        return cls(has_foreign_latin(vocabulary), frozenset(of_numbers), language in ORDINALS_IN_DIGITS)

    def allowed(self, form: str, tags: Collection[str]) -> frozenset[str]:
        """Return the tags of ``tags`` that the script allows a word; none if the rules exclude them all.

        Words made of signs alone are PUNCT or SYM, and no others are PUNCT; digits with or without signs
        between are numbers. In scripts with capitals, lower-case words are not PROPN.
        """
        categories = {unicodedata.category(character) for character in form}
        if all(category[0] in "PSZ" for category in categories):
            return frozenset({"PUNCT", "SYM"}).intersection(tags)
        if self.with_ordinals and ADJECTIVE in tags and is_ordinal(form):
            return frozenset({ADJECTIVE})
        if is_number(form):
            return (self.of_numbers | {"NUM"}).intersection(tags)
        is_latin = self.latin_is_foreign and commonest_script([form]) == LATIN
        if is_latin and "X" in tags and not _ROMAN.fullmatch(form):
            return frozenset({"X"})
        others = frozenset(tags) - {"PUNCT"}
        return others - {"PROPN"} if is_lower_case(form) else others


def has_foreign_latin(vocabulary: Iterable[str]) -> bool:
    """Return whether words in Latin letters are foreign in a text of these types: if they are a minority.

    In treebanks of Chinese, Greek, Russian and Ukrainian 97% of them are X, in Japanese ones none.
    """
    letters = count_scripts(vocabulary)
    few = letters[LATIN] < HALF * (letters.total() - letters[LATIN])
    return few and not any(letters[script] for script in WITH_LATIN)


def is_number(form: str) -> bool:
    """Return whether a word is a number in digits: 20, 1,5 and 10:30. 20. may be an ordinal."""
    return form[-1].isdecimal() and all(unicodedata.category(c)[0] == "P" or c.isdecimal() for c in form)


def is_ordinal(form: str) -> bool:
    return _ORDINAL.fullmatch(form) is not None
