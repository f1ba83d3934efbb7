"""Tokens that are whole in any language: addresses of pages and of mail, character escapes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

# No character of these ends an address: closing marks of quotation and brackets, full stops of other scripts,
# letters of scripts that put no space before and after it.
_IN_ADDRESS = (
    r"[^\s<>\"“”„‘’«»、。，；：！？（）「」【】\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff]"
)
_PAGE = rf"(?:(?:https?|ftp)://|www\.(?=\w)){_IN_ADDRESS}+"
# Without a scheme only where a path follows: and.or/else is none.
_BARE_PAGE = rf"(?:[A-Za-z0-9-]{{1,63}}\.){{1,9}}(?:com|org|net|edu|gov|info|int|eu)/{_IN_ADDRESS}*"
_MAIL = r"[A-Za-z0-9_.+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
_ADDRESS = re.compile(rf"(?<![A-Za-z0-9@])(?:{_PAGE}|{_BARE_PAGE}|{_MAIL})")
# What ends a sentence or a clause ends it behind an address, too.
_BEHIND = ".,;:!?'*_~|…"
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_BRACKET_MARKS = frozenset("()[]{}")
_ESCAPE = re.compile(r"&(?:[A-Za-z]{2,6}|#[0-9]{2,6}|#[xX][0-9A-Fa-f]{2,5});")

# Stands for a whole token while rules cut around it: they take it for a word and leave it alone.
_STAND_IN = "QSPROJWHOLETOKEN"


def whole_tokens(text: str) -> list[tuple[int, int]]:
    """Return where whole tokens begin and end in a text, in order; they do not overlap.

    *https://a.org/b?c=d*, *www.a.org*, *a.org/b*, *me@a.org* and *&lt;* are, without the punctuation that
    follows them.
    """
    if not any(mark in text for mark in ("@", "/", "www.", "&")):
        return []
    found = [(match.start(), match.start() + _length(match[0])) for match in _ADDRESS.finditer(text)]
    escapes = [match.span() for match in _ESCAPE.finditer(text)]
    spans, inside_until = list[tuple[int, int]](), 0
    # Sorted, so that one look at the last address tells whether an escape is part of one.
    for begin, end in sorted([*found, *escapes]):
        if begin >= inside_until:
            spans.append((begin, end))
            inside_until = end
    return spans


def cut_around(text: str, cut: Callable[[str], list[str]]) -> list[str]:
    """Return the tokens that ``cut`` makes of a text, those that are whole in one piece."""
    spans = whole_tokens(text)
    if not spans or _STAND_IN in text:
        return cut(text)
    parts, at = [], 0
    for begin, end in spans:
        # An escape stands for a character that is no letter, and parts the words beside it.
        stand_in = f" {_STAND_IN} " if text[begin] == "&" else _STAND_IN
        parts += [text[at:begin], stand_in]
        at = end
    whole = iter([text[begin:end] for begin, end in spans])
    tokens = cut("".join([*parts, text[at:]]))
    return [re.sub(_STAND_IN, lambda _: next(whole), token) for token in tokens]


def _length(address: str) -> int:
    """Return the length of an address without what stands behind it."""
    end = len(address)
    counts = Counter(mark for mark in address if mark in _BRACKET_MARKS)
    while end:
        last = address[end - 1]
        opening = _BRACKETS.get(last)
        unopened = opening is not None and counts[last] > counts[opening]
        if last not in _BEHIND and not unopened:
            break
        # The counts are those of what is before ``end``.
        counts[last] -= 1
        end -= 1
    return end
