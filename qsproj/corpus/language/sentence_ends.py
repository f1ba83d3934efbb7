"""Sentence splitting of running text: paragraphs, and rules for languages without a treebank.

Neither a full stop after an abbreviation, initial or short number nor a mark before a small letter ends one.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, groupby, islice, pairwise

from qsproj.corpus.characters import INVISIBLE
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import is_blank, moses_tokenizer
from qsproj.errors import DataError

# Sentence-final marks with closing quotes and brackets: before a space, or anywhere in unspaced scripts.
_CLOSING = f"[\"'”’»›«)\\]}}」』）】{INVISIBLE}]*"
# A run of marks is matched only from its first mark, to avoid quadratic time.
ENDS, UNSPACED_ENDS = ".!?…؟۔।॥։።។", "。！？။"
_OWN_ENDS = {"hy": ":", "hyw": ":", "xcl": ":", "el": ";"}  # the colon is written for the Armenian full stop
_BEFORE_WORD = re.compile(r"""[\s(["'„“«»]""")
_NO_SPACE = re.compile(r"\S")
_LONGEST_ABBREVIATION = 64  # in characters
_SHORT_NUMBER = re.compile(r"\d{1,2}")
# Wrapped lines are full, except the last ones of paragraphs: number of lines checked, their maximum and
# minimum width in characters, and the minimum share of full lines among those followed by another line.
_LOOKED_AT, _WIDEST, _NARROWEST, _FULL = 500, 160, 40, 0.75
_LONGEST_PARAGRAPH = 1 << 20  # of wrapped lines, in characters


def rule_starts(text: str, language: str | None) -> list[int]:
    """Return the starts of sentences by rules in a text with single spaces, 0 first."""
    ends = (found.end() for found in _end_in(language).finditer(text) if _ends(text, found, language))
    return [0, *(end + text.startswith(" ", end) for end in ends)]


def paragraphs(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a text, with single spaces, each with the number of its first line."""
    lines = iter(lines)
    looked_at = list(islice(lines, _LOOKED_AT))
    width = _page_width(looked_at)
    first, parts, length = 0, list[str](), 0
    for number, line in enumerate(chain(looked_at, lines), start=1):
        words = [] if is_blank(line) else line.split()
        if parts and (not words or length > _LONGEST_PARAGRAPH or not _is_full(parts[-1], words[0], width)):
            yield first, " ".join(parts)
            parts, length = [], 0
        if words:
            first = first if parts else number
            parts.append(" ".join(words))
            length += len(parts[-1])
    if parts:
        yield first, " ".join(parts)


def _page_width(lines: Sequence[str]) -> int | None:
    """Return the width in characters at which lines were wrapped, None if they were not."""
    texts = [" ".join(line.split()) for line in lines]
    width = max(map(len, texts), default=0)
    followed = [(one, other.partition(" ")[0]) for one, other in pairwise(texts) if one and other]
    full = sum(_is_full(one, word, width) for one, word in followed)
    is_wrapped = bool(followed) and _NARROWEST <= width <= _WIDEST and full >= _FULL * len(followed)
    return width if is_wrapped else None


def _is_full(line: str, word: str, width: int | None) -> bool:
    return width is not None and len(line) + 1 + len(word) > width


def read_running_text(
    lines: Iterable[str],
    read: Callable[[Iterable[str]], Iterator[Sentence]],
    starts: Callable[[str], Sequence[int]],
) -> Iterator[Sentence]:
    """Yield the sentences of running text, named by their paragraph's line (7.1, 7.2), with ``# newpar``."""
    # Names of the sentences being read, and whether a space follows.
    made = deque[tuple[str, bool]]()
    number = 0

    def sentences() -> Iterator[str]:
        nonlocal number
        for number, text in paragraphs(lines):
            parts = (text[begin:end] for begin, end in pairwise([*starts(text), len(text)]))
            found = [part for part in parts if not is_blank(part)]
            for place, part in enumerate(found, start=1):
                name = str(number) if len(found) == 1 else f"{number}.{place}"
                made.append((name, place == len(found) or part.endswith(" ")))
            # A blank line marks the start of a paragraph.
            yield from ("", *found)

    try:
        for sentence in read(sentences()):
            name, is_followed = made.popleft()
            named = replace(sentence, sent_id=name)
            yield named if is_followed else _without_space_after(named)
    except DataError as error:
        raise error.at(number) from None


def _without_space_after(sentence: Sentence) -> Sentence:
    assert sentence.layout is not None
    lines, last = list(sentence.layout.lines), f"-{len(sentence)}"
    rows = [(at, line) for at, line in enumerate(lines) if not line.startswith("#")]
    tokens = [at for at, line in rows if line.partition("\t")[0].endswith(last)]
    at = tokens[0] if tokens else sentence.layout.word_lines[-1]
    lines[at] = lines[at].rpartition("\t")[0] + "\tSpaceAfter=No"
    return replace(sentence, layout=replace(sentence.layout, lines=tuple(lines)))


@lru_cache(maxsize=8)
def _end_in(language: str | None) -> re.Pattern[str]:
    marks = ENDS + _OWN_ENDS.get(language or "", "")
    return re.compile(rf"(?:(?<![{marks}])[{marks}]++{_CLOSING}+(?=\s))|(?:[{UNSPACED_ENDS}]+{_CLOSING})")


def _ends(line: str, found: re.Match[str], language: str | None) -> bool:
    following = _NO_SPACE.search(line, found.end())
    if following is None or following[0].islower():
        return False
    if found[0][0] == ":" and line[: found.start()][-1:].isdecimal() and following[0].isdecimal():
        return False
    if not found[0].startswith(".") or found[0].startswith(".."):
        return True
    # The word before the full stop, only the end of a long one.
    before = line[max(found.start() - _LONGEST_ABBREVIATION, 0) : found.start()]
    word = _BEFORE_WORD.split(before)[-1]
    initials = len(word) == 1 and word.isalpha() and word.isupper()
    always, before_number = _abbreviations(language or "en")
    if word in before_number and following[0].isdecimal():
        return False
    return not initials and not _SHORT_NUMBER.fullmatch(word) and word not in always


@lru_cache(maxsize=8)
def _abbreviations(language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the abbreviations of a language, and those that are only before numbers: *No. 10*."""
    own = moses_tokenizer(language)
    before_numbers = frozenset(own.NUMERIC_ONLY_PREFIXES)
    return frozenset(own.NONBREAKING_PREFIXES) - before_numbers, before_numbers


def numbered_by_line(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Number the lines of sentences one after the other: blank lines do not count."""
    names = ((sentence, (sentence.sent_id or "").partition(".")) for sentence in sentences)
    for number, (_, of_line) in enumerate(groupby(names, key=lambda named: named[1][0]), start=1):
        for sentence, (_, point, part) in of_line:
            yield replace(sentence, sent_id=f"{number}{point}{part}")
