"""Carry a treebank to another language: from a parsed source, a tagged target and word links to a parser.

SOURCE is CoNLL-U with trees (gold, or from `qsproj parse`), TARGET its translation in CoNLL-U with UPOS (from
`qsproj tag`), ALIGNMENT their links (from `qsproj align`). Sentences are paired by parallel_id, else by
sent_id, else by order. Heads that TARGET has are used only to report how many projected arcs are right.
"""

from __future__ import annotations

import argparse
import sys

from qsproj.cli.options import add_seed

EXAMPLES = """examples:
  qsproj project --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment corpora/en-de.pharaoh -o de.model --trees de.projected.conllu
  qsproj project --source en.parsed.conllu --target de.tagged.conllu --alignment en-de.pharaoh \\
      --min-attached 1 --completion hwa -o de.model        # whole trees only, completed as in Hwa et al.
"""

METHODS = ("hard",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--source", required=True, metavar="FILE", help="source trees, CoNLL-U")
    parser.add_argument("--target", required=True, metavar="FILE", help="tagged target sentences, CoNLL-U")
    parser.add_argument("--alignment", required=True, metavar="FILE", help="word links")
    parser.add_argument(
        "--alignment-format", default="pharaoh", metavar="NAME", help="pharaoh (default), talp, naacl, ..."
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="where the parser is written")
    parser.add_argument("--trees", metavar="FILE", help="also write the projected trees, whole and partial")
    parser.add_argument("--method", default="hard", metavar="NAME", help="hard: arcs through links (default)")
    parser.add_argument(
        "--completion",
        default="none",
        metavar="NAME",
        help="none: one-to-one links only (default); hwa: Hwa et al.'s Direct Projection Algorithm",
    )
    parser.add_argument(
        "--min-attached",
        type=float,
        default=0.8,
        metavar="X",
        help="train on sentences with heads for this share of their words; 1: whole trees (default: 0.8)",
    )
    parser.add_argument(
        "--max-sentences",
        type=int,
        default=20000,
        metavar="N",
        help="train on the N densest at most (default: 20000)",
    )
    parser.add_argument(
        "--nonprojective",
        action="store_true",
        help="the parser may cross arcs (default: no, since most crossings in projected trees are wrong)",
    )
    parser.add_argument("--epochs", type=int, default=5, metavar="N", help="passes over them (default: 5)")
    add_seed(parser)


def run(options: argparse.Namespace) -> None:
    """Project, write the trees where asked to, train, write the model."""
    import numpy as np

    from qsproj.corpus.alignments import read_alignments
    from qsproj.corpus.conllu import read_conllu, write_conllu
    from qsproj.corpus.pairing import pair_aligned, pair_sentences
    from qsproj.errors import unknown_name
    from qsproj.models.arc_training import TrainingOptions
    from qsproj.pipelines.project import HardProjectionOptions, project_treebank, train_on_projection

    if options.method not in METHODS:
        raise unknown_name("method", options.method, list(METHODS))
    sizes = (
        (len(source), len(target))
        for source, target in pair_sentences(read_conllu(options.source), read_conllu(options.target))
    )
    pairs = pair_aligned(
        read_conllu(options.source),
        read_conllu(options.target),
        read_alignments(options.alignment, options.alignment_format, sizes),
    )
    projection = project_treebank(pairs, completion=options.completion)
    counts = projection.counts
    print(
        f"{counts.pairs} pairs, {counts.words} target words: {counts.arcs} arcs projected "
        f"({100 * counts.arcs / max(counts.words, 1):.1f}% of the words), {counts.whole} whole trees",
        file=sys.stderr,
    )
    if counts.judged:
        print(
            f"against the target's own heads: precision {counts.precision:.1f}, recall {counts.recall:.1f}",
            file=sys.stderr,
        )
    if options.trees:
        write_conllu(projection.trees, options.trees)
    parser, report, used = train_on_projection(
        projection.trees,
        rng=np.random.default_rng(options.seed),
        selection=HardProjectionOptions(
            min_attached=options.min_attached,
            max_sentences=options.max_sentences,
        ),
        training=TrainingOptions(epochs=options.epochs, projective=not options.nonprojective),
    )
    parser.save(options.output)
    print(f"trained on {used} sentences: {report.summary(parser.inference)}", file=sys.stderr)
