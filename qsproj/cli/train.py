"""Train a dependency parser on one or more treebanks.

Treebanks are CoNLL-U (plain, .gz, .xz). A word without a head (HEAD is _) is summed out, so partial trees
train too. Whether trees are projective and have one root is read off the training data unless told.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from qsproj.cli.options import common
from qsproj.cli.options.common import declare_ways, languages_of, made_by, refuse_unread
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_all, read_sentences
from qsproj.errors import DataError, UsageError, counted
from qsproj.models.arc import training_options as known
from qsproj.models.arc.training_options import TrainingOptions, objective_named, objectives_explained

if TYPE_CHECKING:
    from qsproj.corpus.sentence import Sentence
    from qsproj.models.arc.arc_parser import ArcParser
    from qsproj.models.arc.training_options import TrainingReport
    from qsproj.models.clusters.cluster_parser import ClusterParser
    from qsproj.models.graph.graph_parser import GraphParser
    from qsproj.models.labelled.labelled_parser import LabelledParser
    from qsproj.models.tagging.tagging_parser import TaggingParser
    from qsproj.pipelines.treebank_weights import Treebank

    AnyParser = ArcParser | ClusterParser | GraphParser | LabelledParser | TaggingParser

# Steps of optimisers that look at all sentences before each.
BATCH_STEPS = 60

# Fields of TrainingOptions that have an option of their name, as help lists them.
FIELDS = (
    *("objective", "best", "limit", "clusters", "cost", "optimizer", "epochs", "cutoff", "support"),
    *("l2", "l1", "entropy"),
)


def objective_ways() -> dict[str, tuple[str, ...]]:
    return {
        f"--objective {one.name}": one.reads if one.margin is None else (*one.reads, "labels")
        for one in known.OBJECTIVES
    }


def _defaults(field: str) -> str:
    """Return what a number is unless given, by most objectives and by each of the others."""
    usual = getattr(known.OBJECTIVES[0], field)
    others = sorted(
        (getattr(one, field), one.name) for one in known.OBJECTIVES if getattr(one, field) != usual
    )
    return f"(default: {usual:g}; {', '.join(f'{name} {value:g}' for value, name in others)})"


def training_options(options: argparse.Namespace) -> TrainingOptions:
    objective = objective_named(options.objective)
    given = common.values_of(options, *FIELDS)
    given["epochs"] = options.epochs or (objective.epochs if options.optimizer == "sgd" else BATCH_STEPS)
    given["l2"] = objective.l2 if options.l2 is None else options.l2
    return TrainingOptions(
        **given,
        template_set=options.features,
        projective=_choice(yes=options.projective, no=options.nonprojective),
        single_root=_choice(yes=options.single_root, no=options.multi_root),
    )


def _choice(*, yes: bool, no: bool) -> bool | None:
    """Turn a pair of opposite switches into True, False, or None where neither is given."""
    return True if yes else False if no else None


EXAMPLES = f"""objectives:
{objectives_explained()}

examples:
  qsproj train corpora/en.conllu -o en.model
  qsproj train train.conllu.gz more.conllu -o my.model --dev dev.conllu
  qsproj train train.conllu.gz -o my.model --order 2           # more accurate; parses 5 to 6 times slower
  qsproj train train.conllu -o labelled.model --labels joint         # better relations, RelProb=
  qsproj train train.conllu -o delex.model --features delexicalised  # to parse another language
  qsproj train en.conllu da.conllu sl.conllu --features delexicalised --like de.tagged.conllu -o de.delex
  qsproj train train.conllu -o raw.model --features words            # to parse what only a tagger has seen
  qsproj train train.conllu -o mst.model --objective mira-kbest --epochs 7
  qsproj train train.conllu -o clusters.model --objective hidden --clusters 4
  qsproj train train.conllu -o enhanced.model --enhanced             # DEPS too
  qsproj train train.conllu -o words.model --joint-tags              # to parse what has no tags, and tag it
