"""Lines of text that hold more words than a sentence may have: cut where sentences end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from qsproj.conventions import MAX_WORDS
from qsproj.corpus.cells import COLUMN_COUNT, FORM, MISC
from qsproj.corpus.editing import NEW_PARAGRAPH, begins_paragraph, sentence_from_words
from qsproj.corpus.sentence import Layout, Sentence

# What ends a sentence, what may follow before the next one begins, and where else one may be cut.
_ENDS = frozenset({".", "!", "?", "…", "...", "。", "！", "？", "।", "؟", "۔"})
_CLOSING = frozenset({'"', "'", "”", "“", "’", "»", "«", ")", "]", "」", "』"})
_PAUSES = frozenset({";", ":", ",", "；", "：", "，", "、", "،"})

# Is told the number of a line, its words, and how many sentences were made of it.
Tell = Callable[[str, int, int], None]


def cut_long_lines(
    sentences: Iterable[Sentence], *, longest: int = MAX_WORDS, tell: Tell = lambda *_: None
) -> Iterator[Sentence]:
    """Yield sentences of text, those of more than ``longest`` words as several, of that length at most.

    Of *7*, the parts are *7.1*, *7.2* and so on. Where a sentence does not end in time, it is cut behind the
    last pause, or else behind word ``longest``.

    ``sentences``: As :func:`qsproj.corpus.text.read_text` yields them: words without annotation, their layout
    in rows. ``tell``: Is told of each line that was cut.
    """
    for sentence in sentences:
        if len(sentence) <= longest:
            yield sentence
            continue
        bounds = _bounds(sentence, longest)
        tell(sentence.sent_id or "", len(sentence), len(bounds) - 1)
        for number, (begin, end) in enumerate(pairwise(bounds), start=1):
            yield _part(sentence, begin, end, f"{sentence.sent_id}.{number}")


def _bounds(sentence: Sentence, longest: int) -> list[int]:
    """Return where the parts begin, and the number of words: all ends of sentences, and what must be."""
    inner = _inside_of_tokens(sentence)
    bounds = [0]
    for end in [*_sentence_ends(sentence.forms, inner), len(sentence)]:
        while end - bounds[-1] > longest:
            bounds.append(_last_pause(sentence.forms, inner, bounds[-1], bounds[-1] + longest))
        bounds.append(end)
    return bounds


def _sentence_ends(forms: tuple[str, ...], inner: set[int]) -> Iterator[int]:
    """Yield the number of words up to and with the end of each sentence but the last."""
    at = 0
    while at < len(forms):
        ended = forms[at] in _ENDS
        at += 1
        while ended and at < len(forms) and (forms[at] in _ENDS or forms[at] in _CLOSING):
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


def _inside_of_tokens(sentence: Sentence) -> set[int]:
    """Return the words, from 0, that are not the first of their multiword token."""
    inner: set[int] = set()
    for line in sentence.layout.lines if sentence.layout else ():
        first, hyphen, last = line.partition("\t")[0].partition("-")
        if hyphen and first.isdecimal():
            inner.update(range(int(first), int(last)))
    return inner


def _part(sentence: Sentence, begin: int, end: int, name: str) -> Sentence:
    """Return words ``begin`` to ``end`` as a sentence of that name, with their rows."""
    assert sentence.layout is not None
    lines = [NEW_PARAGRAPH] if begin == 0 and begins_paragraph(sentence) else []
    rows: list[list[str]] = []
    word_lines = []
    for line in sentence.layout.lines:
        cells = line.split("\t")
        first, hyphen, last = cells[0].partition("-")
        if len(cells) != COLUMN_COUNT or not begin < int(first) <= end:
            continue
        cells[0] = f"{int(first) - begin}-{int(last) - begin}" if hyphen else str(int(first) - begin)
        if not hyphen:
            word_lines.append(len(lines) + 2 + len(rows))
        rows.append(cells)
    lines += [f"# sent_id = {name}", f"# text = {_text(rows)}", *("\t".join(cells) for cells in rows)]
    plain = sentence_from_words(sentence.forms[begin:end], sent_id=name)
    return replace(plain, layout=Layout(lines=tuple(lines), word_lines=tuple(word_lines)))


def _text(rows: list[list[str]]) -> str:
    """Return what the tokens of some rows spell, spaces where they are."""
    text, covered = "", 0
    for cells in rows:
        _, hyphen, last = cells[0].partition("-")
        if not hyphen and int(cells[0]) <= covered:
            continue
        covered = int(last) if hyphen else covered
        text += cells[FORM] + ("" if cells[MISC] == "SpaceAfter=No" else " ")
    return text.rstrip(" ")
