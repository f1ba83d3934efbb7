"""Train a parser of target text that has no translation, on target trees and on pairs without any.

SOURCE and TARGET are CoNLL-U with UPOS, paired by parallel_id, else by sent_id, else by order; ALIGNMENT
holds candidate links. The joint model of `qsproj train-biparser` parses the pairs and teaches the parser.
"""

from __future__ import annotations

import argparse
import sys

from qsproj.cli.options import common, pair_files
from qsproj.cli.options.common import declare_ways, made_by, refuse_unread
from qsproj.conventions import is_whole
from qsproj.errors import DataError, UsageError, check_name

METHODS = ("co-training", "noisy-channel")
# What each method reads that not all do.
METHOD_WAYS = {"--method co-training": ("rounds", "jobs"), "--method noisy-channel": ("source_forest",)}

EXAMPLES = """examples:
  qsproj cotrain -m en-de.model --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment en-de.weighted --trees corpora/de.conllu -o de.model
  qsproj cotrain -m en-de.model --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment en-de.weighted --trees corpora/de.conllu -o de.model --method noisy-channel
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pair_files.add_pair_files(parser)
    pair_files.add_source_tree(parser, usual="as the model was trained; a noisy channel takes best for joint")
    common.add_options(parser)("""
        -m --model MODEL!: from `qsproj train-biparser`
        --trees FILE!: target sentences with trees, best those that the model was trained on
        -o --output MODEL!: for `qsproj parse`
        --method NAME=co-training: co-training (default): learn what the joint model believes of the target
            trees; noisy-channel: learn target trees that explain the source trees
        --source-forest NAME=best: with --method noisy-channel, the source trees that the channel generates:
            best (default), the source parser's best tree; ranked, its five best; agreement, all of its trees,
            by probability
        --rounds N[1..]=1: of co-training: how often the joint model teaches the other, and is renewed by it
    """)
    common.add_jobs(parser, "processes that parse pairs for co-training")
    common.add_seed(parser)
    declare_ways(parser, METHOD_WAYS)


def run(options: argparse.Namespace) -> None:
    with common.naming(options.source, options.target, options.alignment):
        _cotrain(options)


def _cotrain(options: argparse.Namespace) -> None:
    from dataclasses import replace

    import numpy as np

    from qsproj.corpus.formats import read_sentences
    from qsproj.parallel import Workers
    from qsproj.pipelines.bilingual.biparse import load_joint_parser
    from qsproj.pipelines.bilingual.cotrain import (
        CotrainingOptions,
        NoisyChannelOptions,
        cotrain,
        train_noisy_channel,
    )

    check_name("method", options.method, METHODS)
    refuse_unread(options, METHOD_WAYS, f"--method {options.method}")
    if options.source_tree == "joint" and options.method == "noisy-channel":
        raise UsageError("a noisy channel takes a source tree as given: --source-tree best or observed")
    common.check_files(
        reads=(*pair_files.checked_pair_files(options), options.model, options.trees), model=options.output
    )
    joint = load_joint_parser(options.model)
    if options.source_tree:
        joint = replace(joint, options=replace(joint.options, source_tree=options.source_tree))
    trees = list(read_sentences(options.trees))
    if not any(is_whole(sentence.heads) for sentence in trees):
        raise DataError(options.trees, None, "no whole tree", "trees of the target", "annotate some")
    pairs = list(
        pair_files.tagged_pairs(
            pair_files.pair_files_of(options),
            source_tree=joint.options.source_tree,
            sides=pair_files.tagged_sides(joint),
        )
    )
    rng = np.random.default_rng(options.seed)
    if options.method == "co-training":
        settings = CotrainingOptions(rounds=options.rounds)
        parser, report = cotrain(
            joint, trees, pairs, rng=rng, options=settings, workers=Workers(jobs=options.jobs)
        )
    else:
        channel = NoisyChannelOptions(source_forest=options.source_forest)
        parser, report = train_noisy_channel(joint, trees, pairs, rng=rng, options=channel)
    parser.save(options.output, made=made_by(options))
    print(report.summary(), file=sys.stderr)
