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

from qsproj.cli.options import common, pair_files
from qsproj.cli.options.common import declare_ways, made_by, refuse_unread
from qsproj.conventions import is_whole
from qsproj.corpus.formats import DEFAULT_ALIGNMENT_FORMAT
from qsproj.corpus.pairs.aligned import with_hand_alignments
from qsproj.errors import DataError, UsageError, check_name, unknown_name
from qsproj.models.joint.joint_options import JointOptions, JointTrainingOptions

if TYPE_CHECKING:
    from qsproj.models.joint.joint_parser import JointParser, ParsedPair

METHODS = ("co-training", "noisy-channel")

# What each way to train, write and co-train reads that not all do. SYNCH alone has no weights to learn.
_LEARNING = (
    *("epochs", "labels"),
    *("hand_alignment", "hand_alignment_format", "alignment_factors", "dictionary"),
)
FACTOR_WAYS = {
    "--factors all": _LEARNING,
    "--factors pairs": _LEARNING,
    "--factors mono": _LEARNING,
    "--factors synch": (),
}
TARGET_WAYS = {"--target-model": (), "a target parser that is trained": ("order", "features")}
HAND_WAYS = {"--hand-alignment": ("hand_alignment_format",)}
OUTPUT_WAYS = {"--alignment-output": ("link_threshold",)}
METHOD_WAYS = {"--method co-training": ("rounds", "jobs"), "--method noisy-channel": ("source_forest",)}

_TRAIN = """Train a joint model on pairs whose target sides have trees; the source parser stays as it is."""
_JOIN = (
    """Join two parsers by what a joint model has learned of another pair of languages: no target trees."""
)
_PARSE = """Parse pairs with a joint model; ArcProb= in MISC and link weights say how sure it is."""
_COTRAIN = """Train a parser of the target alone on trees, and on pairs whose target sides need none."""

EXAMPLES = """examples:
  qsproj train corpora/en.conllu -o en.model
  qsproj align corpora/en.conllu corpora/de.conllu --weights --threshold 0.1 -o en-de.weighted
  qsproj biparse train --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment en-de.weighted --source-model en.model -o en-de.model
  qsproj biparse join -m en-de.model --source-model en.model --target-model sv.projected -o en-sv.model
  qsproj biparse parse -m en-de.model --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment en-de.weighted -o de.parsed.conllu --source-output en.parsed.conllu \\
      --alignment-output en-de.links --jobs 2
  qsproj biparse cotrain -m en-de.model --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment en-de.weighted --trees corpora/de.conllu -o de.model --method noisy-channel
"""


def add_training(actions: common.Actions) -> None:
    train = _add_action(actions, "train", _TRAIN, source_tree="joint")
    common.add_options(train)("""
        --source-model MODEL!: a parser of the source, of order 1 or 2: with 2, its factors take part
        --target-model MODEL: a parser of the target that was not trained on these trees, as from `qsproj
            project`; without it, one is trained on them
        -o --output MODEL!: where the model is written
        --factors NAME=all: all (default); pairs: also those of two arcs on either side, grandparents and
            siblings; mono: reward parallel arcs only; synch: two parsers under a hard constraint
        --features NAME: what the target parser reads of a word, as in `qsproj train`: words, for text that
            only a tagger has seen; morphology (default where the trees have lemmas, XPOS or FEATS)
    """)
    common.add_fields(train, JointTrainingOptions(), "epochs")
    common.add_order(
        train,
        "of the target parser (default: 1): 2 adds grandparents, and sequences and numbers of dependents, to "
        "the pair's factors",
    )
    common.add_options(train)("""
        --labels NAME=joint: joint (default): relations of the target are decided with those of the source,
            which nearly say those of parallel arcs; after: by the target's labeller alone, which is faster
        --tags NAME=given: given (default): target text comes with UPOS; links: the model tags target words
            that have none, with the tags of linked words as evidence, and learns from the trees as it tags
            them; joint: it does, and tags that are still uncertain are decided together with trees and links
    """)
    pair_files.add_link_learning(train)
    common.add_fields(train, JointOptions(), "link_threshold")
    common.add_seed(train)
    common.add_checkpoint(train, kept="there the target parser, and what is learned jointly after each epoch")
    declare_ways(train, FACTOR_WAYS, TARGET_WAYS, HAND_WAYS)


def add_joining(actions: common.Actions) -> None:
    join = common.add_action(actions, "join", _JOIN, EXAMPLES)
    common.add_options(join)("""
        -m --model MODEL!: from `qsproj biparse train`, on other languages; best with --target-model, a parser
            made as this one was
        --source-model MODEL!: a parser of the source
        --target-model MODEL!: a parser of the target
        -o --output MODEL!: where the model is written
    """)


def add_parsing(actions: common.Actions) -> None:
    parse = _add_action(actions, "parse", _PARSE, source_tree="as the model was trained")
    common.add_options(parse)("""
        -m --model MODEL!: from `qsproj biparse train`
        -o --output FILE=-: target trees (default: stdout)
        --source-output FILE: also write source trees
        --alignment-output FILE: also write links, as i-j:p
        --link-threshold P[0.0..1.0]: least probability of the links that are written (default: as the model
            was trained)
    """)
    common.add_workers(parse)
    declare_ways(parse, OUTPUT_WAYS)


