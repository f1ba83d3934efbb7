"""Train a dependency parser on one or more treebanks.

Treebanks are CoNLL-U (plain, .gz, .xz, .bz2, .zip). Trees may be partial: training sums over missing heads
(HEAD is _); --objective eg and --joint-tags leave such sentences out.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from qsproj.cli.options import shared
from qsproj.cli.options.declare import Heading, Option, of_fields, only_where, only_with
from qsproj.conventions import Heads
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import line_of
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_all, read_sentences
from qsproj.corpus.sentence import Sentence, has_tree
from qsproj.errors import DataError, UsageError, pluralise
from qsproj.models.arc import training_options as known
from qsproj.models.arc.training_options import TrainingOptions, TrainingReport
from qsproj.pipelines.treebanks import Treebank, read_tagged, treebank_weights
from qsproj.progress import notice

BATCH_STEPS = 60  # default of batch optimisers
# Fields of TrainingOptions with an option of the same name, in the order of the help.
FIELDS = ("optimizer", "best", "clusters", "cost", "cutoff", "l2")


def _defaults(field: str) -> str:
    usual = getattr(known.OBJECTIVES[0], field)
    values = sorted((getattr(one, field), one.name) for one in known.OBJECTIVES)
    others = ", ".join(f"{name} {value:g}" for value, name in values if value != usual)
    return f"(default: {usual:g}; {others})"


def training_options(options: argparse.Namespace) -> TrainingOptions:
    objective = known.objective_named(options.objective)
    given = shared.values_of(options, "objective", *FIELDS)
    given["epochs"] = options.epochs or (objective.epochs if options.optimizer == "sgd" else BATCH_STEPS)
    given["l2"] = objective.l2 if options.l2 is None else options.l2
    given["projective"] = _choice(yes=options.projective, no=options.nonprojective)
    given["single_root"] = _choice(yes=options.single_root, no=options.multi_root)
    return TrainingOptions(**given, template_set=options.features)


def _choice(*, yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None


LEARNS_FROM = ("treebanks",)


def _of_objectives() -> Iterable[Option]:
    """Yield the options of fields; their values depend on the objectives that are known by now."""
    by_way = {name: _defaults(name) for name in ("epochs", "l2")}
    return of_fields(TrainingOptions(), "objective", "epochs", *FIELDS, by_way=by_way)


OPTIONS = (
    Option("TREEBANK ...", "CoNLL-U files", dest="treebanks"),
    Option("-o, --output MODEL", "where the model is written", required=True),
    Option("--dev FILE", "early stopping by UAS on this treebank"),
    shared.SEED,
    Heading("the parser"),
    Option("--order", "1: score arcs (default); 2: also pairs and sequences", default=1, choices=(1, 2)),
    Option("--projective", "arcs may not cross"),
    Option("--nonprojective", "arcs may cross (default: as in the treebanks)", instead=True),
    Option("--single-root", "the root has exactly one child"),
    Option("--multi-root", "the root may have several children (default: as in the treebanks)", instead=True),
    Option(
        "--features NAME",
        "features of words: delexicalised (UPOS only, to parse another language), words, or morphology "
        "(also lemmas, XPOS and FEATS; default if the treebanks have any)",
        choices=("delexicalised", "words", "morphology"),
    ),
    Option(
        "--labels",
        "predict relations after the tree (default) or with it: more accurate, RelProb=",
        default="after",
        choices=("after", "joint"),
    ),
    Option("--enhanced", "also learn enhanced dependencies (DEPS)"),
    Option("--joint-tags", "read only word forms; infer UPOS and tree jointly"),
    Heading("advanced"),
    _of_objectives,
    Option(
        "--factors NAMES",
        "second-order factors: grand, childseq, valence, nocross, with commas between them (default: the "
        "first three, and nocross if arcs may cross)",
        needs="--order 2",
    ),
    Option(
        "--bp-iterations N",
        "iterations of belief propagation, with --order 2 or --joint-tags (default: 5)",
        dest="iterations",
        former="--iterations",
    ),
    Option("--unlabelled FILE", "CoNLL-U without trees, for training by entropy regularisation"),
    Option("--like TAGGED", "for --features delexicalised: weight treebanks by similarity of UPOS to it"),
)
EXAMPLES = f"""objectives:
{known.objectives_explained()}

examples:
  qsproj train corpora/en.conllu -o en.model
  qsproj train train.conllu.gz more.conllu -o my.model --dev dev.conllu
  qsproj train train.conllu.gz -o my.model --order 2                 # more accurate, 5 to 6 times slower
  qsproj train train.conllu -o delex.model --features delexicalised  # to parse another language
  qsproj train train.conllu -o mst.model --objective mira-kbest --epochs 7
