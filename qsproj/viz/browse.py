"""A page of drawn sentences to look through: filters, and what an arc is when it is pointed at.

The page needs no other file and no network. The first sentences are plain SVG; further ones are packed
(deflate, base64), in a sixth of the room, and unpacked by the page's script.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator
from importlib.resources import files
from itertools import islice

from qsproj.viz.markup import STYLE, Drawing, Mark, escape, figure, legend

# Sentences that are shown without a script, too; and how many are packed together.
PLAIN, PACKED = 20, 250

_FILTER = """\
<form hidden>
<label>Sentence <input type="search" name="text" placeholder="words or name"/></label>
<label>Relation <input type="search" name="relation" list="relations"/></label>
<datalist id="relations"></datalist>
<label>Less probable than <input type="number" name="below" min="0" max="1" step="0.05"/></label>
<output></output>
</form>
"""
_WITHOUT_SCRIPT = f"<noscript><p>Without JavaScript the first {PLAIN} sentences are shown.</p></noscript>\n"


def html_document(title: str, drawings: Iterable[tuple[str, Drawing]], *, about: str = "") -> Iterator[str]:
    """Yield the page, piece by piece; no text in it is ever markup.

    Parameters
    ----------
    title : str
        That of the page.
    drawings : iterable of (str, Drawing)
        Heading and drawing, consumed one at a time.
    about : str
        A line on what is shown; empty for none.
    """
    yield f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8"/>\n<title>{escape(title)}</title>\n'
    yield '<meta name="viewport" content="width=device-width"/>\n'
    yield f"<style>\n{STYLE}{_asset('browse.css')}</style>\n</head>\n<body>\n"
    yield f"<header>\n<h1>{escape(title)}</h1>\n"
    if about:
        yield f"<p>{escape(about)}</p>\n"
    yield f"{_FILTER}</header>\n<main>\n"
    marks = set[Mark]()
    articles = _articles(drawings, marks)
    yield from islice(articles, PLAIN)
    while block := "".join(islice(articles, PACKED)):
        packed = base64.b64encode(zlib.compress(block.encode(), 9)).decode()
        yield f'<script type="text/plain" class="packed">{packed}</script>\n'
    yield f"{_WITHOUT_SCRIPT}</main>\n"
    if marks:
        yield f"<footer>\n{figure(legend(marks))}</footer>\n"
    yield f"<script>\n{_asset('browse.js')}</script>\n</body>\n</html>\n"


def _articles(drawings: Iterable[tuple[str, Drawing]], marks: set[Mark]) -> Iterator[str]:
    """Yield each drawing under its heading, and add what it needs explained to ``marks`` (mutated)."""
    for heading, drawing in drawings:
        marks |= drawing.marks
        yield f'<article>\n<h2 dir="auto">{escape(heading)}</h2>\n{figure(drawing)}</article>\n'


def _asset(name: str) -> str:
    return (files("qsproj.viz") / "assets" / name).read_text(encoding="utf-8")
