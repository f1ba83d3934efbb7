"""How sentences, pairs and documents show themselves in a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib import import_module
from itertools import islice
from typing import Any

from qsproj.errors import pluralise

# Of a document; it may be a book.
SHOWN_SENTENCES = 10


def drawn(value: object) -> str:
    """Return a sentence or a pair as a drawing, HTML.

    Drawings are made above this room, and only notebooks ask for them here: the module is imported by name.
    """
    trees: Any = import_module("qsproj.viz.trees")
    draw = trees.draw_tree if hasattr(value, "forms") else trees.draw_pair
    html: str = draw(value)._repr_html_()
    return html


def drawn_document(sentences: Iterable[object], title: str, total: int) -> str:
    """Return the first sentences of a document as drawings, and how many more there are."""
    more = total - SHOWN_SENTENCES
    parts = [f"<p>{escape(title)}</p>", *map(drawn, islice(sentences, SHOWN_SENTENCES))]
    return "\n".join([*parts, *([f"<p>and {pluralise(more, 'sentence')} more</p>"] if more > 0 else [])])
