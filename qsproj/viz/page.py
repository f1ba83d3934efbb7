"""A page of HTML that needs no other file: headings, tables, paragraphs and drawings, piece by piece."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from qsproj.viz.drawing import STYLE, Drawing, escape, figure, opening

_STYLE = """\
:root { color-scheme: light dark; background: canvas; }
body { margin: 2em auto; max-width: 75em; padding: 0 1em; line-height: 1.5; }
body { font-family: "Helvetica Neue", Arial, "Noto Sans", sans-serif; }
h1 { font-size: 1.4em; overflow-wrap: anywhere; }
h2 { font-size: 1.1em; margin-top: 2em; } h3 { font-size: 1em; font-weight: 600; }
table { border-collapse: collapse; }
th, td { padding: .25em .8em; text-align: left; vertical-align: top; border-bottom: 1px solid #8886; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
figure { margin: 0 0 2em; overflow-x: auto; }
"""


# A number that is written as it is to be shown.
_FIGURE = re.compile(r"-|-?[0-9][0-9,]*(\.[0-9]+)?%?")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 2 or 3; level 1 is the page's title."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Table:
    """A table; numbers, and strings that are numbers, are set to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | float]]


# A paragraph is a plain string.
Piece = Heading | Table | Drawing | str


def page(title: str, pieces: Iterable[Piece]) -> Iterator[str]:
    """Yield a page, piece by piece; no text of a piece is ever markup."""
    yield opening(title)
    yield f"<style>\n{_STYLE}{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{escape(title)}</h1>\n"
    for piece in pieces:
        yield _markup(piece)
    yield "</main>\n</body>\n</html>\n"


def _markup(piece: Piece) -> str:
    match piece:
        case Heading(text, level):
            return f"<h{level}>{escape(text)}</h{level}>\n"
        case Table(columns, rows):
            head = "".join(f"<th>{escape(column)}</th>" for column in columns)
            body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in rows)
            return f"<table>\n<tr>{head}</tr>\n{body}</table>\n"
        case Drawing():
            return figure(piece)
        case str():
            return f"<p>{escape(piece)}</p>\n"


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        kind = ' class="number"' if _FIGURE.fullmatch(value) else ""
        return f"<td{kind}>{escape(value)}</td>"
    shown = (
        f"{value:,}" if isinstance(value, int) else f"{value:,.3g}" if abs(value) < 100 else f"{value:,.0f}"
    )
    return f'<td class="number">{shown}</td>'
