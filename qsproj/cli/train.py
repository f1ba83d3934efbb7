"""Train a dependency parser on one or more treebanks.

Treebanks are CoNLL-U (plain, .gz, .xz). Trees may be partial: training sums over the heads that are missing
(HEAD is _).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from qsproj.cli.command_parser import CommandParser
from qsproj.cli.options.declare import add_fields, only_where, only_with, values_of
from qsproj.cli.options.provenance import languages_of, made_by
from qsproj.cli.options.shared import add_order, add_seed, warn_trained_on_dev
from qsproj.conventions import Heads
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import at_lines
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_all, read_sentences
from qsproj.corpus.sentence import Sentence, has_tree
from qsproj.errors import DataError, UsageError, pluralise
from qsproj.models.arc import training_options as known
from qsproj.models.arc.training_options import TrainingOptions, TrainingReport
from qsproj.pipelines.treebanks import read_tagged
from qsproj.progress import notice

if TYPE_CHECKING:
    from qsproj.models.parser import Parser
    from qsproj.pipelines.treebanks import Treebank


# Default number of steps of batch optimisers.
BATCH_STEPS = 60

# Fields of TrainingOptions with an option of the same name, in the order of the help.
FIELDS = ("optimizer", "best", "clusters", "cost", "cutoff", "l2")


def _defaults(field: str) -> str:
    usual = getattr(known.OBJECTIVES[0], field)
    others = sorted(
        (getattr(one, field), one.name) for one in known.OBJECTIVES if getattr(one, field) != usual
    )
    return f"(default: {usual:g}; {', '.join(f'{name} {value:g}' for value, name in others)})"


def training_options(options: argparse.Namespace) -> TrainingOptions:
    objective = known.objective_named(options.objective)
    given = values_of(options, "objective", *FIELDS)
    given["epochs"] = options.epochs or (objective.epochs if options.optimizer == "sgd" else BATCH_STEPS)
    given["l2"] = objective.l2 if options.l2 is None else options.l2
    template_set = options.features
    projective = _choice(yes=options.projective, no=options.nonprojective)
    single_root = _choice(yes=options.single_root, no=options.multi_root)
    return TrainingOptions(**given, template_set=template_set, projective=projective, single_root=single_root)


def _choice(*, yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None


LEARNS_FROM = ("treebanks",)
EXAMPLES = f"""objectives:
{known.objectives_explained()}

examples:
  qsproj train corpora/en.conllu -o en.model
  qsproj train train.conllu.gz more.conllu -o my.model --dev dev.conllu
  qsproj train train.conllu.gz -o my.model --order 2                 # more accurate, 5 to 6 times slower
  qsproj train train.conllu -o delex.model --features delexicalised  # to parse another language
  qsproj train train.conllu -o mst.model --objective mira-kbest --epochs 7
