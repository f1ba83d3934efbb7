"""Carry a treebank to another language: from a parsed source, a tagged target and word links to a parser.

SOURCE is CoNLL-U with trees (gold, or from `qsproj parse`), TARGET its translation in CoNLL-U with UPOS (from
`qsproj tag`), ALIGNMENT their links (from `qsproj align`). Sentences are paired by parallel_id, else by
sent_id, else by order. Heads that TARGET has are used only to report how many projected arcs are right.
"""

from __future__ import annotations

import argparse
import sys

from qsproj.cli.options import add_seed, add_workers, check_one_standard_input
from qsproj.cli.projection_methods import METHODS

EXAMPLES = """examples:
  qsproj project --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment corpora/en-de.pharaoh -o de.model --trees de.projected.conllu
  qsproj project --source en.parsed.conllu --target de.tagged.conllu --alignment en-de.pharaoh \\
      --min-attached 1 --completion hwa -o de.model        # whole trees only, completed as in Hwa et al.
  qsproj align en.tagged.conllu de.tagged.conllu --threshold 0.15 --weights -o en-de.pharaoh
  qsproj project --source en.parsed.conllu --target de.tagged.conllu --alignment en-de.pharaoh \\
      --method qg --jobs 8 --checkpoint state --resume -o de.model    # killed? the same command goes on
  qsproj project --source en.parsed.conllu --target de.tagged.conllu --alignment en-de.pharaoh \\
      --method qg --backend dask --scheduler tcp://head:8786 -o de.model
  qsproj train en-train.conllu --features delexicalised -o en.delex
  qsproj train da.conllu nl.conllu sv.conllu --features delexicalised -o neighbours.delex
  qsproj project --source en.parsed.conllu --target de.tagged.conllu --alignment en-de.pharaoh \\
      --method soft --prior en.delex --prior neighbours.delex -o de.model    # the most accurate
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options: those of every method, then each method's own."""
    parser.add_argument("--source", required=True, metavar="FILE", help="source trees, CoNLL-U")
    parser.add_argument("--target", required=True, metavar="FILE", help="tagged target sentences, CoNLL-U")
    parser.add_argument("--alignment", required=True, metavar="FILE", help="word links")
    parser.add_argument(
        "--alignment-format", default="pharaoh", metavar="NAME", help="pharaoh (default), talp, naacl, ..."
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="where the parser is written")
    parser.add_argument("--trees", metavar="FILE", help="also write the target sentences with their trees")
    parser.add_argument(
        "--method",
        default="hard",
        metavar="NAME",
        help="; ".join(f"{name}: {method.summary}" for name, method in METHODS.items()) + " (default: hard)",
    )
    add_seed(parser)
    for method in METHODS.values():
        method.add_options(parser)
    add_workers(parser)


def run(options: argparse.Namespace) -> None:
    """Project by the chosen method, write the model, say how it went."""
    from qsproj.corpus.pairing import AlignedFiles
    from qsproj.errors import unknown_name

    if options.method not in METHODS:
        raise unknown_name("method", options.method, list(METHODS))
    check_one_standard_input(options.source, options.target, options.alignment)
    pairs = AlignedFiles(options.source, options.target, options.alignment, options.alignment_format)
    projected = METHODS[options.method].project(pairs, options)
    projected.parser.save(options.output)
    for line in projected.report:
        print(line, file=sys.stderr)
