"""Drawings in files: formats by name, and what they cannot be."""

import struct
import sys

import pytest

from qsproj.errors import UsageError
from qsproj.viz.drawing import format_of, save_drawings
from qsproj.viz.trees import draw_tree
from tests.sentences import make_sentence

DRAWING = draw_tree(make_sentence("قرأ الطالب الكتاب", "VERB NOUN NOUN", [0, 1, 1], "root nsubj obj"))


@pytest.mark.parametrize(
    ("name", "known"),
    [("a.html", "html"), ("a.htm", "html"), ("-", "html"), ("a.svg.gz", "svg"), ("a.pdf", "pdf")],
)
def test_the_name_tells_the_format(name, known):
    assert format_of(name) == known


@pytest.mark.parametrize("name", ["tree", "tree.jpg", "svg"])
def test_a_name_that_tells_none_is_refused(name):
    with pytest.raises(UsageError, match=r"found no format in the name, expected .html, .svg, .png or .pdf"):
        DRAWING.save(name)


def test_images_and_documents_are_made_the_same_each_time(tmp_path):
    pytest.importorskip("typst")
    made = []
    for name in ("one.png", "again.png"):
        DRAWING.save(tmp_path / name)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]
    assert made[0].startswith(b"\x89PNG")
    # Two dots a pixel.
    width, height = struct.unpack(">II", made[0][16:24])
    assert abs(width - 2 * DRAWING.width) <= 2 and abs(height - 2 * DRAWING.height) <= 2
    save_drawings(tmp_path / "two.pdf", "pdf", "two", [("a", DRAWING), ("b", DRAWING)])
    assert (tmp_path / "two.pdf").read_bytes().startswith(b"%PDF")


def test_an_image_that_no_program_would_show_is_refused(tmp_path):
    pytest.importorskip("typst")
    with pytest.raises(UsageError, match=r"found 200 drawings, .* pixels tall, expected at most 16,000"):
        save_drawings(tmp_path / "tall.png", "png", "tall", [("a", DRAWING)] * 200)
    assert not list(tmp_path.iterdir())


def test_a_converter_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(UsageError, match=r"pip install 'qsproj\[images\]'"):
        DRAWING.save(tmp_path / "tree.png")
    assert not list(tmp_path.iterdir())
