"""Parse sentences: fill in HEAD and DEPREL, keep everything else byte for byte.

The input is CoNLL-U with the columns that the model was trained on (UPOS at least; see `qsproj tag`). A model
of `qsproj train --joint-tags` reads forms alone, and fills in UPOS as well.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator

from qsproj.cli.options.common import add_output, add_workers, workers_of
from qsproj.corpus.columns import UNSPECIFIED
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.files import name_of
from qsproj.corpus.sentence import Sentence
from qsproj.progress import track

EXAMPLES = """examples:
  qsproj parse -m en.model corpora/en.conllu -o parsed.conllu
  xzcat big.conllu.xz | qsproj parse -m en.model --confidence > parsed.conllu
  qsproj parse -m en.model big.conllu.xz --jobs 8 -o parsed.conllu.gz
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
    add_workers(parser)


def run(options: argparse.Namespace) -> None:
    """Parse the input as it is read."""
    from qsproj.models.storage import load_parser
    from qsproj.models.tagging.tagging_parser import TaggingParser
    from qsproj.pipelines.streams import loaded_once, parse_stream

    sentences = read_conllu(options.input)
    if not isinstance(loaded_once(load_parser, options.model), TaggingParser):
        sentences = _watched(sentences, name_of(options.input))
    parsed = parse_stream(
        options.model,
        track(sentences, "parsing", unit="sentence"),
        decode=options.decode,
        confidence=options.confidence,
        name=name_of(options.input),
        workers=workers_of(options),
    )
    write_conllu(parsed, options.output)


def _watched(sentences: Iterable[Sentence], name: str) -> Iterator[Sentence]:
    """Pass sentences on; warn after the last when no word had a tag."""
    tagged = False
    for sentence in sentences:
        tagged = tagged or any(tag != UNSPECIFIED for tag in sentence.upos)
        yield sentence
    if not tagged:
        print(
            f"{name}: no word has a UPOS tag, for the parser to read; tag it first: qsproj tag",
            file=sys.stderr,
        )
