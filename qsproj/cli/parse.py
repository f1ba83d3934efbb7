"""Parse sentences: fill in HEAD and DEPREL, keep everything else byte for byte.

The input is CoNLL-U with the columns that the model was trained on (UPOS at least; see `qsproj tag`). A model
of `qsproj train --joint-tags` reads forms alone, and fills in UPOS as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from qsproj.cli.options import add_output, located
from qsproj.corpus.conllu import write_conllu
from qsproj.progress import track

if TYPE_CHECKING:
    from qsproj.corpus.sentence import Sentence
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
        "--confidence",
        action="store_true",
        help="add ArcProb=, the probability of each arc, to MISC (and UposProb= where the model tags)",
    )


def run(options: argparse.Namespace) -> None:
    """Parse the input as it is read."""
    from qsproj.models.storage import load_parser

    parser = load_parser(options.model)
    with located(options.input) as sentences:
        following = track(sentences, "parsing", unit="sentence")
        parsed = _parse_all(parser, following, decode=options.decode, confidence=options.confidence)
        write_conllu(parsed, options.output)


def _parse_all(
    parser: Parser, sentences: Iterable[Sentence], *, decode: str, confidence: bool
) -> Iterator[Sentence]:
    """Parse in blocks where the model can, else one by one."""
    from qsproj.models.arc_parser import ArcParser

    if isinstance(parser, ArcParser):
        return parser.parse_all(sentences, decode=decode, confidence=confidence)
    return (parser.parse(sentence, decode=decode, confidence=confidence) for sentence in sentences)
