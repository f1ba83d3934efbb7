"""Drawings as SVG, alone or several with a legend, and their output as SVG, PNG, PDF and HTML files.

A page has filters, and describes an arc on hovering. It needs no other file and no network. Its first
sentences are plain SVG; others are compressed to a sixth (deflate, base64), and unpacked by its script.
"""

import base64
import os
import re
import unicodedata
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from html import escape as escape_markup
from importlib.resources import files
from itertools import islice, starmap
from typing import Any

from qsproj.corpus.files import open_binary_output, open_output
from qsproj.corpus.messages import check_type
from qsproj.errors import UsageError, check_name, optional_package, pluralise


def asset(name: str) -> str:
    return (files("qsproj.viz") / "assets" / name).read_text(encoding="utf-8")


STYLE = asset("drawing.css")

# Font sizes of the style sheet.
FORM_SIZE, TAG_SIZE, LABEL_SIZE, NOTE_SIZE = 15.0, 10.0, 11.0, 11.0

# Characters that XML does not allow, even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW = frozenset("iIjltfr.,:;!|'()[]- ")

_LINE = '<path d="M0 0H40"/>'
_FAINT = "fainter: less probable; below 90% the number stands beside the relation"
_BELOW = "below the words: an enhanced dependency that the tree does not have"


class Mark(Enum):
    """A drawing convention, with the samples and explanations in the legend."""

    PROBABILITY = ((f'<g class="arc" opacity="0.4">{_LINE}</g>', _FAINT),)
    VERSUS = (
        (f'<g class="arc differs">{_LINE}</g>', "above the words: an arc that the other tree does not have"),
        (f'<g class="arc other">{_LINE}</g>', "below the words: the arc of the other tree"),
    )
    ENHANCED = ((f'<g class="arc enhanced">{_LINE}</g>', _BELOW),)
    LINK = (('<line class="link" x2="40"/>', "words linked with each other"),)
    POSSIBLE = (('<line class="link possible" x2="40"/>', "a link that is only possible"),)
    LINK_PROBABILITY = (('<line class="link" opacity="0.4" x2="40"/>', "fainter: a less probable link"),)


def escape(text: str) -> str:
    """Escape text for an element or a quoted attribute; characters that XML forbids become U+FFFD."""
    return escape_markup(_FORBIDDEN.sub("\ufffd", text))


def text_width(text: str, size: float) -> float:
    """Estimate the width in pixels of a text in a sans-serif font of ``size`` pixels, without a font."""
    return size * sum(_ems(character) for character in text)


