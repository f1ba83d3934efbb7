"""Display of sentences, pairs and documents in notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib import import_module
from itertools import islice
from typing import Any

from qsproj.errors import pluralise

# Maximum number of sentences drawn for a document.
SHOWN_SENTENCES = 10


def drawn(value: object) -> str:
    """Return a drawing as HTML, by the package of a higher layer, hence imported by name."""
    trees: Any = import_module("qsproj.viz.trees")
    draw = trees.draw_tree if hasattr(value, "forms") else trees.draw_pair
    html: str = draw(value)._repr_html_()
    return html


def drawn_document(sentences: Iterable[object], title: str, total: int) -> str:
    """Return drawings of the first sentences of a document, and the number of further ones."""
    more = total - SHOWN_SENTENCES
    parts = [f"<p>{escape(title)}</p>", *map(drawn, islice(sentences, SHOWN_SENTENCES))]
    return "\n".join([*parts, *([f"<p>and {pluralise(more, 'sentence')} more</p>"] if more > 0 else [])])
