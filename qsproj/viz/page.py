"""A self-contained HTML page of headings, tables, paragraphs, drawings and line plots."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from qsproj.viz.drawing import STYLE, Drawing, asset, escape, figure, opening

_FIGURE = re.compile(r"-|-?[0-9][0-9,]*(\.[0-9]+)?%?")  # a formatted number
_NARROW_COLUMNS = 3  # tables with more columns do not fit a narrow window


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 2 or 3; level 1 is the page's title."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Table:
    """A table; numbers, and strings that are numbers, are right-aligned."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | float]]


Piece = Heading | Table | Drawing | str  # a string is a paragraph


def page(title: str, pieces: Iterable[Piece]) -> Iterator[str]:
    yield opening(title)
    yield f"<style>\n{asset('page.css')}{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{escape(title)}</h1>\n"
    for piece in pieces:
        yield _markup(piece)
    yield "</main>\n</body>\n</html>\n"


def _markup(piece: Piece) -> str:
    match piece:
        case Heading(text, level):
            return f"<h{level}>{escape(text)}</h{level}>\n"
        case Table(columns, rows):
            numbers = [any(map(_is_number, cells)) and all(map(_is_number, cells)) for cells in zip(*rows)]
            kinds = [' class="number"' if number else "" for number in numbers] or [""] * len(columns)
            head = "".join(f"<th{kind}>{escape(one)}</th>" for one, kind in zip(columns, kinds, strict=True))
            # In a narrow window a row with many columns becomes a block of lines, each with its column name.
            named = ["", *columns[1:]] if len(columns) > _NARROW_COLUMNS else [""] * len(columns)
            body = "".join(f"<tr>{''.join(map(_cell, row, named))}</tr>\n" for row in rows)
            return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"
        case Drawing():
            return figure(piece)
        case str():
            return f"<p>{escape(piece)}</p>\n"


def _is_number(value: str | float) -> bool:
    return not isinstance(value, str) or _FIGURE.fullmatch(value) is not None


def _cell(value: str | float, name: str) -> str:
    label = f' data-label="{escape(name)}"' if name else ""
    kind = ' class="number"' if _is_number(value) else ""
    if isinstance(value, str):
        return f"<td{kind}{label}>{escape(value)}</td>"
    form = "," if isinstance(value, int) else ",.3g" if abs(value) < 100 else ",.0f"
    return f"<td{kind}{label}>{value:{form}}</td>"


_WIDTH, _HEIGHT = 680, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 230, 36, 52
# A colour-blind safe palette (Okabe and Ito).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")

Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Series:
    """A named line."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


def line_plot(series: Sequence[Series], *, title: str, x: str, y: str) -> Drawing:
    """Draw series as lines over axes named ``x`` and ``y``, which start at 0 or below."""
    x_ticks = round_numbers([value for one in series for value in one.x])
    y_ticks = round_numbers([value for one in series for value in one.y])
    across, centre = _scale(x_ticks, _LEFT, _WIDTH - _RIGHT), (_LEFT + _WIDTH - _RIGHT) / 2
    upwards, middle = _scale(y_ticks, _HEIGHT - _BOTTOM, _TOP), (_TOP + _HEIGHT - _BOTTOM) / 2
    elements = [
        _text(title, centre, 20, size=14),
        *_grid(x_ticks, y_ticks, across, upwards),
        _text(x, centre, _HEIGHT - 12),
        _text(y, 16, middle, more=f' transform="rotate(-90 16 {middle})"'),
    ]
    for number, one in enumerate(series):
        elements += _line(one, number, across, upwards)
    return Drawing(title, _WIDTH, _HEIGHT, "\n".join([*elements, ""]))


def round_numbers(values: Sequence[float]) -> list[float]:
    """Choose the tick values of an axis: multiples of 1, 2 or 5 times a power of ten, from 0 or below."""
    low, high = min(*values, 0.0), max(values)
    rough = (high - low) / 5 or 1.0
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(digit * unit for digit in (1, 2, 5, 10) if digit * unit >= rough)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [step * number for number in range(first, max(last, first + 1) + 1)]


def _scale(marks: Sequence[float], start: float, stop: float) -> Scale:
    """Return the map from values to pixels, with the first mark at ``start`` and the last at ``stop``."""
    low, high = marks[0], marks[-1]
    return lambda value: start + (value - low) / (high - low) * (stop - start)


def _text(text: str, x: float, y: float, *, size: float = 12, anchor: str = "middle", more: str = "") -> str:
    # A style, since the style sheet of drawings would override attributes.
    style = f"font-size:{size}px;text-anchor:{anchor}"
    return f'<text x="{x:.1f}" y="{y:.1f}" style="{style}"{more}>{escape(text)}</text>'


def _grid(x_ticks: Sequence[float], y_ticks: Sequence[float], across: Scale, upwards: Scale) -> Iterator[str]:
    for tick in x_ticks:
        yield f'<path d="M{across(tick):.1f} {_TOP}V{_HEIGHT - _BOTTOM}" stroke="#ddd"/>'
        yield _text(f"{tick:g}", across(tick), _HEIGHT - _BOTTOM + 16)
    for tick in y_ticks:
        yield f'<path d="M{_LEFT} {upwards(tick):.1f}H{_WIDTH - _RIGHT}" stroke="#ddd"/>'
        yield _text(f"{tick:g}", _LEFT - 6, upwards(tick) + 4, anchor="end")


def _line(series: Series, number: int, across: Scale, upwards: Scale) -> Iterator[str]:
    """Yield a line with its points, and its row of the legend."""
    colour = _COLOURS[number % len(_COLOURS)]
    points = [(across(x), upwards(y)) for x, y in zip(series.x, series.y, strict=True)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    for x, y in points:
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
    left, top = _WIDTH - _RIGHT + 14, _TOP + 18 * number
    yield f'<path d="M{left} {top + 8}h18" stroke="{colour}" stroke-width="2"/>'
    yield _text(series.name, left + 24, top + 12, anchor="start")
