"""Styles of drawings, marks that a legend explains, text measured and escaped."""

import re
import unicodedata
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

# Characters that XML does not allow, whatever they are escaped as.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW = frozenset("iIjltfr.,:;!|'()[]- ")


class Mark(Enum):
    """A way to draw that a legend explains."""

    PROBABILITY = "probability"
    VERSUS = "versus"
    LINK = "link"
    POSSIBLE = "possible link"
    LINK_PROBABILITY = "probability of a link"


# What each mark looks like, and what it means.
_LINE = '<path d="M0 0H40"/>'
SAMPLES: dict[Mark, tuple[tuple[str, str], ...]] = {
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
    """Estimate the width in pixels of a text in a sans-serif font of ``size`` pixels; no font is asked."""
    return size * sum(_ems(character) for character in text)


def _ems(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if character in _NARROW:
        return 0.34
    return 0.72 if character.isupper() or character in "mw@%" else 0.56