def add_cotraining(actions: common.Actions) -> None:
    cotrain = _add_action(
        actions,
        "cotrain",
        _COTRAIN,
        source_tree="as the model was trained; a noisy channel takes best for joint",
    )
    common.add_options(cotrain)("""
        -m --model MODEL!: from `qsproj biparse train`
        --trees FILE!: target sentences with trees, best those that the model was trained on
        -o --output MODEL!: for `qsproj parse`
        --method NAME=co-training: co-training (default): learn what the joint model believes of the target
            trees; noisy-channel: learn target trees that explain the source trees
        --source-forest NAME=best: with --method noisy-channel, the source trees that the channel generates:
            best (default), the source parser's best tree; ranked, its five best; agreement, all of its trees,
            by probability
        --rounds N[1..]=1: of co-training: how often the joint model teaches the other, and is renewed by it
    """)
    common.add_jobs(cotrain, "processes that parse pairs for co-training")
    common.add_seed(cotrain)
    declare_ways(cotrain, METHOD_WAYS)


def _add_action(
    actions: common.Actions, name: str, description: str, *, source_tree: str
) -> argparse.ArgumentParser:
    """Add an action that reads pairs; ``source_tree`` says what is the default."""
    action = common.add_action(actions, name, description, EXAMPLES)
    pair_files.add_pair_files(action)
    common.add_options(action)(f"""
        --source-tree NAME: joint: inferred with the target; best: that of the source parser, which is faster;
            observed: that of the source file (default: {source_tree})
    """)
    return action


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    add_training(actions)
    add_joining(actions)
    add_parsing(actions)
    add_cotraining(actions)


def run(options: argparse.Namespace) -> None:
    action = {"train": _train, "join": _join, "parse": _parse, "cotrain": _cotrain}[options.action]
    with common.naming(*(getattr(options, name, None) for name in ("source", "target", "alignment"))):
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
    check_name("factors", options.factors, families)
    refuse_unread(options, FACTOR_WAYS, f"--factors {options.factors}")
    on_target = "a target parser that is trained" if options.target_model is None else "--target-model"
    refuse_unread(options, TARGET_WAYS, on_target)
    refuse_unread(options, HAND_WAYS, "--hand-alignment" if options.hand_alignment is not None else None)
    on_links = pair_files.alignment_families(options)
    _check_source_tree(options)
    reads = (*_inputs(options), options.source_model, options.target_model, options.hand_alignment)
    common.check_files(reads=reads, model=options.output)
    checkpoint = common.checkpoint_of(options)
    source_parser = load_tree_parser(options.source_model)
    target_parser = None if options.target_model is None else load_tree_parser(options.target_model)
    pairs = list(pair_files.tagged_pairs(pair_files.pair_files_of(options), source_tree=options.source_tree))
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

    common.check_files(
        reads=(options.model, options.source_model, options.target_model), model=options.output
    )
    parsers = (load_tree_parser(path) for path in (options.source_model, options.target_model))
    model = load_joint_parser(options.model)
    model.of_parsers(*parsers).save(options.output, made=made_by(options))
    joined = f"joins {options.source_model} and {options.target_model} by what {options.model} has learned"
    left = "; it tags no words, as that model does: tag them first (qsproj tag)" if model.tagger else ""
    print(f"{options.output}: {joined}{left}", file=sys.stderr)


def _inputs(options: argparse.Namespace) -> tuple[str, str, str | None]:
    if options.alignment is None and options.alignment_format != DEFAULT_ALIGNMENT_FORMAT:
        raise UsageError("--alignment-format belongs to --alignment; leave it out")
    return options.source, options.target, options.alignment


def _check_source_tree(options: argparse.Namespace) -> None:
    from qsproj.models.joint.joint_options import SOURCE_TREES

    if options.source_tree not in (None, *SOURCE_TREES):
        raise unknown_name("source tree", options.source_tree, SOURCE_TREES)


def _parse(options: argparse.Namespace) -> None:
    from qsproj.cli.options.given_parsers import LOOKED_AT, tell_unknown_tags
    from qsproj.corpus.alignments import write_alignments
    from qsproj.corpus.conllu import write_conllu
    from qsproj.corpus.files import open_output
    from qsproj.pipelines.bilingual.biparse import ParsingCounts, load_joint_parser, parse_pair_stream
    from qsproj.pipelines.streams import loaded_once
    from qsproj.progress import track

    common.check_files(
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
        workers=common.workers_of(options),
    )
    with ExitStack() as stack:
        target = stack.enter_context(open_output(options.output))
        source = stack.enter_context(open_output(options.source_output)) if options.source_output else None
        links = (
            stack.enter_context(open_output(options.alignment_output)) if options.alignment_output else None
        )
        parsing = pair_files.located_pairs(
            pair_files.pair_files_of(options), parse, source_tree=source_tree, sides=_tagged_sides(model)
        )
        first: list[ParsedPair] = []
        for parsed in track(parsing, "parsing", unit="pair"):
            if len(first) < LOOKED_AT:
                first.append(parsed)
            write_conllu([parsed.target], target)
            if source is not None:
                write_conllu([parsed.source], source)
            if links is not None:
                write_alignments([parsed.alignment], links, with_weights=True)
    for side in _tagged_sides(model):
        sentences = [getattr(parsed, side) for parsed in first]
        tell_unknown_tags(sentences, getattr(model, side), path=options.model, name=getattr(options, side))
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
    from qsproj.pipelines.bilingual.cotrain import (
        CotrainingOptions,
        NoisyChannelOptions,
        cotrain,
        train_noisy_channel,
    )

    check_name("method", options.method, METHODS)
    refuse_unread(options, METHOD_WAYS, f"--method {options.method}")
    _check_source_tree(options)
    if options.source_tree == "joint" and options.method == "noisy-channel":
        raise UsageError("a noisy channel takes a source tree as given: --source-tree best or observed")
    common.check_files(reads=(*_inputs(options), options.model, options.trees), model=options.output)
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
            sides=_tagged_sides(joint),
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
