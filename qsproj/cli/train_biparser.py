"""Train a model that parses both sides of a bitext together: two trees and an alignment.

SOURCE and TARGET are CoNLL-U with UPOS, paired by parallel_id, else by sent_id, else by order. ALIGNMENT
holds candidate links, best with probabilities and a low threshold (`qsproj align --weights --threshold 0.1`).
A few dozen to a few hundred sentences need target trees; the source needs a parser, which is not changed.
Without target trees, use `qsproj join-biparser`, which reuses a joint model of another language pair.
"""

from argparse import ArgumentParser, Namespace

from qsproj.cli.options import pair_files
from qsproj.cli.options.declare import Heading, Option, of_fields, only_where
from qsproj.cli.options.shared import SEED, checkpoint, checkpoint_of, provenance_of, rng_of, values_of
from qsproj.corpus.formats import DEFAULT_ALIGNMENT_FORMAT
from qsproj.corpus.pairs.aligned import with_hand_alignments
from qsproj.features.arc_templates import TEMPLATE_SETS
from qsproj.features.joint_templates import FAMILIES
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint import joint_options
from qsproj.models.joint.joint_options import BiparseOptions, JointOptions, JointTrainingOptions
from qsproj.progress import notice

# Factors of two trees by the values of --factors; only SYNCH has no weights to learn.
FACTORS = {"all": FAMILIES, "mono": ("MONO",), "synch": (joint_options.SYNCH,)}
OPTIONS = (
    *pair_files.PAIR_FILES,
    Option("--source-model MODEL", "source parser, of order 1 or 2", required=True),
    Option("--target-model MODEL", "target parser not trained on these trees (default: train one on them)"),
    Option("-o, --output MODEL", "where the model is written", required=True),
    SEED,
    Heading("the model"),
    Option(
        "--factors NAME",
        "all (default); mono: reward parallel arcs only; synch: two parsers under a hard constraint",
        default="all",
        choices=FACTORS,
    ),
    Option(
        "--labels NAME",
        "joint (default): target relations also depend on those of the source; after: on the target tree "
        "only, which is faster",
        default="joint",
        choices=joint_options.LABELS,
        needs="--factors all, mono",
    ),
    Option(
        "--target-tags NAME",
        "given (default): the target has UPOS; links: the model tags it, using tags of linked words; "
        "joint: also infers uncertain tags jointly with trees and links",
        default="given",
        choices=joint_options.TAGS,
        former="--tags",
    ),
    Option(
        "--order", "target parser: 2 adds grandparents and sequences (default: 1)", default=1, choices=(1, 2)
    ),
    Option("--features NAME", "features of the target parser, as in qsproj train", choices=TEMPLATE_SETS),
    Heading("links by hand", needs="--factors all, mono"),
    *pair_files.LINK_LEARNING,
    Heading("advanced"),
    pair_files.source_tree(usual="joint"),
    *of_fields(JointTrainingOptions(), "epochs", needs="--factors all, mono"),
    *of_fields(JointOptions(), "link_threshold"),
    *checkpoint(kept="the target parser, and the state of training after each epoch"),
)

LEARNS_FROM = ("source", "target", "alignment")
EXAMPLES = """examples:
  qsproj train corpora/en.conllu -o en.model
  qsproj align corpora/en.conllu corpora/de.conllu --weights --threshold 0.1 -o en-de.weighted
  qsproj train-biparser --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment en-de.weighted --source-model en.model -o en-de.model
  qsproj biparse -m en-de.model --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment en-de.weighted -o de.parsed.conllu
"""


def add_conditions(parser: ArgumentParser) -> None:
    text = "a target parser that is trained"
    only_where(parser, text, lambda options: options.target_model is None, "order", "features")


def run(options: Namespace) -> None:
    from qsproj.models.joint.joint_trees import load_tree_parser
    from qsproj.pipelines.bilingual.biparse import train_joint_parser

    on_links = pair_files.alignment_families(options)
    files = pair_files.pair_files_of(options)
    checkpoint = checkpoint_of(options)
    source = load_tree_parser(options.source_model)
    target = None if options.target_model is None else load_tree_parser(options.target_model)
    learns_tags = options.target_tags != "given"
    pairs = list(pair_files.tagged_pairs(files, source_tree=options.source_tree, learns_tags=learns_tags))
    if options.hand_alignment is not None:
        format = options.hand_alignment_format or DEFAULT_ALIGNMENT_FORMAT
        pairs = with_hand_alignments(pairs, options.hand_alignment, format)
    least, of_given = joint_options.MIN_PROBABILITY, joint_options.MIN_PROBABILITY_OF_GIVEN
    training = BiparseOptions(
        joint=JointOptions(
            families=(*FACTORS[options.factors], *on_links),
            source_tree=options.source_tree or "joint",
            link_threshold=options.link_threshold,
            least_probability=least if target is None else of_given,
        ),
        training=JointTrainingOptions(epochs=options.epochs),
        target_training=TrainingOptions(template_set=options.features),
        tags=options.target_tags,
        **values_of(options, "order", "labels"),
    )
    joint, report = train_joint_parser(
        pairs, source, target=target, rng=rng_of(options), options=training, checkpoint=checkpoint
    )
    joint.save(options.output, made=provenance_of(options))
    notice(report.summary())
