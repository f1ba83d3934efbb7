"""Rank sentences for annotation by how much a parser would learn from them (active learning).

INPUT is CoNLL-U, tagged as for `qsproj parse`, without trees or with automatic ones; for a converter (`qsproj
adapt`) it holds trees in the old style. INPUT is kept in memory. The output is its sentences, the most
informative first, each with a comment "# uncertainty = ": the probability that the best head is wrong,
averaged over words. Sentences rank higher if their uncertain words are of a kind that is frequent in INPUT,
and lower if that kind has been annotated or suggested before. The kind of a word is its tag and those of its
neighbours; for a converter, its tag, relation and head's tag in the old tree.
"""

from __future__ import annotations

import argparse

from qsproj.cli.options.files import check_files
from qsproj.cli.options.former_names import with_former_name
from qsproj.cli.options.numbers import number, whole_number
from qsproj.cli.options.reading import adding_lines
from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.formats import read_all

EXAMPLES = """examples:
  qsproj suggest -m my.model raw.conllu --count 50 -o next.conllu
  qsproj suggest -m my.model raw.conllu --annotated train.conllu --most-words 1000 --predict -o next.conllu
  qsproj suggest -m sud.converter treebank.ud.conllu --annotated ten.ud.conllu --count 50 -o next.ud.conllu
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", "--model", metavar="MODEL", required=True, help="a parser")
    parser.add_argument(
        "input", metavar="INPUT", nargs="?", default="-", help="CoNLL-U (default: standard input)"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="-", help="CoNLL-U (default: standard output)"
    )
    parser.add_argument(
        "--count", metavar="N", type=whole_number(least=1), help="maximum number of sentences"
    )
    words = parser.add_argument(
        "--most-words",
        dest="words",
        metavar="N",
        type=whole_number(least=1),
        help="maximum total number of words",
    )
    with_former_name(parser, words, "--words")
    parser.add_argument(
        "--annotated",
        metavar="FILE",
        action="append",
        default=[],
        help="sentences already annotated (for a converter, in the old style), whose kinds of words count "
        "less; may be given several times",
    )
    parser.add_argument(
        "--sentence-cost",
        metavar="WORDS",
        type=number(least=0.0),
        default=2.0,
        help="fixed annotation cost per sentence, in words; larger values favour long sentences (default: "
        "2.0)",
    )
    parser.add_argument(
        "--plain", action="store_true", help="rank by uncertainty alone, ignoring kinds of words"
    )
    parser.add_argument(
        "--predict",
        action="store_true",
        help="pre-annotate: add predicted heads and relations, with ArcProb in MISC",
    )


def run(options: argparse.Namespace) -> None:
    from qsproj.models.parser import load_parser
    from qsproj.pipelines.suggest import candidates_of, kinds_for, rank, with_uncertainty

    check_files(reads=(options.input, *options.annotated, options.model), writes=[(options.output, None)])
    parser = load_parser(options.model)
    with adding_lines(options.input) as sentences:
        candidates = candidates_of(parser, sentences)
    ranked = rank(
        candidates,
        annotated=read_all(options.annotated),
        count=options.count,
        words=options.words,
        sentence_cost=options.sentence_cost,
        kinds=None if options.plain else kinds_for(parser),
    )
    write_conllu(with_uncertainty(ranked, parser, predict=options.predict), options.output)
