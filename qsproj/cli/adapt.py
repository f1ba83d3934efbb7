"""Adapt a treebank or a parser to another annotation style, from a few trees in both.

Training: SOURCE and TARGET hold the same sentences, word by word, in the old and in the new style; ten are a
start. They are paired by parallel_id, else by sent_id, else by order. With --parser, the model is a parser of
the new style for `qsproj parse`; --source may then be left out: the parser makes the trees, less accurately.
Converting: with -m, the trees of SOURCE are converted; all but heads and relations is kept byte for byte.
"""

import argparse
import sys

from qsproj.cli.options.common import (
    add_options,
    add_pairing,
    add_seed,
    check_files,
    declare_ways,
    located,
    made_by,
    naming,
    refuse_unread,
)

EXAMPLES = """examples:
  qsproj adapt --source ten.ud.conllu --target ten.sud.conllu -o sud.converter
  qsproj adapt -m sud.converter --source treebank.ud.conllu --least-sure check.conllu -o treebank.sud.conllu
  qsproj adapt --parser ud.parser --source ten.ud.conllu --target ten.sud.conllu -o sud.parser
  qsproj parse -m sud.parser in.conllu -o out.sud.conllu
"""


# What each way to use the command reads that not all do.
WAYS = {
    "--target": ("parser", "epochs", "projective", "nonprojective", "seed"),
    "-m": ("confidence", "least_sure"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(parser)("""
        --source FILE: trees in the old style, CoNLL-U
        --target FILE: trees in the new style; train on them
        -m --model MODEL: a trained converter; convert with it
        -o --output FILE=-: the model, or the converted trees (these default to standard output)
        --parser MODEL: a parser of the old style, to become one of the new
        --epochs N[1..]: passes over the data (default: more where there is less)
    """)
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--projective", action="store_true", help="arcs cross only where those of SOURCE do")
    shape.add_argument("--nonprojective", action="store_true", help="arcs may cross")
    add_options(parser)("""
        --confidence: add ArcProb=, the probability of each arc, to MISC
        --least-sure FILE: also write the converted trees with those first that are most likely wrong, for a
            person to check, with ArcProb= and the expected number of wrong heads
    """)
    add_pairing(parser)
    add_seed(parser)
    declare_ways(parser, WAYS)


def run(options: argparse.Namespace) -> None:
    from qsproj.corpus.formats import check_has_misc
    from qsproj.errors import UsageError

    if (options.target is None) == (options.model is None):
        raise UsageError("give --target and -o MODEL to train, or -m MODEL and --source to convert")
    training = options.model is None
    refuse_unread(options, WAYS, "--target" if training else "-m")
    check_files(
        reads=(options.source, options.target, options.parser, options.model),
        model=options.output if training else None,
        writes=[] if training else [(options.output, options.source), (options.least_sure, None)],
    )
    if options.confidence:
        check_has_misc(options.output, "--confidence")
    if options.model is not None:
        _convert(options)
    else:
        with naming(options.source, options.target):
            _train(options)


def _train(options: argparse.Namespace) -> None:
    import numpy as np

    from qsproj.corpus.files import name_of
    from qsproj.corpus.formats import read_sentences
    from qsproj.errors import DataError, UsageError
    from qsproj.models.converter.converter import StoredParser
    from qsproj.models.converter.converter_training import ConverterOptions
    from qsproj.models.storage import kind_of, load_parser
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
        if not isinstance(parser, StoredParser):
            expected, remedy = "a parser that can be part of another model", "train one: qsproj train"
            raise DataError(options.parser, None, f"a model of kind {kind_of(parser)}", expected, remedy)
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


def _convert(options: argparse.Namespace) -> None:
    from qsproj.cli.options.given_parsers import telling_unknown_relations
    from qsproj.corpus.files import name_of
    from qsproj.corpus.formats import write_sentences
    from qsproj.errors import UsageError
    from qsproj.models.converter.converter import Converter
    from qsproj.models.storage import load_model_of
    from qsproj.pipelines.adapt import convert_treebank, least_sure_first

    if options.source is None:
        raise UsageError("give --source, the trees to convert")
    remedy = "train one with --source and --target, or parse with it: qsproj parse"
    converter = load_model_of(options.model, Converter, expected="a converter", remedy=remedy)
    with located(options.source) as sentences:
        known = telling_unknown_relations(
            sentences, converter, path=options.model, name=name_of(options.source)
        )
        converted = convert_treebank(converter, known)
        if options.least_sure:
            converted = iter(found := list(converted))
            write_sentences(least_sure_first(found), options.least_sure)
        write_sentences((one.sentence(confidence=options.confidence) for one in converted), options.output)
