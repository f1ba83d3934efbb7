"""Drawings written to files: pages of HTML, images as SVG and PNG, documents as PDF."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from qsproj.corpus.files import open_binary_output, open_output
from qsproj.errors import UsageError, counted, unknown_name
from qsproj.viz.browse import html_document
from qsproj.viz.markup import Drawing, svg_document

FORMATS = ("html", "svg", "png", "pdf")
_IMAGES = ("png", "pdf")
# Of a PNG: two dots for a pixel of the drawing, of which there are 96 in an inch.
_DOTS_PER_INCH = 192.0
# Past it, in pixels of the drawing, programs that show images give up.
_TALLEST = 16_000.0


def format_of(path: str) -> str:
    """Tell the format by the ending of a name; ``-``, the standard output, is HTML.

    Raises
    ------
    UsageError
        When it has none that is known.
    """
    name = path.removesuffix(".gz")
    if path == "-" or name.endswith(".htm"):
        return "html"
    for known in FORMATS:
        if name.endswith(f".{known}"):
            return known
    endings = [f".{known}" for known in FORMATS]
    raise UsageError(
        f"{path}: found no format in the name, expected {', '.join(endings[:-1])} or {endings[-1]}"
    )


def check_format(name: str, path: str) -> None:
    """Check, before any work, that a format is known, and can be made and written there.

    Raises
    ------
    UsageError
        When it is not.
    """
    if name not in FORMATS:
        raise unknown_name("format", name, list(FORMATS))
    if name in _IMAGES:
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
) -> None:
    """Write drawings, each with its heading.

    HTML takes them one at a time, and says what it is ``about``. SVG and PNG show them one below the
    other, PDF has a page for each.

    Raises
    ------
    UsageError
        When the file cannot be written, the converter is not installed, or an image would be too tall.
    """
    name = os.fspath(path)
    if format_name == "html":
        with open_output(name) as handle:
            handle.writelines(html_document(title, drawings, about=about))
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
            f"{name}: found {counted(len(shown), 'drawing')}, {height:,.0f} pixels tall, expected at most "
            f"{_TALLEST:,.0f}; choose some (--sentence), or write .pdf, a page for each"
        )
    with open_binary_output(name) as binary:
        binary.write(_converted(images, format_name))


def _converted(images: list[str], format_name: str) -> bytes:
    """Return SVG images as pages of a PDF, or a single one as PNG."""
    typst = _converter()
    pages = "\n#pagebreak()\n".join(f'#image("{number}.svg")' for number in range(len(images)))
    files = {"main": f"#set page(width: auto, height: auto, margin: 0pt)\n{pages}\n".encode()}
    files |= {f"{number}.svg": image.encode() for number, image in enumerate(images)}
    # No time of making in the file: the same drawings give the same bytes.
    resolution = {"ppi": _DOTS_PER_INCH} if format_name == "png" else {}
    made: bytes = typst.compile(files, format=format_name, timestamp=0, **resolution)
    return made


def _converter() -> Any:
    """Return the program that sets text of all scripts into images and documents.

    Raises
    ------
    UsageError
        When it is not installed.
    """
    try:
        import typst
    except ImportError as error:
        raise UsageError(
            "found no converter for .png and .pdf; install it: pip install 'qsproj[images]', or write .svg"
        ) from error
    return typst