def _ems(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if character in _NARROW:
        return 0.34
    return 0.72 if character.isupper() or character in "mw@%" else 0.56


FORMATS = ("html", "svg", "png", "pdf")
_DOTS_PER_INCH = 192.0  # two dots per pixel of the drawing, at 96 pixels per inch
_TALLEST = 16_000.0  # image viewers fail above this height, in pixels of the drawing
PLAIN, PACKED = 20, 250  # sentences as plain SVG; sentences per compressed block
_SCOPE = "qsproj-drawing"  # CSS class of a drawing's container in a notebook
_GAP_BETWEEN = 30.0
_LEGEND_MARGIN, _LEGEND_TEXT, _LEGEND_ROW = 12, 52, 18


@dataclass(frozen=True, slots=True)
class Drawing:
    """A piece of SVG with its size."""

    title: str  # a description in plain text, for screen readers
    width: float  # size in pixels; the origin is the top left corner
    height: float
    markup: str = field(repr=False)  # SVG elements
    marks: frozenset[Mark] = frozenset()  # the marks to explain in a legend

    @property
    def svg(self) -> str:
        return svg_document([self])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a .svg, .png, .pdf or .html file; UsageError for others, or without their converter."""
        check_type(path, str | os.PathLike, "a path")
        save_drawings(path, format_of(os.fspath(path)), self.title, [(self.title, self)])

    def _repr_html_(self) -> str:
        style = "".join(f".{_SCOPE} {rule}\n" for rule in STYLE.splitlines())
        opened = f'<div class="{_SCOPE}" style="overflow-x: auto"><style>'
        return f"{opened}\n{style}</style>\n{svg_element(self)}</div>"


def svg_document(drawings: Sequence[Drawing]) -> str:
    marks = {mark for drawing in drawings for mark in drawing.marks}
    shown = [*drawings, *([legend(marks)] if marks else [])]
    pieces, top = list[str](), 0.0
    for drawing in shown:
        pieces.append(f'<g transform="translate(0 {top:.1f})">{drawing.markup}</g>')
        top += drawing.height + _GAP_BETWEEN
    title = "; ".join(drawing.title for drawing in drawings)
    width = max((drawing.width for drawing in shown), default=0.0)
    markup = f"<style>{STYLE}</style>\n" + "\n".join(pieces)
    whole = Drawing(title, width, max(top - _GAP_BETWEEN, 0.0), markup)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{svg_element(whole)}\n'


def legend(marks: Collection[Mark]) -> Drawing:
    rows = [row for mark in Mark if mark in marks for row in mark.value]
    pieces = [
        f'<g transform="translate({_LEGEND_MARGIN} {_LEGEND_ROW * number + 12})">{sample}'
        f'<text class="note" x="{_LEGEND_TEXT}" y="4">{escape(text)}</text></g>\n'
        for number, (sample, text) in enumerate(rows)
    ]
    widest = max((text_width(text, NOTE_SIZE) for _, text in rows), default=0.0)
    # Some systems have wider fonts.
    width = 2 * _LEGEND_MARGIN + _LEGEND_TEXT + 1.15 * widest
    return Drawing("Legend", width, _LEGEND_ROW * len(rows) + 6.0, "".join(pieces))


def figure(drawing: Drawing) -> str:
    """Return a drawing as a figure of an HTML page; wide ones can also be scrolled by keyboard."""
    return f'<figure tabindex="0">\n{svg_element(drawing)}\n</figure>\n'


def svg_element(drawing: Drawing) -> str:
    width, height = f"{drawing.width:.1f}", f"{drawing.height:.1f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><title>{escape(drawing.title)}</title>\n{drawing.markup}</svg>'
    )


def opening(title: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        f'<title>{escape(title)}</title>\n<meta name="viewport" content="width=device-width"/>\n'
    )


def html_document(
    title: str, drawings: Iterable[tuple[str, Drawing]], *, about: str = "", fit: bool = False
) -> Iterator[str]:
    """Yield a page of drawings; ``fit``: its script breaks lines of single trees at the window's width."""
    yield opening(title)
    yield f"<style>\n{STYLE}{asset('browse.css')}</style>\n</head>\n<body>\n"
    yield f"<header>\n<h1>{escape(title)}</h1>\n"
    described = f"<p>{escape(about)}</p>\n" if about else ""
    yield f"{described}{asset('filter.html')}</header>\n<main{' data-fit' if fit else ''}>\n"
    marks = set[Mark]()

    def article(heading: str, drawing: Drawing) -> str:
        marks.update(drawing.marks)
        return f'<article>\n<h2 dir="auto">{escape(heading)}</h2>\n{figure(drawing)}</article>\n'

    articles = starmap(article, drawings)
    yield from islice(articles, PLAIN)
    while block := "".join(islice(articles, PACKED)):
        packed = base64.b64encode(zlib.compress(block.encode(), 9)).decode()
        yield f'<script type="text/plain" class="packed">{packed}</script>\n'
    yield f"<noscript><p>Without JavaScript the first {PLAIN} sentences are shown.</p></noscript>\n</main>\n"
    if marks:
        yield f"<footer>\n{figure(legend(marks))}</footer>\n"
    scripts = f"{asset('fit.js') if fit else ''}{asset('browse.js')}"
    yield f"<script>\n{scripts}</script>\n</body>\n</html>\n"


def format_of(path: str) -> str:
    """Return the format for a file extension; ``-``, the standard output, is HTML."""
    _, dot, kind = path.removesuffix(".gz").rpartition(".")
    if path == "-" or dot + kind == ".htm":
        return "html"
    if dot and kind in FORMATS:
        return kind
    *others, last = [f".{known}" for known in FORMATS]
    raise UsageError(f"{path}: found no format in the name, expected {', '.join(others)} or {last}")


def check_format(name: str, path: str) -> None:
    check_name("format", name, FORMATS)
    if name in ("png", "pdf"):
        if path == "-":
            raise UsageError(f"{name} is not written to standard output; give -o FILE.{name}")
        _converter()


def save_drawings(
    path: str | os.PathLike[str],
    format_name: str,
    title: str,
    drawings: Iterable[tuple[str, Drawing]],
    *,
    about: str = "",
    fit: bool = False,
) -> None:
    """Write drawings with their headings: HTML streamed, SVG and PNG as one image, PDF with a page each."""
    name = os.fspath(path)
    if format_name == "html":
        with open_output(name) as handle:
            handle.writelines(html_document(title, drawings, about=about, fit=fit))
        return
    shown = [drawing for _, drawing in drawings]
    if format_name == "svg":
        with open_output(name) as handle:
            handle.write(svg_document(shown))
        return
    images = [svg_document(shown)] if format_name == "png" else [svg_document([one]) for one in shown]
    height = sum(drawing.height for drawing in shown)
    if format_name == "png" and height > _TALLEST:
        raise UsageError(
            f"{name}: found {pluralise(len(shown), 'drawing')}, {height:,.0f} pixels tall, expected at most "
            f"{_TALLEST:,.0f}; choose some (--sentence), or write .pdf, a page for each"
        )
    with open_binary_output(name) as binary:
        pages = "\n#pagebreak()\n".join(f'#image("{number}.svg")' for number in range(len(images)))
        files = {"main": f"#set page(width: auto, height: auto, margin: 0pt)\n{pages}\n".encode()}
        files |= {f"{number}.svg": image.encode() for number, image in enumerate(images)}
        # No timestamp in the file: the same drawings give the same bytes.
        resolution = {"ppi": _DOTS_PER_INCH} if format_name == "png" else {}
        binary.write(_converter().compile(files, format=format_name, timestamp=0, **resolution))


def _converter() -> Any:
    remedy = "install it: pip install 'qsproj[images]', or write .svg"
    return optional_package("typst", f"found no converter for .png and .pdf; {remedy}")
