"""Train a model that parses both sides of a bitext together: two trees and an alignment.

SOURCE and TARGET are CoNLL-U with UPOS, paired by parallel_id, else by sent_id, else by order; ALIGNMENT
holds candidate links, best with probabilities and generously (`qsproj align --weights --threshold 0.1`). The
target needs trees, a few hundred or even a few dozen; the source needs a parser (`qsproj train`), which stays
as it is. Where the first pairs have links by hand, --hand-alignment observes them; others stay hidden.
Reports say in how many runs belief propagation converged: messages between trees and links came to rest.
What is believed after a run that did not is less to be trusted; --factors mono leaves fewer of them.
Where the target has no trees, `qsproj join-biparser` takes over what was learned of another language pair.
"""

from __future__ import annotations

import argparse
import sys

from qsproj.cli.options import common, pair_files
from qsproj.cli.options.common import declare_ways, made_by, refuse_unread
from qsproj.corpus.formats import DEFAULT_ALIGNMENT_FORMAT
from qsproj.corpus.pairs.aligned import with_hand_alignments
from qsproj.errors import check_name
from qsproj.models.joint.joint_options import JointOptions, JointTrainingOptions

# What each way to train reads that not all do. SYNCH alone has no weights to learn.
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

EXAMPLES = """examples:
  qsproj train corpora/en.conllu -o en.model
  qsproj align corpora/en.conllu corpora/de.conllu --weights --threshold 0.1 -o en-de.weighted
  qsproj train-biparser --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment en-de.weighted --source-model en.model -o en-de.model
  qsproj biparse -m en-de.model --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment en-de.weighted -o de.parsed.conllu
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pair_files.add_pair_files(parser)
    pair_files.add_source_tree(parser, usual="joint")
    common.add_options(parser)("""
        --source-model MODEL!: a parser of the source, of order 1 or 2: with 2, its factors take part
        --target-model MODEL: a parser of the target that was not trained on these trees, as from `qsproj
            project`; without it, one is trained on them
        -o --output MODEL!: where the model is written
        --factors NAME=all: all (default); pairs: also those of two arcs on either side, grandparents and
            siblings; mono: reward parallel arcs only; synch: two parsers under a hard constraint
        --features NAME: what the target parser reads of a word, as in `qsproj train`: words, for text that
            only a tagger has seen; morphology (default where the trees have lemmas, XPOS or FEATS)
    """)
    common.add_fields(parser, JointTrainingOptions(), "epochs")
    common.add_order(
        parser,
        "of the target parser (default: 1): 2 adds grandparents, and sequences and numbers of dependents, to "
        "the pair's factors",
    )
    common.add_options(parser)("""
        --labels NAME=joint: joint (default): relations of the target are decided with those of the source,
            which nearly say those of parallel arcs; after: by the target's labeller alone, which is faster
        --tags NAME=given: given (default): target text comes with UPOS; links: the model tags target words
            that have none, with the tags of linked words as evidence, and learns from the trees as it tags
            them; joint: it does, and tags that are still uncertain are decided together with trees and links
    """)
    pair_files.add_link_learning(parser)
    common.add_fields(parser, JointOptions(), "link_threshold")
    common.add_seed(parser)
    common.add_checkpoint(
        parser, kept="there the target parser, and what is learned jointly after each epoch"
    )
    declare_ways(parser, FACTOR_WAYS, TARGET_WAYS, HAND_WAYS)


def run(options: argparse.Namespace) -> None:
    with common.naming(options.source, options.target, options.alignment):
        _train(options)


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
    reads = (
        *pair_files.checked_pair_files(options),
        options.source_model,
        options.target_model,
        options.hand_alignment,
    )
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
