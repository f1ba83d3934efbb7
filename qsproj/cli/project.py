"""Carry a treebank to another language: from a parsed source, a tagged target and word links to a parser.

SOURCE is CoNLL-U with trees (gold, or from `qsproj parse`), TARGET its translation in CoNLL-U with UPOS (from
`qsproj tag`), ALIGNMENT their links (from `qsproj align`). Sentences are paired by parallel_id, else by
sent_id, else by order. Heads that TARGET has are used only to report how many projected arcs are right.

With --method soft, the default, translations into several languages can vote: one --source and one
--alignment for each, and one --target for all, or one for each where they do not translate the same text.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from qsproj.cli.options import common
from qsproj.cli.options.common import declare_ways, languages_of, made_by, refuse_unread
from qsproj.cli.options.pair_files import add_alignment_format
from qsproj.corpus.enhanced import telling_emptied
from qsproj.corpus.formats import read_sentences, write_sentences
from qsproj.errors import UsageError, check_name
from qsproj.models.qg_dmv.qg_dmv_options import QgOptions
from qsproj.pipelines.projection import projected
from qsproj.pipelines.projection.methods import DEFAULT_METHOD, METHODS, RUN

if TYPE_CHECKING:
    from qsproj.corpus.sentence import Sentence
    from qsproj.pipelines.projection.methods import Sources

EXAMPLES = """examples:
  qsproj project --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment corpora/en-de.pharaoh -o de.model --trees de.projected.conllu
  qsproj project --source en.parsed.conllu --target de.tagged.conllu --alignment en-de.pharaoh \\
      --method hard --min-attached 1 --completion hwa -o de.model    # whole trees, completed as in Hwa et al.
  qsproj align en.tagged.conllu de.tagged.conllu --threshold 0.15 --weights -o en-de.pharaoh
  qsproj project --source en.parsed.conllu --target de.tagged.conllu --alignment en-de.pharaoh \\
      --method qg --jobs 8 --checkpoint state --resume -o de.model    # killed? the same command goes on
  qsproj project --source en.parsed.conllu --target de.tagged.conllu --alignment en-de.pharaoh \\
      --method qg --backend dask --scheduler tcp://head:8786 -o de.model
  qsproj train en-train.conllu --features delexicalised -o en.delex
  qsproj train da.conllu nl.conllu sv.conllu --features delexicalised -o neighbours.delex
  qsproj project --source en.parsed.conllu --target de.tagged.conllu --alignment en-de.pharaoh \\
      --prior en.delex --prior neighbours.delex -o de.model          # the most accurate
  qsproj project --target de.tagged.conllu --method em -o de.model    # tags alone, no source: the baseline
  qsproj project --source en.conllu --alignment en-de.pharaoh --source sv.conllu --alignment sv-de.pharaoh \\
      --target de.tagged.conllu -o de.model                          # two languages vote