"""


# What each kind of parser reads that not all do.
WAYS = {
    "--order 1": (
        *("clusters", "cutoff", "entropy", "l1"),
        *("labels", "like", "optimizer", "support", "unlabelled"),
    ),
    "--order 2": ("factors", "iterations"),
    "--joint-tags": ("iterations",),
}

# What is read of another option only where that is given.
UNLABELLED_WAYS = {"--unlabelled": ("entropy",)}
CUTOFF_WAYS = {"--cutoff": ("support",)}

# What is read where relations are named after the tree, and not where they are part of it.
LABEL_WAYS = {"--labels after": ("entropy", "optimizer", "unlabelled"), "--labels joint": ()}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_options(parser)("""
        treebanks TREEBANK+: CoNLL-U files, plain, .gz or .xz
        -o --output MODEL!: where the model is written
        --dev FILE: stop early by the UAS on this treebank
    """)
    common.add_order(
        parser, "1: score single arcs (default); 2: pairs and sequences of arcs too, by belief propagation"
    )
    common.add_options(parser)("""
        --labels {after,joint}=after: with --order 1, after: relations are named when the tree is there
            (default); joint: they are part of what trees are chosen by, more accurate, and RelProb= tells how
            sure they are
        --factors NAMES: with --order 2, what is scored: a list, with commas, of grand, childseq, valence,
            nocross, hidden (a hidden projective tree, for arcs that may cross, in place of nocross; default:
            all but hidden, nocross where arcs may cross)
        --joint-tags: a parser that reads nothing but forms and infers UPOS and tree together, by belief
            propagation
        --iterations N[1..]: with --order 2 or --joint-tags, iterations of belief propagation in training and
            parsing (default: 5)
    """)
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--projective", action="store_true", help="arcs may not cross")
    shape.add_argument("--nonprojective", action="store_true", help="arcs may cross")
    roots = parser.add_mutually_exclusive_group()
    roots.add_argument("--single-root", action="store_true", help="exactly one child of the root")
    roots.add_argument("--multi-root", action="store_true", help="any number of children of the root")
    usual = TrainingOptions()
    by_objective = {name: _defaults(name) for name in ("epochs", "l2")}
    common.add_fields(parser, usual, *FIELDS[:-1], by_way=by_objective)
    common.add_options(parser)("""
        --unlabelled FILE: unlabelled CoNLL-U; adds an entropy penalty, so that the parser is sure of these
            sentences
    """)
    common.add_fields(parser, usual, FIELDS[-1])
    common.add_options(parser)("""
        --features NAME: what is read of a word: delexicalised (UPOS only, to parse another language), words
            (forms too), morphology (lemmas, XPOS and FEATS too; default where the treebanks have any)
        --like TAGGED: weigh each TREEBANK by how alike the trigrams of its UPOS tags are to those of this
            file: tagged CoNLL-U of the language to be parsed; with --features delexicalised (default: all
            alike)
        --enhanced: also learn enhanced dependencies from DEPS; `qsproj parse` then writes them
    """)
    common.add_seed(parser)
    declare_ways(parser, WAYS, objective_ways(), LABEL_WAYS, UNLABELLED_WAYS, CUTOFF_WAYS)


def run(options: argparse.Namespace) -> None:
    import numpy as np

    from qsproj.corpus.sentence import has_tree
    from qsproj.models.enhanced.enhanced_parser import EnhancedParser
    from qsproj.models.enhanced.enhancer import check_enhanced, train_enhancer
    from qsproj.pipelines.treebank_weights import Treebank

    settings = training_options(options)
    _check_kind(options)
    common.check_files(
        reads=(*options.treebanks, options.dev, options.like, options.unlabelled), model=options.output
    )
    train = _training(options)
    dev = list(read_all([options.dev])) if options.dev else []
    if options.dev and not any(map(has_tree, dev)):
        raise DataError(
            options.dev,
            None,
            found="no word with a head",
            expected="trees to stop early by",
            remedy="name a treebank, or leave --dev out",
        )
    read = common.read_tagged if options.joint_tags else read_all
    treebanks = [Treebank(name_of(path), list(read([path]))) for path in options.treebanks]
    if options.unlabelled:
        train = partial(train, unlabelled=list(read_all([options.unlabelled])))
    if options.like:
        train = partial(train, weights=_weights(treebanks, options.like))
    sentences = [sentence for treebank in treebanks for sentence in treebank.sentences]
    if options.enhanced:
        with common.naming(*options.treebanks):
            check_enhanced(sentences)
    if options.features != "delexicalised":  # These are refused where there is no tag.
        _tell_untagged(sentences)
    rng = np.random.default_rng(options.seed)
    with common.naming(*options.treebanks):
        parser, report = train(sentences, dev=dev, rng=rng, options=settings)
    made = _made(options, sentences, parser)
    if options.enhanced:
        enhancer = train_enhancer(sentences, rng=rng)
        EnhancedParser(parser, enhancer).save(options.output, made=made)
    else:
        parser.save(options.output, made=made)
    print(report.summary(parser.inference), file=sys.stderr)


def _made(options: argparse.Namespace, sentences: Sequence[Sentence], parser: AnyParser) -> dict[str, object]:
    """Return how the parser was made; ``columns`` are the tags that it has learned to read."""
    columns = [
        name
        for name in ("upos", "xpos")
        if name in parser.layers()[-1].reads
        and any(set(getattr(sentence, name)) != {UNSPECIFIED} for sentence in sentences)
    ]
    words = sum(map(len, sentences))
    facts = {"columns": columns, "languages": languages_of(sentences)}
    return made_by(options, **facts, sentences=len(sentences), words=words)


def _tell_untagged(sentences: Sequence[Sentence]) -> None:
    """Say how many words have no UPOS: a parser that never saw tags makes nothing of those it is given."""
    words = sum(map(len, sentences))
    untagged = sum(sentence.upos.count(UNSPECIFIED) for sentence in sentences)
    if untagged:
        share = "no word has" if untagged == words else f"{untagged:,} of {counted(words, 'word')} have no"
        print(f"{share} UPOS; tag the treebank first, where there is a tagger (qsproj tag)", file=sys.stderr)


def _weights(treebanks: Sequence[Treebank], like: str) -> list[float]:
    from qsproj.pipelines.treebank_weights import treebank_weights

    likenesses = treebank_weights(treebanks, read_sentences(like), target_name=name_of(like))
    for likeness in likenesses:
        print(likeness, file=sys.stderr)
    return [likeness.weight for likeness in likenesses for _ in range(likeness.sentences)]


def _check_kind(options: argparse.Namespace) -> None:
    if options.joint_tags and options.order == 2:
        raise UsageError("--joint-tags and --order 2 are different parsers; choose one")
    clustered = objective_named(options.objective).clustered
    if clustered and (options.joint_tags or options.order == 2):
        raise UsageError(f"--objective {options.objective} belongs to --order 1; leave one of them out")
    kind = "--joint-tags" if options.joint_tags else f"--order {options.order}"
    refuse_unread(options, WAYS, kind)
    refuse_unread(options, objective_ways(), f"--objective {options.objective}")
    refuse_unread(options, LABEL_WAYS, f"--labels {options.labels}")
    refuse_unread(options, UNLABELLED_WAYS, "--unlabelled" if options.unlabelled else None)
    refuse_unread(options, CUTOFF_WAYS, "--cutoff" if options.cutoff else None)
    if options.like and options.features != "delexicalised":
        raise UsageError("--like belongs to --features delexicalised; give both, or neither")


def _training(options: argparse.Namespace) -> Callable[..., tuple[AnyParser, TrainingReport]]:
    from qsproj.models.arc.arc_training import train_arc_parser
    from qsproj.models.clusters.cluster_training import train_cluster_parser
    from qsproj.models.labelled.labelled_training import train_labelled_parser

    if objective_named(options.objective).clustered:
        return train_cluster_parser
    given = {"iterations": options.iterations} if options.iterations else {}
    if options.order == 2:
        from qsproj.models.graph.graph_parser import GraphOptions
        from qsproj.models.graph.graph_training import train_graph_parser

        families = tuple(options.factors.split(",")) if options.factors else None
        return partial(train_graph_parser, graph_options=GraphOptions(families=families, **given))
    if options.joint_tags:
        from qsproj.models.tagging.tagging_parser import TaggingOptions
        from qsproj.models.tagging.tagging_parser_training import train_tagging_parser

        return partial(train_tagging_parser, tagging_options=TaggingOptions(**given))
    return train_labelled_parser if options.labels == "joint" else train_arc_parser
