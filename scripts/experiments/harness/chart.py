"""Line charts of tables as SVG: a panel for each group of rows, a line for each name within it."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from scripts.experiments.harness.tables import Table

WIDTH, HEIGHT, LEFT, TOP, ACROSS = 230, 170, 34, 22, 3
COLOURS = ("#1a4f8b", "#b3261e", "#1b7340", "#c8703a", "#75569b", "#555555")
STYLE = (
    "svg{background:#fff;font-family:'Helvetica Neue',Arial,sans-serif;font-size:11px;fill:#333}"
    ".title{font-weight:600}.end{text-anchor:end}.middle{text-anchor:middle}"
    ".axis{stroke:#bbb;fill:none}.line{fill:none;stroke-width:1.8}"
)

Point = tuple[float, float]


def line_chart(table: Table, *, lines: str, x: str, y: str) -> str:
    """Return a picture: panels by the first column, lines by the column ``lines``, all on one scale."""
    at_line, at_x, at_y = map(table.column, (lines, x, y))
    panels: dict[str, dict[str, list[Point]]] = {}
    for row in table.rows:
        panels.setdefault(row[0], {}).setdefault(row[at_line], []).append(
            (float(row[at_x]), float(row[at_y]))
        )
    names = list(dict.fromkeys(row[at_line] for row in table.rows))
    points = [point for of_panel in panels.values() for line in of_panel.values() for point in line]
    low, high = 10 * int(min(one for _, one in points) // 10), 10 * -int(-max(one for _, one in points) // 10)
    longest = max(one for one, _ in points) or 1.0

    def place(point: Point) -> Point:
        across = LEFT + (WIDTH - LEFT - 12) * point[0] / longest
        return across, TOP + (HEIGHT - TOP - 20) * (high - point[1]) / max(high - low, 1)

    drawn = [
        _panel(title, of_panel, names, place, (low, high, longest)) for title, of_panel in panels.items()
    ]
    rows = -(-len(drawn) // ACROSS)
    height = rows * HEIGHT + 16 * len(names) + 8
    width = WIDTH * min(len(drawn), ACROSS)
    parts = [
        f'<g transform="translate({WIDTH * (i % ACROSS)} {HEIGHT * (i // ACROSS)})">{panel}</g>'
        for i, panel in enumerate(drawn)
    ]
    for number, name in enumerate(names):
        down = rows * HEIGHT + 16 * number + 12
        colour = COLOURS[number % len(COLOURS)]
        parts.append(f'<path class="line" stroke="{colour}" d="M {LEFT} {down - 4} h 20"/>')
        parts.append(f'<text x="{LEFT + 26}" y="{down}">{escape(name)}</text>')
    title = f"<title>{escape(y)} by {escape(x)}</title><style>{STYLE}</style>"
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{title}{"".join(parts)}</svg>\n'


def _panel(
    title: str,
    lines: dict[str, list[Point]],
    names: list[str],
    place: Callable[[Point], Point],
    bounds: tuple[int, int, float],
) -> str:
    low, high, longest = bounds
    (left, bottom), (right, top) = place((0.0, low)), place((longest, high))
    parts = [f'<text class="title" x="{LEFT}" y="14">{escape(title)}</text>']
    parts.append(f'<path class="axis" d="M {left:.1f} {top:.1f} V {bottom:.1f} H {right:.1f}"/>')
    for value in range(low, high + 1, 10):
        down = place((0.0, value))[1] + 4
        parts.append(f'<text class="end" x="{left - 4:.1f}" y="{down:.1f}">{value}</text>')
    for shown in (0.0, longest / 2, longest):
        across = place((shown, low))[0]
        parts.append(f'<text class="middle" x="{across:.1f}" y="{bottom + 13:.1f}">{shown:g}</text>')
    for name, points in lines.items():
        colour = COLOURS[names.index(name) % len(COLOURS)]
        path = " L ".join(f"{across:.1f} {down:.1f}" for across, down in map(place, points))
        parts.append(
            f'<path class="line" stroke="{colour}" d="M {path}"><title>{escape(name)}</title></path>'
        )
    return "".join(parts)
