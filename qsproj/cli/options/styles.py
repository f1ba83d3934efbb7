"""Options for annotation styles, and a reader of trees in a style."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qsproj.corpus.sentence import Sentence
    from qsproj.styles.style import Style


def add_source_style(parser: argparse._ActionsContainer) -> None:
    """Add ``--from``, the style of the input, as ``from_style``."""
    parser.add_argument(
        "--from",
        dest="from_style",
        metavar="STYLE",
        help="style of the input; auto: detect it, reading the whole input into memory (default: ud)",
    )


def read_styles(path: str, *, to: str, source: str | None) -> tuple[Iterable[Sentence], Style, Style]:
    """Return the sentences of a file, their style, and the target style."""
    from qsproj.corpus.files import name_of
    from qsproj.corpus.formats import read_sentences
    from qsproj.styles.detect import checked_relations, detect_style
    from qsproj.styles.style import parse_style

    parse_style(to)
    sentences = checked_relations(read_sentences(path), name_of(path))
    if source == "auto":
        kept = list(sentences)
        found = detect_style(kept).style
        return kept, found, parse_style(to, base=found)
    style = parse_style(source or "ud")
    return sentences, style, parse_style(to, base=style)
