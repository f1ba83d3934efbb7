"""Options of the actions of ``qsproj biparse``, and an example of each."""

from __future__ import annotations

import argparse

from qsproj.cli.options.actions import Actions, add_action
from qsproj.cli.options.checkpoints import add_checkpoint
from qsproj.cli.options.common import (
    add_jobs,
    add_model_output,
    add_number,
    add_order,
    add_seed,
    add_whole_number,
    add_workers,
)
from qsproj.cli.options.fields import add_fields
from qsproj.cli.options.hand_alignments import add_link_learning
from qsproj.cli.options.pair_files import add_pair_files
from qsproj.cli.options.ways import declare_ways
from qsproj.models.joint.joint_options import JointOptions, JointTrainingOptions

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
TARGET_WAYS = {
    "--target-model": (),
    "a target parser that is trained": ("order", "features"),
}
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


def add_training(actions: Actions) -> None:
    """Add the action ``train``."""
    train = _add_action(actions, "train", _TRAIN, source_tree="joint")
    train.add_argument(
        "--source-model",
        required=True,
        metavar="MODEL",
        help="a parser of the source, of order 1 or 2: with 2, its factors take part",
    )
    train.add_argument(
        "--target-model",
        metavar="MODEL",
        help="a parser of the target that was not trained on these trees, as from `qsproj project`; without "
        "it, one is trained on them",
    )
    add_model_output(train)
    train.add_argument(
        "--factors",
        default="all",
        metavar="NAME",
        help="all (default); pairs: also those of two arcs on either side, grandparents and siblings; mono: "
        "reward parallel arcs only; synch: two parsers under a hard constraint",
    )
    train.add_argument(
        "--features",
        metavar="NAME",
        help="what the target parser reads of a word, as in `qsproj train`: words, for text that only a "
        "tagger has seen; morphology (default where the trees have lemmas, XPOS or FEATS)",
    )
    add_fields(train, JointTrainingOptions(), "epochs")
    add_order(
        train,
        "of the target parser (default: 1): 2 adds grandparents, and sequences and numbers of dependents, to "
        "the pair's factors",
    )
    train.add_argument(
        "--labels",
        default="joint",
        metavar="NAME",
        help="joint (default): relations of the target are decided with those of the source, which nearly "
        "say those of parallel arcs; after: by the target's labeller alone, which is faster",
    )
    train.add_argument(
        "--tags",
        default="given",
        metavar="NAME",
        help="given (default): target text comes with UPOS; links: the model tags target words that have "
        "none, with the tags of linked words as evidence, and learns from the trees as it tags them; joint: "
        "it does, and tags that are still uncertain are decided together with trees and links",
    )
    add_link_learning(train)
    add_fields(train, JointOptions(), "link_threshold")
    add_seed(train)
    add_checkpoint(train, kept="there the target parser, and what is learned jointly after each epoch")
    declare_ways(train, FACTOR_WAYS, TARGET_WAYS, HAND_WAYS)


def add_joining(actions: Actions) -> None:
    """Add the action ``join``."""
    join = add_action(actions, "join", _JOIN, EXAMPLES)
    join.add_argument(
        "-m",
        "--model",
        required=True,
        metavar="MODEL",
        help="from `qsproj biparse train`, on other languages; best with --target-model, a parser made as "
        "this one was",
    )
    join.add_argument("--source-model", required=True, metavar="MODEL", help="a parser of the source")
    join.add_argument("--target-model", required=True, metavar="MODEL", help="a parser of the target")
    add_model_output(join)


def add_parsing(actions: Actions) -> None:
    """Add the action ``parse``."""
    parse = _add_action(actions, "parse", _PARSE, source_tree="as the model was trained")
    parse.add_argument("-m", "--model", required=True, metavar="MODEL", help="from `qsproj biparse train`")
    parse.add_argument("-o", "--output", metavar="FILE", default="-", help="target trees (default: stdout)")
    parse.add_argument("--source-output", metavar="FILE", help="also write source trees")
    parse.add_argument("--alignment-output", metavar="FILE", help="also write links, as i-j:p")
    add_number(
        parse,
        "--link-threshold",
        least=0.0,
        most=1.0,
        metavar="P",
        help="least probability of the links that are written (default: as the model was trained)",
    )
    add_workers(parse)
    declare_ways(parse, OUTPUT_WAYS)


def add_cotraining(actions: Actions) -> None:
    """Add the action ``cotrain``."""
    cotrain = _add_action(
        actions,
        "cotrain",
        _COTRAIN,
        source_tree="as the model was trained; a noisy channel takes best for joint",
    )
    cotrain.add_argument("-m", "--model", required=True, metavar="MODEL", help="from `qsproj biparse train`")
    cotrain.add_argument(
        "--trees",
        required=True,
        metavar="FILE",
        help="target sentences with trees, best those that the model was trained on",
    )
    add_model_output(cotrain, "for `qsproj parse`")
    cotrain.add_argument(
        "--method",
        default="co-training",
        metavar="NAME",
        help="co-training (default): learn what the joint model believes of the target trees; noisy-channel: "
        "learn target trees that explain the source trees",
    )
    cotrain.add_argument(
        "--source-forest",
        default="best",
        metavar="NAME",
        help="with --method noisy-channel, the source trees that the channel generates: best (default), the "
        "source parser's best tree; ranked, its five best; agreement, all of its trees, by probability",
    )
    add_whole_number(
        cotrain,
        "--rounds",
        least=1,
        default=1,
        help="of co-training: how often the joint model teaches the other, and is renewed by it",
    )
    add_jobs(cotrain, "processes that parse pairs for co-training")
    add_seed(cotrain)
    declare_ways(cotrain, METHOD_WAYS)


def _add_action(
    actions: Actions,
    name: str,
    description: str,
    *,
    source_tree: str,
) -> argparse.ArgumentParser:
    """Add an action that reads pairs; ``source_tree`` says what is the default."""
    action = add_action(actions, name, description, EXAMPLES)
    add_pair_files(action)
    action.add_argument(
        "--source-tree",
        metavar="NAME",
        help="joint: inferred with the target; best: that of the source parser, which is faster; observed: "
        f"that of the source file (default: {source_tree})",
    )
    return action
