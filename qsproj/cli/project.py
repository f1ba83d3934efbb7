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
from typing import TYPE_CHECKING

from qsproj.cli.options.common import (
    add_model_output,
    add_pairing,
    add_seed,
    add_workers,
    check_files,
    naming,
)
from qsproj.cli.options.made import languages_of, made_by
from qsproj.cli.options.pair_files import add_alignment_format
from qsproj.cli.options.projection_methods import DEFAULT_METHOD, METHODS, TARGET_ALONE, WAYS
from qsproj.cli.options.ways import declare_ways, refuse_unread
from qsproj.corpus.formats import read_sentences, write_sentences
from qsproj.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from qsproj.cli.options.projection_methods import Sources

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options: those of every method, then each method's own."""
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="FILE",
        help="source trees, CoNLL-U; --method em needs none, and learns relations from them alone",
    )
    parser.add_argument(
        "--target", required=True, action="append", metavar="FILE", help="tagged target sentences, CoNLL-U"
    )
    parser.add_argument(
        "--alignment", action="append", default=[], metavar="FILE", help="word links, for each --source"
    )
    add_alignment_format(parser)
    add_pairing(parser)
    add_model_output(parser, "where the parser is written")
    parser.add_argument("--trees", metavar="FILE", help="also write the target sentences with their trees")
    parser.add_argument(
        "--method",
        default=DEFAULT_METHOD,
        metavar="NAME",
        help="; ".join(f"{name}: {method.summary}" for name, method in METHODS.items())
        + f" (default: {DEFAULT_METHOD})",
    )
    add_seed(parser)
    for method in METHODS.values():
        method.add_options(parser)
    add_workers(parser)
    declare_ways(parser, WAYS)


def run(options: argparse.Namespace) -> None:
    """Project by the chosen method, write the model, say how it went."""
    if options.method not in METHODS:
        raise unknown_name("method", options.method, list(METHODS))
    refuse_unread(options, WAYS, f"--method {options.method}")
    with naming(*options.source, *options.target, *options.alignment, *options.annotated):
        projected = METHODS[options.method].project(_sources(options), options)
    if options.trees:
        write_sentences(projected.trees(), options.trees)
    target = () if options.target[0] == "-" else read_sentences(options.target[0])
    projected.parser.save(options.output, made=made_by(options, languages=languages_of(target)))
    for line in projected.report:
        print(line, file=sys.stderr)


def _sources(options: argparse.Namespace) -> Sources:
    """Return the pairs of each source with the target; more than one for methods that take several."""
    from qsproj.corpus.pairs.aligned import AlignedFiles, TargetAlone

    sources, targets, alignments = options.source, options.target, options.alignment
    check_files(
        reads=(*sources, *targets, *alignments, *options.prior, *options.annotated),
        model=options.output,
        writes=[(options.trees, None)],
    )
    if "-" in (*sources, *targets, *alignments) and (options.method == "soft" or options.trees):
        raise UsageError("--method soft and --trees read everything several times; name files in place of -")
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
