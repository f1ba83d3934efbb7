"""Line plots: well-formed, points where their values are, round numbers on the axes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from qsproj.viz.drawing import svg_document
from qsproj.viz.page import Series, line_plot, round_numbers

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*series):
    drawing = line_plot(series, title="a & b", x="words", y="ms")
    return ElementTree.fromstring(svg_document([drawing]).split("\n", 1)[1])


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


def circles(root):
    return [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(f"{SVG}circle")]


def test_a_plot_names_what_it_shows() -> None:
    found = texts(drawn(Series("exact <1>", [1, 2], [3, 4]), Series("approximate", [1], [1])))
    for text in ("a & b", "words", "ms", "exact <1>", "approximate"):
        assert text in found


def test_points_stand_where_the_axis_says() -> None:
    values = [1.0, 10.0, 100.0]
    places = circles(drawn(Series("line", values, values)))
    (x0, y0), (x1, y1), (x2, y2) = places
    assert x0 < x1 < x2 and y0 > y1 > y2
    assert (x2 - x1) / (x1 - x0) == pytest.approx(10, abs=0.2)


def test_points_stay_within_the_axes() -> None:
    root = drawn(Series("line", [0.31, 77], [-2, 9.7]))
    lines = " ".join(path.get("d") for path in root.iter(f"{SVG}path"))
    left, right = (extreme(float(x) for x in re.findall(r"M([\d.]+) 36V", lines)) for extreme in (min, max))
    assert all(left <= x <= right for x, _ in circles(root))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3, 97], [0, 20, 40, 60, 80, 100]),
        ([103, 197], [0, 50, 100, 150, 200]),
        ([0.013, 0.4], [0, 0.1, 0.2, 0.3, 0.4]),
        ([-1, 1], [-1, -0.5, 0, 0.5, 1]),
        ([0], [0, 1]),
    ],
)
def test_axes_are_marked_with_round_numbers(values, expected) -> None:
    assert round_numbers(values) == pytest.approx(expected)
