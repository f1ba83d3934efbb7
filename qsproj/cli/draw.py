"""Draw trees, or aligned sentence pairs, as a web page or an SVG image.

FILE is CoNLL-U. With --target and --alignment each sentence is drawn above its translation, with the word
links between them. Arcs are as opaque as they are probable where MISC has ArcProb (`qsproj parse
--confidence`), and so are links with weights. Sentences are paired by parallel_id, else by sent_id, else by
order. An SVG image of several sentences shows them one below the other.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from qsproj.cli.options.command_files import check_files
from qsproj.cli.options.common import add_output, add_pairing
from qsproj.cli.options.pair_files import add_alignment_format
from qsproj.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from qsproj.viz.markup import Drawing

EXAMPLES = """examples:
  qsproj draw corpora/en.conllu -o trees.html
  qsproj draw corpora/en.conllu --sentence sample-001 -o tree.svg
  qsproj draw corpora/en.conllu --target corpora/de.conllu --alignment corpora/en-de.pharaoh -o pairs.html
  qsproj parse -m en.model new.conllu --confidence | qsproj draw > new.html
"""

FORMATS = ("html", "svg")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="CoNLL-U, .gz or .xz (default: standard input)"
    )
    parser.add_argument("--target", metavar="FILE", help="the translations, CoNLL-U")
    parser.add_argument("--alignment", metavar="FILE", help="word links between FILE and the translations")
    add_alignment_format(parser)
    parser.add_argument(
        "--sentence",
        action="append",
        metavar="ID",
        help="draw this one only: its sent_id, or its number where it has none; may be given several times",
    )
    parser.add_argument(
        "--format", metavar="NAME", help="html or svg (default: by the name of the output, else html)"
    )
    add_pairing(parser)
    add_output(parser, "a page or an image")


def run(options: argparse.Namespace) -> None:
    """Draw what was asked for and write it."""
    from qsproj.corpus.files import name_of, open_output
    from qsproj.viz.markup import html_document, svg_document

    chosen_format = options.format or _format_of(options.output)
    if chosen_format not in FORMATS:
        raise unknown_name("format", chosen_format, list(FORMATS))
    if (options.target is None) != (options.alignment is None):
        raise UsageError("--target and --alignment go together: give both, or neither")
    check_files(reads=(options.file, options.target, options.alignment), writes=[(options.output, None)])
    drawings = _chosen(_drawings(options), options.sentence, options.file)
    # What is wrong with the first sentence is said before anything is written.
    drawings = itertools.chain(list(itertools.islice(drawings, 1)), drawings)
    with open_output(options.output) as handle:
        if chosen_format == "svg":
            handle.write(svg_document([drawing for _, drawing in drawings]))
        else:
            handle.writelines(html_document(name_of(options.file), drawings))


def _format_of(output: str) -> str:
    """Tell the format by the name of the output."""
    name = output.removesuffix(".gz")
    if name.endswith(".svg"):
        return "svg"
    if output == "-" or name.endswith((".html", ".htm")):
        return "html"
    raise UsageError(f"{output}: found no format in the name, expected .html or .svg; or give --format")


def _drawings(options: argparse.Namespace) -> Iterator[tuple[str, Drawing]]:
    """Yield each sentence, or pair, with its name, drawn only when it is asked for."""
    from qsproj.corpus.formats import read_sentences
    from qsproj.corpus.pairing import AlignedFiles
    from qsproj.viz.trees import draw_pair, draw_tree

    wanted = None if options.sentence is None else set(options.sentence)
    if options.target is None:
        for number, sentence in enumerate(read_sentences(options.file), start=1):
            name = sentence.sent_id or str(number)
            if wanted is None or name in wanted:
                yield name, draw_tree(sentence)
        return
    pairs = AlignedFiles(
        options.file, options.target, options.alignment, options.alignment_format, options.pair
    )
    for number, pair in enumerate(pairs, start=1):
        name = pair.source.sent_id or str(number)
        if wanted is None or name in wanted:
            yield name, draw_pair(pair)


def _chosen(
    drawings: Iterable[tuple[str, Drawing]], wanted: Sequence[str] | None, path: str
) -> Iterator[tuple[str, Drawing]]:
    """Yield the drawings; raise after the last when one that was wanted was not among them."""
    missing = dict.fromkeys(wanted or ())
    for name, drawing in drawings:
        missing.pop(name, None)
        yield name, drawing
    if missing:
        raise UsageError(f"{path}: found no sentence {next(iter(missing))!r}; check its sent_id")