"""


# The method that needs no source.
TARGET_ALONE = "em"
# What each method reads that not all do.
WAYS = {f"--method {name}": method.reads for name, method in METHODS.items()}
# What EM is trained by unless told.
_EM = {"em": projected.EM_FROM_TAGS, "hard-em": projected.EM_FROM_ARCS, "qg": QgOptions()}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_options(parser)("""
        --source FILE...: source trees, CoNLL-U; --method em needs none, and learns relations from them alone
        --target FILE...!: tagged target sentences, CoNLL-U
        --alignment FILE...: word links, for each --source
    """)
    add_alignment_format(parser)
    common.add_pairing(parser)
    common.add_options(parser)("""
        -o --output MODEL!: where the parser is written
        --trees FILE: also write the target sentences with their trees
        --enhanced: carry DEPS of the source over, too: the parser writes them, and so do --trees
    """)
    methods = "; ".join(f"{name}: {method.summary}" for name, method in METHODS.items())
    common.add_options(parser)(f"--method NAME={DEFAULT_METHOD}: {methods} (default: {DEFAULT_METHOD})")
    common.add_seed(parser)
    group = parser.add_argument_group("--method soft", "--nonprojective counts here, too")
    common.add_options(group)("""
        --prior MODEL...: a parser of another language, trained with --features delexicalised; several vote,
            each with its own --prior (default: two trained on the trees of each source, with its words
            translated)
    """)
    common.add_fields(group, projected.SoftProjectionOptions(), "strength", "sentences", "share")
    common.add_options(group)("""
        --annotated FILE+: the few target trees that there are, in the style of the source: they fine-tune the
            parser
    """)
    _add_hard_options(parser)
    _add_em_options(parser)
    common.add_workers(parser)
    declare_ways(parser, WAYS)


def _add_hard_options(parser: argparse.ArgumentParser) -> None:
    """Declare what ``hard`` reads, and ``hard-em`` in part."""
    defaults = projected.HardProjectionOptions()
    arcs = parser.add_argument_group("--method hard, hard-em")
    common.add_options(arcs)(f"""
        --completion NAME={defaults.completion}: none: one-to-one links only (default); hwa: Hwa et al.'s
            Direct Projection Algorithm
    """)
    common.add_fields(arcs, defaults, "min_weight", "min_attached")
    group = parser.add_argument_group("--method hard")
    common.add_fields(group, defaults, "max_sentences")
    common.add_options(group)(f"""
        --nonprojective: the parser may cross arcs (default: no, since most crossings in projected trees are
            wrong)
        --epochs N[1..]={projected.HARD_EPOCHS}: passes over them
    """)


def _add_em_options(parser: argparse.ArgumentParser) -> None:
    """Declare what ``em``, ``hard-em`` and ``qg`` read."""
    group = parser.add_argument_group("--method em, hard-em, qg")
    common.add_options(group)(f"""
        --iterations N[0..]: of EM, at most ({_defaults("iterations")}); with 0 what it starts from: hard-em
            and qg then count whole projected trees
        --start NAME: what EM starts from: trees, counts of whole projected trees (hard-em, qg); harmonic,
            nearby tags attract each other (em, hard-em); uniform, no preference, but in qg for the heads of
            the source, as in the thesis ({_defaults("start")})
    """)
    longest = f"leave out target sentences of more words ({_defaults('max_words')})"
    group.add_argument(
        "--longest", dest="max_words", type=common.whole_number(least=1), metavar="N", help=longest
    )
    common.add_options(group)(f"""
        --punctuation NAME: strip: leave it out, attach it by rule when parsing; keep: learn it as any word
            ({_defaults("punctuation")})
    """)
    common.add_checkpoint(group, kept="the state of EM there after each iteration")
    common.add_fields(parser.add_argument_group("--method qg"), QgOptions(), "min_linked")
    common.add_fields(parser.add_argument_group("--method hard-em, qg"), QgOptions(), "sibling_pairs")


def _defaults(field: str) -> str:
    by_method = {method: getattr(options, field) for method, options in _EM.items()}
    if len(set(by_method.values())) == 1:
        return f"default: {by_method['em']}"
    return f"default: {', '.join(f'{method} {value}' for method, value in by_method.items())}"


def run(options: argparse.Namespace) -> None:
    import numpy as np

    from qsproj.models.checkpoint import EMRun
    from qsproj.models.enhanced.enhancer import check_enhanced
    from qsproj.pipelines.projection.projected_graphs import project_graphs

    check_name("method", options.method, METHODS)
    refuse_unread(options, WAYS, f"--method {options.method}")
    method, sources = METHODS[options.method], _sources(options)
    given = {name: getattr(options, name) for name in method.reads if name not in RUN}
    if "checkpoint" in method.reads:
        checkpoint = common.checkpoint_of(options)
        if checkpoint is not None and options.iterations == 0:
            raise UsageError(
                "--checkpoint keeps iterations of EM, found --iterations 0; leave one of them out"
            )
        given["run"] = EMRun(workers=common.workers_of(options), checkpoint=checkpoint)
    with common.naming(*options.source, *options.target, *options.alignment, *options.annotated):
        rng = np.random.default_rng(options.seed)
        if options.enhanced:
            check_enhanced(pair.source for source in sources for pair in source)
        result = method.project(sources, rng=rng, **given)
        if options.enhanced:
            result = project_graphs(result, sources, rng=rng)
    if options.trees:

        def trees(given: Iterator[Sentence]) -> Iterable[Sentence]:
            deque(given, maxlen=0)
            return result.trees()

        targets = chain.from_iterable(map(read_sentences, options.target))
        write_sentences(telling_emptied(trees, targets, options.target[0]), options.trees)
    target = () if options.target[0] == "-" else read_sentences(options.target[0])
    result.parser.save(options.output, made=made_by(options, languages=languages_of(target)))
    for line in result.report:
        print(line, file=sys.stderr)


def _sources(options: argparse.Namespace) -> Sources:
    """Return the pairs of each source with the target; more than one for methods that take several."""
    from qsproj.corpus.pairs.aligned import AlignedFiles, TargetAlone

    sources, targets, alignments = options.source, options.target, options.alignment
    common.check_files(
        reads=(*sources, *targets, *alignments, *options.prior, *options.annotated),
        model=options.output,
        writes=[(options.trees, None)],
    )
    again = options.method == "soft" or options.trees or options.enhanced
    if "-" in (*sources, *targets, *alignments) and again:
        raise UsageError(
            "--method soft, --trees and --enhanced read everything several times; name files in place of -"
        )
    if not sources and not alignments and options.method == TARGET_ALONE and len(targets) == 1:
        return (TargetAlone(targets[0]),)
    if not sources or not alignments:
        missing = "--source" if not sources else "--alignment"
        raise UsageError(
            f"found no {missing}, expected source trees and their links to the target; name them "
            "(--source, --alignment), or leave both out and learn from the tags of one target: --method "
            f"{TARGET_ALONE}"
        )
    if len(sources) != len(alignments) or len(targets) not in (1, len(sources)):
        raise UsageError(
            f"found {len(sources)} --source, {len(alignments)} --alignment and {len(targets)} --target; give "
            "each source the links of its own, and all one target, or each its own"
        )
    if len(sources) > 1 and options.method != "soft":
        raise UsageError(
            f"--method {options.method} reads one --source; several vote with --method soft only"
        )
    return tuple(
        AlignedFiles(source, target, alignment, options.alignment_format, options.pair)
        for source, target, alignment in zip(
            sources, targets if len(targets) > 1 else targets * len(sources), alignments, strict=True
        )
    )
