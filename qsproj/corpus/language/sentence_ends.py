"""Sentence splitting of running text: paragraphs, rules for languages without a treebank, overlong lines.

A full stop after an abbreviation of the language, an initial or a short number does not end a sentence, nor
does any mark before a lower-case letter.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice, pairwise

from qsproj.conventions import MAX_WORDS
from qsproj.corpus.characters import INVISIBLE
from qsproj.corpus.contractions import tokens_of
from qsproj.corpus.editing import begins_paragraph
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import is_blank, sentence_from_tokens
from qsproj.corpus.token import NO_SPACE, multiword_tokens, spelled
from qsproj.errors import DataError

# Sentence-final marks with closing quotes and brackets: before a space, or anywhere in scripts without
# spaces.
_CLOSING = f"[\"'”’»›«)\\]}}」』）】{INVISIBLE}]*"
# A run of marks is matched only from its first mark, to avoid quadratic time.
_END = re.compile(f"(?:(?<![.!?…؟۔।॥])[.!?…؟۔।॥]++{_CLOSING}+(?=\\s))|(?:[。！？]+{_CLOSING})")
_BEFORE_WORD = frozenset("([\"'„“«»")
_SPACE = re.compile(r"\s*")
# Maximum length of an abbreviation.
_LONGEST_ABBREVIATION = 64
_SHORT_NUMBER = re.compile(r"\d{1,2}")
# Wrapped lines are full, except the last ones of paragraphs: number of lines checked, their maximum and
# minimum width in characters, and the minimum share of full lines among those followed by another line.
_LOOKED_AT, _WIDEST, _NARROWEST, _FULL = 500, 160, 40, 0.75
# Maximum length of a paragraph of wrapped lines, in characters.
_LONGEST_PARAGRAPH = 1 << 20


def rule_starts(text: str, language: str | None) -> list[int]:
    """Return the starts of sentences by rules in a text with single spaces, 0 first."""
    ends = (found.end() for found in _END.finditer(text) if _ends(text, found, language))
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
    if not followed or not _NARROWEST <= width <= _WIDEST:
        return None
    full = sum(_is_full(one, word, width) for one, word in followed)
    return width if full >= _FULL * len(followed) else None


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
            parts = [text[begin:end] for begin, end in pairwise([*starts(text), len(text)])]
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
    tokens = [at for at, line in enumerate(lines) if line.partition("\t")[0].endswith(last)]
    at = tokens[0] if tokens else sentence.layout.word_lines[-1]
    lines[at] = lines[at].rpartition("\t")[0] + "\tSpaceAfter=No"
    return replace(sentence, layout=replace(sentence.layout, lines=tuple(lines)))


def _ends(line: str, found: re.Match[str], language: str | None) -> bool:
    following = _SPACE.match(line, found.end())
    assert following is not None
    if following.end() == len(line) or line[following.end()].islower():
        return False
    if not found[0].startswith(".") or found[0].startswith(".."):
        return True
    word = _last_word(line, found.start())
    if _SHORT_NUMBER.fullmatch(word):
        return False
    initials = len(word) == 1 and word.isalpha() and word.isupper()
    return not initials and word not in _abbreviations(language or "en")


def _last_word(line: str, end: int) -> str:
    """Return the word before a position in a line, only the end of a long one."""
    begin = end
    while begin and end - begin < _LONGEST_ABBREVIATION:
        if line[begin - 1].isspace() or line[begin - 1] in _BEFORE_WORD:
            break
        begin -= 1
    return line[begin:end]


@lru_cache(maxsize=8)
def _abbreviations(language: str) -> frozenset[str]:
    from sacremoses import MosesTokenizer

    return frozenset(MosesTokenizer(language).NONBREAKING_PREFIXES)


# Sentence-final marks, marks that may follow them, and pauses within sentences.
_ENDS = frozenset({".", "!", "?", "…", "...", "。", "！", "？", "।", "؟", "۔"})
_QUOTES = frozenset({'"', "'", "”", "“", "’", "»", "«", ")", "]", "」", "』"})
_PAUSES = frozenset({";", ":", ",", "；", "：", "，", "、", "،"})

# Callback with the number of a line, its number of words and its number of sentences.
Notify = Callable[[str, int, int], None]


def numbered_by_line(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Number the lines of sentences one after the other: blank lines do not count."""
    number, line = 0, None
    for sentence in sentences:
        at, point, part = (sentence.sent_id or "").partition(".")
        number += at != line
        line = at
        yield replace(sentence, sent_id=f"{number}{point}{part}")


def cut_long_lines(
    sentences: Iterable[Sentence], *, longest: int = MAX_WORDS, notify: Notify = lambda *_: None
) -> Iterator[Sentence]:
    """Yield sentences without annotation, those of more than ``longest`` words in parts, *7.1*, *7.2* ..."""
    for sentence in sentences:
        if len(sentence) <= longest:
            yield sentence
            continue
        bounds = _bounds(sentence, longest)
        notify(sentence.sent_id or "", len(sentence), len(bounds) - 1)
        for number, (begin, end) in enumerate(pairwise(bounds), start=1):
            yield _part(sentence, begin, end, f"{sentence.sent_id}.{number}")


def _bounds(sentence: Sentence, longest: int) -> list[int]:
    """Return the starts of parts, and the number of words: all sentence ends, and further cuts if needed."""
    # 0-based words that are not the first of their multiword token.
    inner = {word for span in multiword_tokens(sentence) for word in range(span.first, span.last)}
    bounds = [0]
    for end in [*_sentence_ends(sentence.forms, inner), len(sentence)]:
        while end - bounds[-1] > longest:
            bounds.append(_last_pause(sentence.forms, inner, bounds[-1], bounds[-1] + longest))
        bounds.append(end)
    return bounds


def _sentence_ends(forms: tuple[str, ...], inner: set[int]) -> Iterator[int]:
    """Yield the number of words up to the end of each sentence except the last."""
    at = 0
    while at < len(forms):
        ended = forms[at] in _ENDS
        at += 1
        while ended and at < len(forms) and (forms[at] in _ENDS or forms[at] in _QUOTES):
            at += 1
        if ended and at < len(forms) and at not in inner and not forms[at][0].islower():
            yield at


def _last_pause(forms: tuple[str, ...], inner: set[int], begin: int, end: int) -> int:
    for at in range(end, begin, -1):
        if forms[at - 1] in _PAUSES and at not in inner:
            return at
    while end in inner and end > begin + 1:
        end -= 1
    return end


def _part(sentence: Sentence, begin: int, end: int, name: str) -> Sentence:
    """Return words ``begin`` to ``end`` as a sentence with the given name."""
    tokens: list[tuple[str, tuple[str, ...]]] = []
    for first, form, count in tokens_of(sentence):
        words = sentence.forms[max(first - 1, begin) : min(first - 1 + max(count, 1), end)]
        # The rest of a token of more words than a part may have is written as words.
        tokens += [(form, words)] * bool(words) if first > begin else [(word, (word,)) for word in words]
    is_first = begin == 0 and begins_paragraph(sentence)
    text = spelled(sentence, begin + 1, end)
    part = sentence_from_tokens(tokens, text, sent_id=name, begins_paragraph=is_first)
    last = next((span for span in multiword_tokens(sentence) if span.last == end), sentence[end])
    key, value = NO_SPACE
    return _without_space_after(part) if last.misc.get(key) == value else part
