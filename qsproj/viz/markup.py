"""Drawings as SVG, alone or one below the other with a legend; text measured and escaped."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum
from html import escape as escape_markup

STYLE = """\
svg { background: #fff; font-family: "Helvetica Neue", Arial, "Noto Sans", sans-serif; }
.form { font-size: 15px; fill: #111; }
.tag { font-size: 10px; fill: #767676; }
.label { font-size: 11px; fill: #1a4f8b; }
.behind { fill: #fff; }
.unsure { font-size: 10px; fill: #8a4b00; }
.arc path { fill: none; stroke: #5b7fa8; stroke-width: 1.4; }
.arc .tip { fill: #5b7fa8; stroke: none; }
.differs path { stroke: #b3261e; stroke-width: 2.2; }
.differs .tip { fill: #b3261e; }
.differs .label { fill: #b3261e; font-weight: 600; }
.other path { stroke: #1b7340; stroke-width: 2.2; stroke-dasharray: 6 3; }
.other .tip { fill: #1b7340; }
.other .label { fill: #1b7340; font-weight: 600; }
.link { stroke: #c8703a; stroke-width: 1.4; }
.possible { stroke-dasharray: 4 3; }
text { text-anchor: middle; }
.note { font-size: 11px; fill: #555; text-anchor: start; }
"""

# Sizes of the text, as the style sheet has them.
FORM_SIZE, TAG_SIZE, LABEL_SIZE, NOTE_SIZE = 15.0, 10.0, 11.0, 11.0

# The class of what holds a drawing where other things are shown, too.
_SCOPE = "qsproj-drawing"

# Characters that XML does not allow, whatever they are escaped as.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW = frozenset("iIjltfr.,:;!|'()[]- ")
_GAP_BETWEEN = 30.0
_LEGEND_MARGIN, _LEGEND_TEXT, _LEGEND_ROW = 12, 52, 18


class Mark(Enum):
    """A way to draw that a legend explains."""

    PROBABILITY = "probability"
    VERSUS = "versus"
    LINK = "link"
    POSSIBLE = "possible link"
    LINK_PROBABILITY = "probability of a link"


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
    marks : frozenset of Mark
        What a legend has to explain.
    """

    title: str
    width: float
    height: float
    markup: str = field(repr=False)
    marks: frozenset[Mark] = frozenset()

    @property
    def svg(self) -> str:
        """The drawing as a file of its own."""
        return svg_document([self])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing in the format that the name says: .svg, .png, .pdf or .html.

        Raises
        ------
        UsageError
            When the name ends otherwise, the file cannot be written, or .png and .pdf cannot be made here.
        """
        # What saves draws upon this module.
        from qsproj.viz.saving import format_of, save_drawings

        save_drawings(path, format_of(os.fspath(path)), self.title, [(self.title, self)])

    def _repr_html_(self) -> str:
        """Show the drawing in a notebook, whose other cells its style leaves alone."""
        style = "".join(f".{_SCOPE} {rule}\n" for rule in STYLE.splitlines())
        return (
            f'<div class="{_SCOPE}" style="overflow-x: auto"><style>\n{style}</style>\n'
            f"{svg_element(self)}</div>"
        )


# What each mark looks like, and what it means.
_LINE = '<path d="M0 0H40"/>'
_SAMPLES: dict[Mark, tuple[tuple[str, str], ...]] = {
    Mark.PROBABILITY: (
        (
            f'<g class="arc" opacity="0.4">{_LINE}</g>',
            "fainter: less probable; below 90% the number stands beside the relation",
        ),
    ),
    Mark.VERSUS: (
        (f'<g class="arc differs">{_LINE}</g>', "above the words: an arc that the other tree does not have"),
        (f'<g class="arc other">{_LINE}</g>', "below the words: what the other tree has instead"),
    ),
    Mark.LINK: (('<line class="link" x2="40"/>', "words linked with each other"),),
    Mark.POSSIBLE: (('<line class="link possible" x2="40"/>', "a link that is only possible"),),
    Mark.LINK_PROBABILITY: (('<line class="link" opacity="0.4" x2="40"/>', "fainter: a less probable link"),),
}


def escape(text: str) -> str:
    """Return text that may stand in an element or in a quoted attribute; what XML forbids becomes U+FFFD."""
    return escape_markup(_FORBIDDEN.sub("\ufffd", text))


def text_width(text: str, size: float) -> float:
    """Estimate the width in pixels of a text in a sans-serif font of ``size`` pixels.

    No font is asked: wide characters of East Asian scripts count one em, marks that combine nothing.
    """
    return size * sum(_ems(character) for character in text)


def svg_document(drawings: Sequence[Drawing]) -> str:
    """Return one SVG file that shows the drawings one below the other, and a legend of what needs one."""
    shown = list(drawings)
    marks = {mark for drawing in drawings for mark in drawing.marks}
    if marks:
        shown.append(legend(marks))
    pieces, top = list[str](), 0.0
    for drawing in shown:
        pieces.append(f'<g transform="translate(0 {top:.1f})">{drawing.markup}</g>')
        top += drawing.height + _GAP_BETWEEN
    whole = Drawing(
        title="; ".join(drawing.title for drawing in drawings),
        width=max((drawing.width for drawing in shown), default=0.0),
        height=max(top - _GAP_BETWEEN, 0.0),
        markup=f"<style>{STYLE}</style>\n" + "\n".join(pieces),
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{svg_element(whole)}\n'


def legend(marks: Collection[Mark]) -> Drawing:
    """Draw what marks mean, one below the other."""
    rows = [row for mark in Mark if mark in marks for row in _SAMPLES[mark]]
    pieces = [
        f'<g transform="translate({_LEGEND_MARGIN} {_LEGEND_ROW * number + 12})">{sample}'
        f'<text class="note" x="{_LEGEND_TEXT}" y="4">{escape(text)}</text></g>\n'
        for number, (sample, text) in enumerate(rows)
    ]
    widest = max((text_width(text, NOTE_SIZE) for _, text in rows), default=0.0)
    width = 2 * _LEGEND_MARGIN + _LEGEND_TEXT + widest
    return Drawing("Legend", width, _LEGEND_ROW * len(rows) + 6.0, "".join(pieces))


def figure(drawing: Drawing) -> str:
    """Return a drawing as a figure of an HTML page."""
    return f"<figure>\n{svg_element(drawing)}\n</figure>\n"


def svg_element(drawing: Drawing) -> str:
    """Return a drawing as an element of a page or a file that has its style."""
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
