"""Learn to convert trees to another annotation style, from a few trees in both.

SOURCE and TARGET hold the same sentences, word by word, in the old and in the new style; ten are a start.
They are paired by parallel_id, else by sent_id, else by order. `qsproj convert -m` converts treebanks by the
model. With --parser, it is a parser of the new style for `qsproj parse`; --source may then be left out: the
parser makes the trees, less accurately.
"""

import argparse
import sys

from qsproj.cli.options.common import (
    add_options,
    add_pairing,
    add_seed,
    check_files,
    located,
    made_by,
    naming,
)

EXAMPLES = """examples:
  qsproj adapt --source ten.ud.conllu --target ten.sud.conllu -o sud.converter
  qsproj convert -m sud.converter treebank.ud.conllu -o treebank.sud.conllu
  qsproj adapt --parser ud.parser --source ten.ud.conllu --target ten.sud.conllu -o sud.parser
  qsproj parse -m sud.parser in.conllu -o out.sud.conllu
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(parser)("""
        --source FILE: trees in the old style, CoNLL-U
        --target FILE!: the same sentences with trees in the new style
        -o --output MODEL!: where the model is written
        --parser MODEL: a parser of the old style, to become one of the new
        --epochs N[1..]: passes over the data (default: more where there is less)
    """)
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--projective", action="store_true", help="arcs cross only where those of SOURCE do")
    shape.add_argument("--nonprojective", action="store_true", help="arcs may cross")
    add_pairing(parser)
    add_seed(parser)


def run(options: argparse.Namespace) -> None:
    check_files(reads=(options.source, options.target, options.parser), model=options.output)
    with naming(options.source, options.target):
        _train(options)


def _train(options: argparse.Namespace) -> None:
    import numpy as np

    from qsproj.corpus.files import name_of
    from qsproj.corpus.formats import read_sentences
    from qsproj.errors import UsageError
    from qsproj.models.converter.converter_training import ConverterOptions
    from qsproj.models.parser import load_parser
    from qsproj.pipelines.adapt import train_adaptation, train_adapted_parser

    settings = ConverterOptions(
        epochs=options.epochs,
        projective=True if options.projective else False if options.nonprojective else None,
    )
    rng = np.random.default_rng(options.seed)
    sources = read_sentences(options.source) if options.source else None
    names = (name_of(options.source or options.target), name_of(options.target))
    if options.parser:
        parser = load_parser(options.parser)
        with located(options.target) as targets:
            model, report = train_adapted_parser(
                parser, targets, sources=sources, rng=rng, options=settings, names=names, pairing=options.pair
            )
        inference = model.converter.inference
        model.save(options.output, made=made_by(options))
    elif sources is not None:
        targets = read_sentences(options.target)
        converter, report = train_adaptation(
            sources, targets, rng=rng, options=settings, names=names, pairing=options.pair
        )
        inference = converter.inference
        converter.save(options.output, made=made_by(options))
    else:
        raise UsageError("without --parser, give --source: the same sentences in the old style")
    print(report.summary(inference), file=sys.stderr)
