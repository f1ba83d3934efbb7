"""Train a converter of trees to another annotation style, from a few trees in both styles.

SOURCE and TARGET hold the same sentences and words in the old and in the new style, at least about ten
sentences. They are paired by parallel_id, else by sent_id, else by order. `qsproj convert -m` applies the
model to treebanks. With --parser, the model is a parser of the new style for `qsproj parse`; --source may
then be omitted, and the parser's own, less accurate trees are used.
"""

import argparse

from qsproj.cli.options.declare import Option
from qsproj.cli.options.files import adding_lines
from qsproj.cli.options.shared import PAIRING, SEED, provenance_of, rng_of
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_sentences
from qsproj.errors import UsageError
from qsproj.progress import notice, track

LEARNS_FROM = ("source", "target")
OPTIONS = (
    Option("--source FILE", "trees in the old style, CoNLL-U"),
    Option("--target FILE", "the same sentences with trees in the new style", required=True),
    Option("-o, --output MODEL", "where the model is written", required=True),
    Option(
        "--parser MODEL",
        "parser of the old style, to adapt to the new style; a model that reads plain text still does",
    ),
    Option("--epochs N", "passes over the data (default: more for less data)"),
    Option("--projective", "arcs cross only if those of SOURCE do"),
    Option("--nonprojective", "arcs may cross", instead=True),
    PAIRING,
    SEED,
)
EXAMPLES = """examples:
  qsproj adapt --source ten.ud.conllu --target ten.sud.conllu -o sud.converter
  qsproj convert -m sud.converter treebank.ud.conllu -o treebank.sud.conllu
  qsproj adapt --parser ud.parser --source ten.ud.conllu --target ten.sud.conllu -o sud.parser
  qsproj parse -m sud.parser in.conllu -o out.sud.conllu
"""


def run(options: argparse.Namespace) -> None:
    from qsproj.cli.options.model_warnings import warn_swapped
    from qsproj.models.converter.converter import AdaptedParser
    from qsproj.models.parser import load_parser
    from qsproj.pipelines.adapt import pair_styles, train_adaptation

    projective = True if options.projective else False if options.nonprojective else None
    parser = load_parser(options.parser) if options.parser else None
    if options.source:
        names = (name_of(options.source), name_of(options.target))
        sources, targets = map(read_sentences, (options.source, options.target))
        pairs = pair_styles(sources, targets, names=names, pairing=options.pair)
        if parser:
            warn_swapped(parser, pairs, path=options.parser)
    elif parser:
        # Parsed while they are read, so that the reader can report the one that cannot be parsed.
        with adding_lines(options.target) as trees:
            pairs = [(parser.parse(tree), tree) for tree in track(trees, "parsing", unit="sentence")]
    else:
        raise UsageError("without --parser, give --source: the same sentences in the old style")
    rng, epochs = rng_of(options), options.epochs
    converter, report = train_adaptation(pairs, rng=rng, epochs=epochs, projective=projective)
    model = converter if parser is None else AdaptedParser(parser, converter)
    model.save(options.output, made=provenance_of(options))
    notice(report.summary(converter.inference))