"""


def add_arguments(parser: CommandParser) -> None:
    parser.option("TREEBANK ...", "CoNLL-U files", dest="treebanks")
    parser.option("-o, --output MODEL", "where the model is written", required=True)
    parser.option("--dev FILE", "early stopping by UAS on this treebank")
    add_seed(parser)
    group = parser.add_argument_group("the parser")
    add_order(group, "1: score single arcs (default); 2: also pairs and sequences of arcs")
    shape = group.add_mutually_exclusive_group()
    shape.option("--projective", "arcs may not cross")
    shape.option("--nonprojective", "arcs may cross (default: as in the treebanks)")
    roots = group.add_mutually_exclusive_group()
    roots.option("--single-root", "the root has exactly one child")
    roots.option("--multi-root", "the root may have several children (default: as in the treebanks)")
    group.option(
        "--features NAME",
        "features of words: delexicalised (UPOS only, to parse another language), words, or "
        "morphology (also lemmas, XPOS and FEATS; default if the treebanks have any)",
        choices=("delexicalised", "words", "morphology"),  # as in arc_templates, which imports numba
    )
    labels = group.option(
        "--labels",
        "predict relations after the tree (default) or with it: more accurate, RelProb=",
        choices=("after", "joint"),
        default="after",
    )
    group.option("--enhanced", "also learn enhanced dependencies (DEPS)")
    group.option("--joint-tags", "read only word forms; infer UPOS and tree jointly")
    usual, advanced = TrainingOptions(), parser.add_argument_group("advanced")
    add_fields(advanced, usual, "objective")
    by_objective = {name: _defaults(name) for name in ("epochs", "l2")}
    add_fields(advanced, usual, "epochs", by_way=by_objective)
    fields = dict(zip(FIELDS, add_fields(advanced, usual, *FIELDS, by_way=by_objective), strict=True))
    factors = advanced.option(
        "--factors NAMES",
        "second-order factors: grand, childseq, valence, nocross, with commas between them (default: the "
        "first three, and nocross if arcs may cross)",
    )
    iterations = advanced.option(
        "--bp-iterations N",
        "iterations of belief propagation, with --order 2 or --joint-tags (default: 5)",
        dest="iterations",
        former="--iterations",
    )
    unlabelled = advanced.option(
        "--unlabelled FILE", "CoNLL-U without trees, for training by entropy regularisation"
    )
    like = advanced.option(
        "--like TAGGED", "for --features delexicalised: weight treebanks by similarity of UPOS to this file"
    )
    first_order = (labels, like, unlabelled, *(fields[name] for name in ("clusters", "cutoff", "optimizer")))
    only_where("--order 1", lambda options: options.order == 1 and not options.joint_tags, *first_order)
    only_with("order", factors, among=[2])
    only_where(
        "--order 2, --joint-tags", lambda options: options.order == 2 or options.joint_tags, iterations
    )
    for name, action in {**fields, "unlabelled": unlabelled}.items():
        read_by = [one.name for one in known.OBJECTIVES if name in one.reads]
        if read_by:
            only_with("objective", action, among=read_by)
    only_with("objective", labels, among=known.names_of(lambda one: one.margin is not None))
    only_with("labels", fields["optimizer"], unlabelled, among=["after"])


def run(options: argparse.Namespace) -> None:
    import numpy as np

    from qsproj.models.enhanced.enhancer import EnhancedParser, check_enhanced, train_enhancer
    from qsproj.models.tree_decoder import has_several_roots
    from qsproj.pipelines.treebanks import Treebank
    from qsproj.trees.crossings import has_crossings

    settings = training_options(options)
    _check_kind(options)
    warn_trained_on_dev(options)
    train = _training(options)
    dev = list(read_all([options.dev])) if options.dev else []
    if options.dev and not any(map(has_tree, dev)):
        advice = "name a treebank, or leave --dev out"
        raise DataError(options.dev, None, "no word with a head", "trees for early stopping", advice)
    read = read_tagged if options.joint_tags else read_all
    treebanks = [Treebank(name_of(path), list(read([path]))) for path in options.treebanks]
    if options.unlabelled:
        train = partial(train, unlabelled=list(read_all([options.unlabelled])))
    if options.like:
        train = partial(train, weights=_weights(treebanks, options.like))
    sentences = [sentence for treebank in treebanks for sentence in treebank.sentences]
    if options.enhanced:
        check_enhanced(sentences)
    if options.features != "delexicalised":  # Delexicalised training raises an error without tags.
        _warn_untagged(sentences)
    rng = np.random.default_rng(options.seed)
    parser, report = train(sentences, dev=dev, rng=rng, options=settings)
    made = _made(options, sentences, parser)
    saved = EnhancedParser(parser, train_enhancer(sentences, rng=rng)) if options.enhanced else parser
    saved.save(options.output, made=made)
    notice(report.summary(parser.inference))
    if parser.inference.single_root and settings.single_root is None:
        remedy = "left out, as trees have one root (--multi-root)"
        _warn_odd(treebanks, has_several_roots, "several roots", remedy)
    if parser.inference.projective and settings.projective is None:
        remedy = "replaced by the nearest trees without crossings (--nonprojective)"
        _warn_odd(treebanks, has_crossings, "crossing arcs", remedy)


def _warn_odd(treebanks: Sequence[Treebank], is_odd: Callable[[Heads], bool], what: str, remedy: str) -> None:
    odd, first = 0, ""
    for treebank in treebanks:
        for line, sentence in at_lines(treebank.sentences):
            if is_odd(sentence.heads):
                odd, first = odd + 1, first or f"{treebank.name}:{line}"
    if odd:
        count = sum(len(treebank.sentences) for treebank in treebanks)
        notice(f"{first}: {what}, as in {odd:,} of {pluralise(count, 'sentence')}: {remedy}")


def _made(options: argparse.Namespace, sentences: Sequence[Sentence], parser: Parser) -> dict[str, object]:
    read = [name for name in ("upos", "xpos") if name in parser.layers()[-1].reads]
    columns = [name for name in read if any(set(getattr(one, name)) != {UNSPECIFIED} for one in sentences)]
    words = sum(map(len, sentences))
    facts = {"columns": columns, "languages": languages_of(sentences)}
    return made_by(options, **facts, sentences=len(sentences), words=words)


def _warn_untagged(sentences: Sequence[Sentence]) -> None:
    """Report how many words have no UPOS: a parser trained without tags ignores them when parsing."""
    words = sum(map(len, sentences))
    untagged = sum(sentence.upos.count(UNSPECIFIED) for sentence in sentences)
    if untagged:
        share = "no word has" if untagged == words else f"{untagged:,} of {pluralise(words, 'word')} have no"
        notice(f"{share} UPOS; tag the treebank first, where there is a tagger (qsproj tag)")


def _weights(treebanks: Sequence[Treebank], like: str) -> list[float]:
    from qsproj.pipelines.treebanks import treebank_weights

    likenesses = treebank_weights(treebanks, read_sentences(like), target_name=name_of(like))
    for likeness in likenesses:
        notice(str(likeness))
    return [likeness.weight for likeness in likenesses for _ in range(likeness.sentences)]


def _check_kind(options: argparse.Namespace) -> None:
    if options.joint_tags and options.order == 2:
        raise UsageError("--joint-tags and --order 2 are different parsers; choose one")
    clustered = known.objective_named(options.objective).clustered
    if clustered and (options.joint_tags or options.order == 2):
        raise UsageError(f"--objective {options.objective} belongs to --order 1; leave one of them out")
    if options.like and options.features != "delexicalised":
        raise UsageError("--like belongs to --features delexicalised; give both, or neither")


def _training(options: argparse.Namespace) -> Callable[..., tuple[Any, TrainingReport]]:
    from qsproj.models.arc.arc_training import train_arc_parser
    from qsproj.models.clusters.cluster_parser import train_cluster_parser
    from qsproj.models.labelled.labelled_training import train_labelled_parser

    if known.objective_named(options.objective).clustered:
        return train_cluster_parser
    given = {"iterations": options.iterations} if options.iterations else {}
    if options.order == 2:
        from qsproj.models.graph.graph_parser import GraphOptions, train_graph_parser

        families = tuple(options.factors.split(",")) if options.factors else None
        return partial(train_graph_parser, graph_options=GraphOptions(families=families, **given))
    if options.joint_tags:
        from qsproj.models.tagging.tagging_parser import TaggingOptions
        from qsproj.models.tagging.tagging_parser_training import train_tagging_parser

        return partial(train_tagging_parser, tagging_options=TaggingOptions(**given))
    return train_labelled_parser if options.labels == "joint" else train_arc_parser
