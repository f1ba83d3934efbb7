"""Make one model of a tagger and a parser: it reads plain text and writes trees.

`qsproj parse -m MODEL text.txt` then cuts the text into words, tags and parses them; `qsproj tag -m MODEL`
tags alone. A parser may read what the tagger fills in: lemmas, XPOS and features where the tagger's treebank
has them; else train it with `--features words`.
"""

import argparse
import sys

from qsproj.cli.options.files import check_files
from qsproj.cli.options.numbers import whole_number
from qsproj.cli.options.provenance import made_by

EXAMPLES = """examples:
  qsproj train-tagger corpora/de.conllu --language de -o de.tagger
  qsproj train corpora/de.conllu --features words -o de.parser
  qsproj bundle de.tagger de.parser -o de.model
  echo 'Der Hund schläft.' | qsproj parse -m de.model
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tagger", metavar="TAGGER", help="a model of qsproj train-tagger")
    parser.add_argument(
        "parser", metavar="PARSER", help="a model that parses: of qsproj train, project, adapt ..."
    )
    parser.add_argument("-o", "--output", metavar="MODEL", required=True, help="where the model is written")
    parser.add_argument(
        "--readings",
        metavar="N",
        type=whole_number(least=0),
        default=0,
        help="with a first-order parser: try N tags that the tagger doubts, and average over what "
        "was tried; 16 are as in models of qsproj bootstrap, 0 takes the best tags alone "
        "(default: 0)",
    )


def run(options: argparse.Namespace) -> None:
    from qsproj.cli.options.given_parsers import tell_misfit, tell_one_side
    from qsproj.models.parser import load_parser, load_tags
    from qsproj.models.storage import load_made
    from qsproj.models.text.text_parser import text_parser

    check_files(reads=(options.tagger, options.parser), model=options.output)
    tagger, parser = load_tags(options.tagger), load_parser(options.parser)
    model = text_parser(tagger, parser, readings=options.readings)
    parts = {"tagger": load_made(options.tagger), "parser": load_made(options.parser)}
    tell_one_side(parser, options.parser)
    tell_misfit(tagger, parser, parts["parser"], tagger_path=options.tagger, path=options.parser)
    model.save(options.output, made=made_by(options, **parts))
    readings = f", which tries {options.readings} readings of a sentence" if options.readings else ""
    print(f"one model of {options.tagger} and {options.parser}{readings}: {options.output}", file=sys.stderr)