"""


def add_conditions(parser: argparse.ArgumentParser) -> None:
    first_order = "labels", "like", "unlabelled", "clusters", "cutoff", "optimizer"
    only_where(parser, "parsers without --joint-tags", lambda options: not options.joint_tags, *first_order)
    only_with(parser, "--order 1", *first_order)
    only_where(parser, "--order 2, --joint-tags", lambda one: one.joint_tags or one.order == 2, "iterations")
    for name in (*FIELDS, "unlabelled"):
        if read_by := [one.name for one in known.OBJECTIVES if name in one.reads]:
            only_with(parser, f"--objective {', '.join(read_by)}", name)
    with_margin = ", ".join(known.names_of(lambda one: one.margin is not None))
    only_with(parser, f"--objective {with_margin}", "labels")
    only_with(parser, "--labels after", "optimizer", "unlabelled")


def run(options: argparse.Namespace) -> None:
    from qsproj.models.enhanced.enhancer import EnhancedParser, check_enhanced, train_enhancer
    from qsproj.models.tree_decoder import has_several_roots
    from qsproj.trees.crossings import has_crossings

    settings, train = training_options(options), _training(options)
    shared.warn_trained_on_dev(options)
    dev = list(read_all([options.dev])) if options.dev else []
    if options.dev and not any(map(has_tree, dev)):
        advice = "name a treebank, or leave --dev out"
        raise DataError(options.dev, None, "no word with a head", "trees for early stopping", advice)
    read = read_tagged if options.joint_tags else read_all
    treebanks = [Treebank(name_of(path), list(read([path]))) for path in options.treebanks]
    if options.unlabelled:
        train = partial(train, unlabelled=list(read_all([options.unlabelled])))
    if options.like:
        target = read_sentences(options.like)
        likenesses = treebank_weights(treebanks, target, target_name=name_of(options.like))
        for likeness in likenesses:
            notice(str(likeness))
        weights = [likeness.weight for likeness in likenesses for _ in range(likeness.sentences)]
        train = partial(train, weights=weights)
    sentences = [sentence for treebank in treebanks for sentence in treebank.sentences]
    if options.enhanced:
        check_enhanced(sentences)
    if options.features != "delexicalised":  # Delexicalised training raises an error without tags.
        _warn_untagged(sentences)
    rng = shared.rng_of(options)
    parser, report = train(sentences, dev=dev, rng=rng, options=settings)
    tags = sorted({"upos", "xpos"}.intersection(parser.layers()[-1].reads))
    columns = [one for one in tags if any({*getattr(s, one)} != {UNSPECIFIED} for s in sentences)]
    counts = {"sentences": len(sentences), "words": sum(map(len, sentences))}
    made = shared.provenance_of(options, columns=columns, languages=shared.languages_of(sentences), **counts)
    saved = EnhancedParser(parser, train_enhancer(sentences, rng=rng)) if options.enhanced else parser
    saved.save(options.output, made=made)
    notice(report.summary(parser.inference))
    if parser.inference.single_root and settings.single_root is None:
        remedy = "left out, as trees have one root (--multi-root)"
        _warn_odd(treebanks, has_several_roots, "several roots", remedy)
    if parser.inference.projective and settings.projective is None:
        remedy = "replaced by the nearest trees without crossings (--nonprojective)"
        _warn_odd(treebanks, has_crossings, "crossing arcs", remedy)


def _warn_untagged(sentences: Sequence[Sentence]) -> None:
    """Tell of words without tags: a parser trained without tags ignores them when parsing."""
    words, untagged = sum(map(len, sentences)), sum(one.upos.count(UNSPECIFIED) for one in sentences)
    share = "no word has" if untagged == words else f"{untagged:,} of {pluralise(words, 'word')} have no"
    if untagged:
        notice(f"{share} UPOS; tag the treebank first, where there is a tagger (qsproj tag)")


def _warn_odd(treebanks: Sequence[Treebank], is_odd: Callable[[Heads], bool], what: str, remedy: str) -> None:
    read = ((one.name, tree) for one in treebanks for tree in one.sentences)
    if odd := [f"{name}:{line_of(tree)}" for name, tree in read if is_odd(tree.heads)]:
        count = pluralise(sum(len(one.sentences) for one in treebanks), "sentence")
        notice(f"{odd[0]}: {what}, as in {len(odd):,} of {count}: {remedy}")


def _training(options: argparse.Namespace) -> Callable[..., tuple[Any, TrainingReport]]:
    """Return the function that trains the kind of parser; UsageError for options of different kinds."""
    from qsproj.models.arc.arc_training import train_arc_parser
    from qsproj.models.clusters.cluster_parser import train_cluster_parser
    from qsproj.models.labelled.labelled_training import train_labelled_parser

    if options.joint_tags and options.order == 2:
        raise UsageError("--joint-tags and --order 2 are different parsers; choose one")
    clustered = known.objective_named(options.objective).clustered
    if clustered and (options.joint_tags or options.order == 2):
        other = "--joint-tags" if options.joint_tags else "--order 2"
        raise UsageError(f"--objective {options.objective} and {other} are different parsers; choose one")
    if options.like and options.features != "delexicalised":
        raise UsageError("--like belongs to --features delexicalised; give both, or neither")
    if clustered:
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
