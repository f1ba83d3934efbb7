"""Train a parser of monolingual target text from target trees and from a bitext without trees.

SOURCE and TARGET are CoNLL-U with UPOS, paired by parallel_id, else by sent_id, else by order; ALIGNMENT
holds candidate links. The parser is trained on the pairs as the joint model (`train-biparser`) parses them.
"""

import argparse
from dataclasses import replace

from qsproj.cli.options import pair_files
from qsproj.cli.options.declare import Option
from qsproj.cli.options.shared import SEED, jobs, provenance_of, rng_of
from qsproj.conventions import is_whole
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_all
from qsproj.errors import DataError, UsageError
from qsproj.progress import notice

LEARNS_FROM = ("source", "target", "alignment")
USUAL = "as the model was trained; a noisy channel uses best instead of joint"
OPTIONS = (
    *pair_files.PAIR_FILES,
    pair_files.source_tree(usual=USUAL),
    Option("-m, --model MODEL", "from `qsproj train-biparser`", required=True),
    Option(
        "--annotated FILE", "target trees, ideally the model's training data", former="--trees", required=True
    ),
    Option("-o, --output MODEL", "for `qsproj parse`", required=True),
    Option(
        "--method NAME",
        "co-training (default): train on target trees predicted by the joint model; noisy-channel: train "
        "on target trees that explain the source trees",
        default="co-training",
        choices=("co-training", "noisy-channel"),
    ),
    Option(
        "--source-forest NAME",
        "source trees that the channel of --method noisy-channel generates: best: the source parser's best "
        "tree (default); agreement: all, weighted by probability",
        default="best",
        choices=("best", "agreement"),
        needs="--method noisy-channel",
    ),
    Option(
        "--rounds N", "rounds that train the parser and joint model", default=1, needs="--method co-training"
    ),
    jobs("processes that parse pairs for co-training", needs="--method co-training"),
    SEED,
)
EXAMPLES = """examples:
  qsproj cotrain -m en-de.model --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment en-de.weighted --annotated corpora/de.conllu -o de.model
  qsproj cotrain -m en-de.model --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment en-de.weighted --annotated corpora/de.conllu -o de.model --method noisy-channel
"""


def run(options: argparse.Namespace) -> None:
    from qsproj.cli.options.model_warnings import warn_other_language
    from qsproj.models.joint.joint_parser import load_joint_parser
    from qsproj.parallel import Workers
    from qsproj.pipelines.bilingual.cotrain import NoisyChannelOptions, cotrain, train_noisy_channel

    if options.source_tree == "joint" and options.method == "noisy-channel":
        raise UsageError("a noisy channel needs a known source tree: --source-tree best or observed")
    files = pair_files.pair_files_of(options)
    joint = load_joint_parser(options.model)
    if options.source_tree:
        joint = replace(joint, options=replace(joint.options, source_tree=options.source_tree))
    trees = list(read_all([options.annotated]))
    if not any(is_whole(sentence.heads) for sentence in trees):
        raise DataError(options.annotated, None, "no whole tree", "trees of the target", "annotate some")
    pairs = list(pair_files.tagged_pairs(files, source_tree=joint.options.source_tree, model=joint))
    target = (pair.target for pair in pairs)
    warn_other_language(trees, target, path=options.annotated, name=name_of(options.target))
    rng = rng_of(options)
    if options.method == "co-training":
        workers = Workers(jobs=options.jobs)
        parser, report = cotrain(joint, trees, pairs, rng=rng, rounds=options.rounds, workers=workers)
    else:
        channel = NoisyChannelOptions(source_forest=options.source_forest)
        parser, report = train_noisy_channel(joint, trees, pairs, rng=rng, options=channel)
    parser.save(options.output, made=provenance_of(options))
    notice(report.summary())
