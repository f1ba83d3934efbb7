"""Scripts without spaces between words: their letters and languages, and whether a text has spaces there."""

import re
from collections.abc import Iterable
from itertools import pairwise

from qsproj.errors import DataError
from qsproj.progress import notice

# Letters of scripts without spaces between words: kana and Han, Thai, Lao, Tibetan, Burmese, Khmer.
UNSPACED = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u0e00-\u0f0c\u0f18-\u0fff\u1000-\u109f\u1780-\u17ff]+"
)
UNSPACED_LANGUAGES = frozenset(
    "zh yue wuu nan hak gan hsn lzh ja th tts nod lo bo dz my shn mnw km".split()  # noqa: SIM905
)
# Maximum length of words in such letters, except rare names; and in a line without spaces of such a language.
_LONGEST_WORD, _LONGEST_LINE = 15, 5
# Words are separated below this mean of letters between spaces: Chinese words have 1.7, clauses 9 to 13.
_PARTED = 7.0
# A line has spaces between words with this many gaps between chunks of fewer letters, on the mean. Words of
# Chinese and Japanese are shorter, and phrases are as long as words of letters.
_FEWEST_GAPS, _LONGEST_CHUNK = 3, 3.5
_SYLLABLES = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_ZERO_WIDTH_SPACE = "\u200b"  # separates words in Thai, Lao, Khmer and Burmese


def check_has_spaces(line: str, language: str | None, *, name: str, number: int) -> None:
    """Raise DataError for a line without spaces between words; ``number``: its line number.

    In a language that has them, a first line wholly in such a script is one; other text in it is reported.
    """
    longest = max(map(len, UNSPACED.findall(line)), default=0)
    has_others = number > 1 or any(map(str.isalpha, UNSPACED.sub("", line)))
    without_space = language in UNSPACED_LANGUAGES and len(with_spaces(line).split()) == 1
    if (without_space and longest > _LONGEST_LINE) or (longest > _LONGEST_WORD and not are_parted([line])):
        if language is not None and language not in UNSPACED_LANGUAGES and has_others:
            notice(f"{name}: words of scripts without spaces between them are not found")
            return
        found = f"{longest} letters without a space, in a script without spaces between words"
        remedy = "train the tagger on a treebank with SpaceAfter=No in MISC, which show word boundaries"
        raise DataError(name, number, found, "words", f"{remedy}; or put spaces between them")


def with_spaces(line: str) -> str:
    """Return a line with a space for each zero-width one."""
    return line.replace(_ZERO_WIDTH_SPACE, " ")


def are_parted(lines: Iterable[str]) -> bool:
    """Return whether words are separated by spaces in lines of a script without spaces."""
    stretches = [len(stretch) for line in lines for stretch in UNSPACED.findall(line)]
    return sum(stretches) < _PARTED * len(stretches)


def has_words_apart(line: str) -> bool:
    """Return whether a line of a script without spaces has them between words: chunks of a few letters.

    Spaces around other letters and digits are no evidence, nor are a few.
    """
    words = (chunk for chunk in line.split() if any(map(str.isalnum, chunk)))
    chunks = [sum(map(len, UNSPACED.findall(word))) for word in words]
    gaps = sum(before > 0 and size > 0 for before, size in pairwise(chunks))
    longest = _LONGEST_CHUNK if _SYLLABLES.search(line) else _PARTED
    return gaps >= _FEWEST_GAPS and sum(chunks) < longest * sum(size > 0 for size in chunks)
