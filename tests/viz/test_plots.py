"""Line plots: well-formed, points where their values are, round numbers on the axes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from qsproj.viz.drawing import svg_document
from qsproj.viz.page import Axis, Series, line_plot, round_numbers

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*series, x=None, y=None):
    drawing = line_plot(series, title="a & b", x=x or Axis("words"), y=y or Axis("ms"))
    return ElementTree.fromstring(svg_document([drawing]).split("\n", 1)[1])


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


def circles(root):
    return [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(f"{SVG}circle")]


def test_a_plot_names_what_it_shows() -> None:
    found = texts(drawn(Series("exact <1>", [1, 2], [3, 4], ["first"]), Series("approximate", [1], [1])))
    for text in ("a & b", "words", "ms", "exact <1>", "approximate", "first"):
        assert text in found


@pytest.mark.parametrize("logarithmic", [False, True])
def test_points_stand_where_the_axis_says(logarithmic: bool) -> None:
    values = [1.0, 10.0, 100.0]
    axis = Axis("value", logarithmic=logarithmic)
    places = circles(drawn(Series("line", values, values, []), x=axis, y=axis))
    (x0, y0), (x1, y1), (x2, y2) = places
    assert x0 < x1 < x2 and y0 > y1 > y2
    if logarithmic:
        assert x2 - x1 == pytest.approx(x1 - x0, abs=0.2)
    else:
        assert (x2 - x1) / (x1 - x0) == pytest.approx(10, abs=0.2)


def test_points_stay_within_the_axes() -> None:
    root = drawn(Series("line", [0.31, 77], [-2, 9.7]))
    lines = " ".join(path.get("d") for path in root.iter(f"{SVG}path"))
    left, right = (extreme(float(x) for x in re.findall(r"M([\d.]+) 36V", lines)) for extreme in (min, max))
    assert all(left <= x <= right for x, _ in circles(root))


@pytest.mark.parametrize(
    ("values", "logarithmic", "expected"),
    [
        ([3, 97], False, [0, 20, 40, 60, 80, 100]),
        ([103, 197], False, [0, 50, 100, 150, 200]),
        ([0.013, 0.4], False, [0, 0.1, 0.2, 0.3, 0.4]),
        ([-1, 1], False, [-1, -0.5, 0, 0.5, 1]),
        ([0], False, [0, 1]),
        ([3, 97], True, [2, 5, 10, 20, 50, 100]),
        ([0.1, 1], True, [0.1, 0.2, 0.5, 1]),
        ([1], True, [1, 2]),
    ],
)
def test_axes_are_marked_with_round_numbers(values, logarithmic, expected) -> None:
    assert round_numbers(values, logarithmic=logarithmic) == pytest.approx(expected)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="expected points to draw"):
        drawn()
    with pytest.raises(ValueError, match="logarithmic"):
        drawn(Series("line", [1], [0]), y=Axis("ms", logarithmic=True))
