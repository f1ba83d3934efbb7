"""Parse both sides of a bitext together: two trees and an alignment, each helping the others.

SOURCE and TARGET are CoNLL-U with UPOS, paired by parallel_id, else by sent_id, else by order; ALIGNMENT
holds candidate links, best with probabilities and generously (`qsproj align --weights --threshold 0.1`). To
train, the target needs trees, a few hundred or even a few dozen; the source needs a parser (`qsproj train`).
Where the first pairs have links by hand, `train --hand-alignment` observes them; others stay hidden.
Reports say in how many runs belief propagation converged: messages between trees and links came to rest.
What is believed after a run that did not is less to be trusted; --factors mono leaves fewer of them.
Where the target has no trees, `join` takes over what was learned of another pair of languages.
`cotrain` makes a parser of target text that has no translation, out of pairs without target trees.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from qsproj.cli.options.biparse_options import (
    EXAMPLES,
    FACTOR_WAYS,
    HAND_WAYS,
    METHOD_WAYS,
    METHODS,
    OUTPUT_WAYS,
    TARGET_WAYS,
    add_cotraining,
    add_joining,
    add_parsing,
    add_training,
)
from qsproj.cli.options.checkpoints import checkpoint_of
from qsproj.cli.options.command_files import check_files
from qsproj.cli.options.common import (
    naming,
    workers_of,
)
from qsproj.cli.options.hand_alignments import alignment_families
from qsproj.cli.options.made import made_by
from qsproj.cli.options.pair_files import located_pairs, pair_files_of, tagged_pairs
from qsproj.cli.options.ways import refuse_unread
from qsproj.conventions import NO_HEAD
from qsproj.corpus.formats import DEFAULT_ALIGNMENT_FORMAT
from qsproj.corpus.pairs.hand_alignments import with_hand_alignments
from qsproj.errors import DataError, UsageError, unknown_name

if TYPE_CHECKING:
    from qsproj.models.joint.joint_parser import JointParser

__all__ = ["EXAMPLES", "add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of all actions."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    add_training(actions)
    add_joining(actions)
    add_parsing(actions)
    add_cotraining(actions)


def run(options: argparse.Namespace) -> None:
    """Run the action."""
    action = {"train": _train, "join": _join, "parse": _parse, "cotrain": _cotrain}[options.action]
    with naming(*(getattr(options, name, None) for name in ("source", "target", "alignment"))):
        action(options)


def _train(options: argparse.Namespace) -> None:
    import numpy as np

    from qsproj.features.joint_templates import EVERY_FAMILY, FAMILIES
    from qsproj.models.arc.training_options import TrainingOptions
    from qsproj.models.joint.joint_options import (
        MIN_PROBABILITY,
        MIN_PROBABILITY_OF_GIVEN,
        SYNCH,
        BiparseOptions,
        JointOptions,
        JointTrainingOptions,
    )
    from qsproj.pipelines.bilingual.biparse import load_tree_parser, train_joint_parser

    families = {"all": FAMILIES, "pairs": EVERY_FAMILY, "mono": ("MONO",), "synch": (SYNCH,)}
    if options.factors not in families:
        raise unknown_name("factors", options.factors, list(families))
    refuse_unread(options, FACTOR_WAYS, f"--factors {options.factors}")
    on_target = "a target parser that is trained" if options.target_model is None else "--target-model"
    refuse_unread(options, TARGET_WAYS, on_target)
    refuse_unread(options, HAND_WAYS, "--hand-alignment" if options.hand_alignment is not None else None)
    on_links = alignment_families(options)
    _check_source_tree(options)
    reads = (*_inputs(options), options.source_model, options.target_model, options.hand_alignment)
    check_files(reads=reads, model=options.output)
    checkpoint = checkpoint_of(options)
    source_parser = load_tree_parser(options.source_model)
    target_parser = None if options.target_model is None else load_tree_parser(options.target_model)
    pairs = list(tagged_pairs(pair_files_of(options), source_tree=options.source_tree))
    if options.hand_alignment is not None:
        pairs = with_hand_alignments(
            pairs, options.hand_alignment, options.hand_alignment_format or DEFAULT_ALIGNMENT_FORMAT
        )
    joint_parser, report = train_joint_parser(
        pairs,
        source_parser,
        rng=np.random.default_rng(options.seed),
        options=BiparseOptions(
            joint=JointOptions(
                families=(*families[options.factors], *on_links),
                source_tree=options.source_tree or "joint",
                link_threshold=options.link_threshold,
                least_probability=MIN_PROBABILITY if target_parser is None else MIN_PROBABILITY_OF_GIVEN,
            ),
            training=JointTrainingOptions(epochs=options.epochs),
            target_training=TrainingOptions(template_set=options.features),
            with_dictionary=options.dictionary,
            order=options.order,
            labels=options.labels,
            tags=options.tags,
        ),
        target=target_parser,
        checkpoint=checkpoint,
    )
    joint_parser.save(options.output, made=made_by(options))
    print(report.summary(), file=sys.stderr)


def _join(options: argparse.Namespace) -> None:
    from qsproj.pipelines.bilingual.biparse import load_joint_parser, load_tree_parser

    check_files(reads=(options.model, options.source_model, options.target_model), model=options.output)
    parsers = (load_tree_parser(path) for path in (options.source_model, options.target_model))
    model = load_joint_parser(options.model)
    model.of_parsers(*parsers).save(options.output, made=made_by(options))
    joined = f"joins {options.source_model} and {options.target_model} by what {options.model} has learned"
    left = "; it tags no words, as that model does: tag them first (qsproj tag)" if model.tagger else ""
    print(f"{options.output}: {joined}{left}", file=sys.stderr)


def _inputs(options: argparse.Namespace) -> tuple[str, str, str]:
    """Return the files of pairs that every action reads."""
    return options.source, options.target, options.alignment


def _check_source_tree(options: argparse.Namespace) -> None:
    """Raise UsageError when the source tree that is asked for is none that there is."""
    from qsproj.models.joint.joint_options import SOURCE_TREES

    if options.source_tree not in (None, *SOURCE_TREES):
        raise unknown_name("source tree", options.source_tree, list(SOURCE_TREES))


def _parse(options: argparse.Namespace) -> None:
    from qsproj.corpus.alignments import write_alignments
    from qsproj.corpus.conllu import write_conllu
    from qsproj.corpus.files import open_output
    from qsproj.pipelines.bilingual.biparse import ParsingCounts, load_joint_parser, parse_pair_stream
    from qsproj.pipelines.streams import loaded_once
    from qsproj.progress import track

    check_files(
        reads=(*_inputs(options), options.model),
        writes=[
            (options.output, options.target),
            (options.source_output, options.source),
            (options.alignment_output, options.alignment),
        ],
    )
    _check_source_tree(options)
    refuse_unread(options, OUTPUT_WAYS, "--alignment-output" if options.alignment_output else None)
    model = loaded_once(load_joint_parser, options.model)
    source_tree = options.source_tree or model.options.source_tree
    counts = ParsingCounts()
    parse = partial(
        parse_pair_stream,
        options.model,
        source_tree=source_tree,
        link_threshold=options.link_threshold,
        counts=counts,
        workers=workers_of(options),
    )
    with ExitStack() as stack:
        target = stack.enter_context(open_output(options.output))
        source = stack.enter_context(open_output(options.source_output)) if options.source_output else None
        links = (
            stack.enter_context(open_output(options.alignment_output)) if options.alignment_output else None
        )
        parsing = located_pairs(
            pair_files_of(options), parse, source_tree=source_tree, sides=_tagged_sides(model)
        )
        for parsed in track(parsing, "parsing", unit="pair"):
            write_conllu([parsed.target], target)
            if source is not None:
                write_conllu([parsed.source], source)
            if links is not None:
                write_alignments([parsed.alignment], links, with_weights=True)
    print(counts.summary(), file=sys.stderr)


def _tagged_sides(model: JointParser) -> tuple[str, ...]:
    """Return the sides that have to come with tags: not a target that the model tags."""
    return ("source",) if model.tagger is not None else ("source", "target")


def _cotrain(options: argparse.Namespace) -> None:
    from dataclasses import replace

    import numpy as np

    from qsproj.corpus.formats import read_sentences
    from qsproj.parallel import Workers
    from qsproj.pipelines.bilingual.biparse import load_joint_parser
    from qsproj.pipelines.bilingual.cotrain import CotrainingOptions, cotrain
    from qsproj.pipelines.bilingual.noisy_channel import NoisyChannelOptions, train_noisy_channel

    if options.method not in METHODS:
        raise unknown_name("method", options.method, list(METHODS))
    refuse_unread(options, METHOD_WAYS, f"--method {options.method}")
    _check_source_tree(options)
    if options.source_tree == "joint" and options.method == "noisy-channel":
        raise UsageError("a noisy channel takes a source tree as given: --source-tree best or observed")
    check_files(reads=(*_inputs(options), options.model, options.trees), model=options.output)
    joint = load_joint_parser(options.model)
    if options.source_tree:
        joint = replace(joint, options=replace(joint.options, source_tree=options.source_tree))
    trees = list(read_sentences(options.trees))
    if not any((sentence.heads[1:] != NO_HEAD).all() for sentence in trees):
        raise DataError(
            options.trees, None, found="no whole tree", expected="trees of the target", remedy="annotate some"
        )
    pairs = list(
        tagged_pairs(
            pair_files_of(options), source_tree=joint.options.source_tree, sides=_tagged_sides(joint)
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
