"""Drawings as SVG, alone or in a page of HTML; text measured and escaped."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape as escape_markup

from qsproj.corpus.files import open_output
from qsproj.errors import UsageError

STYLE = """\
svg { background: #fff; font-family: "Helvetica Neue", Arial, "Noto Sans", sans-serif; }
.form { font-size: 15px; fill: #111; }
.tag { font-size: 10px; fill: #767676; }
.label { font-size: 11px; fill: #1a4f8b; }
.behind { fill: #fff; }
.arc path { fill: none; stroke: #5b7fa8; stroke-width: 1.4; }
.arc polygon { fill: #5b7fa8; }
.link { stroke: #c8703a; stroke-width: 1.4; }
.possible { stroke-dasharray: 4 3; }
text { text-anchor: middle; }
"""
_PAGE_STYLE = """\
body { background: #fff; color: #111; margin: 2em; }
body { font-family: "Helvetica Neue", Arial, "Noto Sans", sans-serif; }
h2 { font-size: 1em; font-weight: 600; }
figure { margin: 0 0 2.5em; overflow-x: auto; }
"""

# The class of what holds a drawing where other things are shown, too.
_SCOPE = "qsproj-drawing"

# Characters that XML does not allow, whatever they are escaped as.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW = frozenset("iIjltfr.,:;!|'()[]- ")
_GAP_BETWEEN = 30.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """A piece of SVG with its extent.

    Attributes
    ----------
    title : str
        What it shows, as plain text, for those who cannot see it.
    width, height : float
        Extent in pixels; the origin is the top left corner.
    markup : str
        SVG elements.
    """

    title: str
    width: float
    height: float
    markup: str = field(repr=False)

    @property
    def svg(self) -> str:
        """The drawing as a file of its own."""
        return svg_document([self])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing: an SVG image or an HTML page, by the ending of the name (.svg, .html).

        Raises
        ------
        UsageError
            When the ending is another, or the file cannot be written.
        """
        name = os.fspath(path)
        if not name.endswith((".svg", ".html")):
            raise UsageError(f"{name}: found no format in the name, expected .svg or .html")
        with open_output(name) as handle:
            handle.writelines(
                [self.svg] if name.endswith(".svg") else html_document(self.title, [(self.title, self)])
            )

    def _repr_html_(self) -> str:
        """Show the drawing in a notebook, whose other cells its style leaves alone."""
        style = "".join(f".{_SCOPE} {rule}\n" for rule in STYLE.splitlines())
        return (
            f'<div class="{_SCOPE}" style="overflow-x: auto"><style>\n{style}</style>\n{_element(self)}</div>'
        )


def escape(text: str) -> str:
    """Return text that may stand in an element or in a quoted attribute; what XML forbids becomes U+FFFD."""
    return escape_markup(_FORBIDDEN.sub("\ufffd", text))


def text_width(text: str, size: float) -> float:
    """Estimate the width in pixels of a text in a sans-serif font of ``size`` pixels.

    No font is asked: wide characters of East Asian scripts count one em, marks that combine nothing.
    """
    return size * sum(_ems(character) for character in text)


def svg_document(drawings: Sequence[Drawing]) -> str:
    """Return one SVG file that shows the drawings one below the other."""
    pieces, top = list[str](), 0.0
    for drawing in drawings:
        pieces.append(f'<g transform="translate(0 {top:.1f})">{drawing.markup}</g>')
        top += drawing.height + _GAP_BETWEEN
    whole = Drawing(
        title="; ".join(drawing.title for drawing in drawings),
        width=max((drawing.width for drawing in drawings), default=0.0),
        height=max(top - _GAP_BETWEEN, 0.0),
        markup=f"<style>{STYLE}</style>\n" + "\n".join(pieces),
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{_element(whole)}\n'


def html_document(title: str, drawings: Iterable[tuple[str, Drawing]]) -> Iterator[str]:
    """Yield, piece by piece, an HTML page that needs no other file.

    Parameters
    ----------
    title : str
        That of the page.
    drawings : iterable of (str, Drawing)
        Heading and drawing, consumed one at a time.
    """
    yield f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8"/>\n<title>{escape(title)}</title>\n'
    yield f"<style>\n{_PAGE_STYLE}{STYLE}</style>\n</head>\n<body>\n"
    for heading, drawing in drawings:
        yield f"<h2>{escape(heading)}</h2>\n{figure(drawing)}"
    yield "</body>\n</html>\n"


def figure(drawing: Drawing) -> str:
    """Return a drawing as a figure of an HTML page."""
    return f"<figure>\n{_element(drawing)}\n</figure>\n"


def _element(drawing: Drawing) -> str:
    width, height = f"{drawing.width:.1f}", f"{drawing.height:.1f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><title>{escape(drawing.title)}</title>\n{drawing.markup}</svg>'
    )


def _ems(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if character in _NARROW:
        return 0.34
    return 0.72 if character.isupper() or character in "mw@%" else 0.56
