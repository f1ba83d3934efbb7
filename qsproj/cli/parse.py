"""Parse sentences: fill in HEAD and DEPREL, keep everything else byte for byte.

The input is CoNLL-U with the columns that the model was trained on (UPOS at least; see `qsproj tag`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from qsproj.cli.options import add_output
from qsproj.corpus.conllu import lines_in, read_conllu, write_conllu
from qsproj.corpus.files import name_of
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, SentenceLengthError
from qsproj.progress import track

if TYPE_CHECKING:
    from qsproj.models.storage import Parser

EXAMPLES = """examples:
  qsproj parse -m en.model corpora/en.conllu -o parsed.conllu
  xzcat big.conllu.xz | qsproj parse -m en.model --confidence > parsed.conllu
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("-m", "--model", required=True, metavar="MODEL", help="a model that `qsproj` trained")
    parser.add_argument(
        "input", nargs="?", default="-", metavar="INPUT", help="CoNLL-U (default: standard input)"
    )
    add_output(parser, "CoNLL-U")
    parser.add_argument(
        "--decode",
        default="mbr",
        metavar="NAME",
        help="mbr: the tree with the most expected right heads (default); map: the most probable tree",
    )
    parser.add_argument(
        "--confidence", action="store_true", help="add ArcProb=, the probability of each arc, to MISC"
    )


def run(options: argparse.Namespace) -> None:
    """Parse the input, a sentence at a time."""
    from qsproj.models.storage import load_parser

    parser = load_parser(options.model)
    parsed = _parsed(parser, options.input, decode=options.decode, confidence=options.confidence)
    write_conllu(parsed, options.output)


def _parsed(parser: Parser, path: str, *, decode: str, confidence: bool) -> Iterator[Sentence]:
    """Yield the sentences of a file parsed; an error that one causes names its line."""
    line = following = 1

    def read() -> Iterator[Sentence]:
        nonlocal line, following
        for sentence in track(read_conllu(path), "parsing", unit="sentence"):
            line, following = following, following + lines_in(sentence)
            yield sentence

    try:
        yield from _parse_all(parser, read(), decode=decode, confidence=confidence)
    except SentenceLengthError as error:
        raise DataError(
            name_of(path), line, found=error.found, expected=error.expected, remedy=error.remedy
        ) from error


def _parse_all(
    parser: Parser, sentences: Iterator[Sentence], *, decode: str, confidence: bool
) -> Iterator[Sentence]:
    """Parse in blocks where the model can, else one by one."""
    from qsproj.models.arc_parser import ArcParser

    if isinstance(parser, ArcParser):
        return parser.parse_all(sentences, decode=decode, confidence=confidence)
    return (parser.parse(sentence, decode=decode, confidence=confidence) for sentence in sentences)
