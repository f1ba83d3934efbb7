"""Rank sentences for annotation by how much a parser would learn from them (active learning).

INPUT is CoNLL-U, tagged as for `qsproj parse`, without trees or with automatic ones; for a converter (`qsproj
adapt`) it holds trees in the old style. INPUT is kept in memory. The output is its sentences, the most
informative first, each with a comment "# uncertainty = ": the probability that the best head is wrong,
averaged over words. Sentences rank higher if their uncertain words are of a kind that is frequent in INPUT,
and lower if that kind has been annotated or suggested before. The kind of a word is its tag and those of its
neighbours; for a converter, its tag, relation and head's tag in the old tree. The cost of a sentence is its
number of words plus --sentence-cost; `qsproj annotate` and `qsproj bootstrap --suggest` estimate seconds.
"""

import argparse

from qsproj.cli.options.declare import Option
from qsproj.cli.options.files import adding_lines
from qsproj.cli.options.shared import values_of
from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_all

OPTIONS = (
    Option("-m, --model MODEL", "a parser", required=True),
    Option("[INPUT]", "CoNLL-U", default="-"),
    Option("-o, --output FILE", "CoNLL-U", default="-"),
    Option("--count N", "maximum number of sentences"),
    Option("--most-words N", "maximum total number of words", dest="words", former="--words"),
    Option(
        "--annotated FILE",
        "annotated sentences (for a converter in the old style): not suggested again, and their kinds of "
        "words count less; repeatable",
        several=True,
    ),
    Option(
        "--sentence-cost WORDS", "cost per sentence, in words; more favours long ones", default=2.0, least=0.0
    ),
    Option("--plain", "rank by uncertainty alone, ignoring kinds of words"),
    Option("--predict", "pre-annotate: add predicted heads and relations, with ArcProb in MISC"),
)
EXAMPLES = """examples:
  qsproj suggest -m my.model raw.conllu --count 50 -o next.conllu
  qsproj suggest -m my.model raw.conllu --annotated train.conllu --most-words 1000 --predict -o next.conllu
  qsproj suggest -m sud.converter treebank.ud.conllu --annotated ten.ud.conllu --count 50 -o next.ud.conllu
"""


def run(options: argparse.Namespace) -> None:
    from qsproj.cli.options.model_warnings import LOOKED_AT, refusing_untagged, warn_unknown_tags
    from qsproj.models.parser import load_parser
    from qsproj.pipelines.suggest import candidates_of, not_annotated, suggested

    parser, name = load_parser(options.model), name_of(options.input)
    annotated = list(read_all(options.annotated))
    with adding_lines(options.input) as read:
        new = not_annotated(read, annotated, name=name)
        candidates = candidates_of(parser, refusing_untagged(new, parser, path=options.model, name=name))
    looked_at = [one.sentence for one in candidates[:LOOKED_AT]]
    warn_unknown_tags(looked_at, parser, path=options.model, name=name)
    limits = {"count": options.count, "words": options.words}
    ways = values_of(options, "sentence_cost", "plain", "predict")
    found = suggested(parser, candidates, annotated=annotated, limits=limits, **ways)
    write_conllu(found, options.output)
