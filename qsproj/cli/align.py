"""Align the words of a bitext, learning from nothing but the bitext itself, or from links by hand, too.

SOURCE and TARGET are text, one sentence a line, words parted by white space (raw text: --tokenize), or
CoNLL-U, paired by parallel_id, else by sent_id, else by order, or one of each, paired by order; or one file
PAIRS of "source TAB target" or "source ||| target" lines. Written, for each pair in, is one line of links i-j
(Pharaoh: word i of the source and j of the target, counted from 0); the line is empty where a side is.

Where one side is written without spaces (Chinese, Japanese, Thai) and some of it, such as a treebank, is cut
into words and some is not, --unspaced learns from Chinese characters, and from what recurs in letters.
Links are between words as given.

Where some pairs have links by hand, put these pairs first: with --hand-alignment, links are chosen among the
aligner's by what those by hand have taught. --save-model keeps that for other text of these languages, -m.

--linked writes the target sentences, CoNLL-U, with their links in MISC (Align=2,4), as annotation tools keep
them. Commands that read links take that file as --alignment, with --alignment-format misc.

The more pairs, the better the links: put a few hundred sentences of yours before or after a large bitext.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace

from qsproj.alignment.aligners import METHODS, align_words
from qsproj.alignment.encoding import MAX_CELLS
from qsproj.alignment.reading import is_conllu, read_word_pairs
from qsproj.alignment.symmetrize import DEFAULT_THRESHOLD, KNOWN, THRESHOLD, check_symmetrization
from qsproj.alignment.unspaced import SIDES
from qsproj.cli.options.chosen_links import CHOICE, LEARNING_WAYS, add_choosing, chooses, chosen_links
from qsproj.cli.options.command_files import check_files
from qsproj.cli.options.common import add_output, add_pairing, add_workers, number, workers_of
from qsproj.cli.options.ways import declare_ways, refuse_unread
from qsproj.corpus.alignments import write_alignments
from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.formats import check_has_misc
from qsproj.corpus.pairs.linked import with_links_in_misc
from qsproj.corpus.pairs.pairing import pair_files
from qsproj.corpus.sentence import Alignment, Sentence
from qsproj.errors import UsageError, counted, unknown_name

EXAMPLES = """examples:
  qsproj align corpora/en.conllu corpora/de.conllu -o en-de.pharaoh
  qsproj align en.txt de.txt --tokenize en de --weights -o en-de.pharaoh
  qsproj align en.tagged.conllu de.txt --tokenize en de --weights -o en-de.pharaoh
  qsproj align pairs.tsv.xz --symmetrize grow-diag-final-and | head
  qsproj align en.txt zh.txt --unspaced target -o en-zh.pharaoh  # words parted by spaces in some lines only
  qsproj align en.txt de.txt --hand-alignment first.pharaoh --save-model en-de.links -o en-de.pharaoh
  qsproj align more.en.txt more.de.txt -m en-de.links -o more.pharaoh
  qsproj align corpora/en.conllu corpora/de.conllu --linked de.linked.conllu -o en-de.pharaoh
  qsproj align pairs.tsv --method eflomal        # an external program: pip install 'qsproj[eflomal]'
"""


# What each method, and each way to make one alignment of two directions, reads that not all do.
METHOD_WAYS = {
    "--method hmm": ("weights", "jobs", "backend", "scheduler", *CHOICE),
    "--method eflomal": (),
}
SYMMETRIZATION_WAYS = {
    f"--symmetrize {name}": ("threshold", *CHOICE) if name == THRESHOLD else () for name in KNOWN
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("source", metavar="SOURCE", help="source sentences, or PAIRS (.gz, .xz; - for stdin)")
    parser.add_argument("target", metavar="TARGET", nargs="?", help="their translations")
    add_output(parser, "links, one line a pair")
    parser.add_argument(
        "--method", default="hmm", metavar="NAME", help=f"{', '.join(METHODS)} (default: hmm)"
    )
    parser.add_argument(
        "--symmetrize",
        metavar="NAME",
        help=f"how two directions become one: {', '.join(KNOWN)} "
        f"(default: {'; '.join(f'{name} for {method}' for method, name in METHODS.items())})",
    )
    parser.add_argument(
        "--threshold",
        type=number(least=0.0, most=1.0),
        metavar="P",
        help="for --symmetrize threshold, and with hand alignments: least probability of a link; lower finds "
        f"more links, of which more are wrong (default: {DEFAULT_THRESHOLD})",
    )
    parser.add_argument(
        "--weights", action="store_true", help="write i-j:p with the probability of each link"
    )
    parser.add_argument(
        "--linked", metavar="FILE", help="also write TARGET, CoNLL-U, with its links in MISC (Align=)"
    )
    parser.add_argument(
        "--tokenize",
        nargs=2,
        metavar=("CODE", "CODE"),
        help="tokenise text first, given the codes of both languages; links then count tokens as "
        "qsproj tag --rules cuts them",
    )
    parser.add_argument(
        "--unspaced",
        metavar="SIDE",
        help=f"{', '.join(SIDES)}: written without spaces between words; learn from parts of its words",
    )
    add_pairing(parser)
    add_choosing(parser)
    add_workers(parser)
    declare_ways(parser, METHOD_WAYS, SYMMETRIZATION_WAYS, LEARNING_WAYS)


def run(options: argparse.Namespace) -> None:
    """Align and write."""
    from qsproj.corpus.language.recognition import check_known_language

    check_files(
        reads=(options.source, options.target, options.hand_alignment, options.model),
        model=options.save_model,
        model_option="--save-model",
        writes=[(options.output, None), (options.linked, options.target)],
    )
    _check_method(options)
    for language in options.tokenize or ():
        check_known_language(language)
    if options.linked is not None and not _both_conllu(options):
        raise UsageError(
            "--linked needs two files of CoNLL-U; leave it out, or tag the text first: qsproj tag"
        )
    if options.linked is not None:
        check_has_misc(options.linked, "--linked")
    threshold = DEFAULT_THRESHOLD if options.threshold is None else options.threshold
    alignments = chosen_links(options, threshold) if chooses(options) else _aligned(options, threshold)
    alignments = _reported(alignments)
    if options.linked is not None:
        kept = list(alignments)
        alignments = iter(kept)
        write_conllu(_linked(options, kept), options.linked)
    write_alignments(alignments, options.output, with_weights=options.weights)


def _both_conllu(options: argparse.Namespace) -> bool:
    return options.target is not None and all(
        path != "-" and is_conllu(path) for path in (options.source, options.target)
    )


def _linked(options: argparse.Namespace, alignments: Iterable[Alignment]) -> Iterator[Sentence]:
    """Yield the target sentences, in the order of the source, with their links in MISC."""
    pairs = pair_files(options.source, options.target, pairing=options.pair)
    for (_, target), links in zip(pairs, alignments, strict=True):
        bare = links if options.weights else replace(links, weights=None)
        yield with_links_in_misc(target, bare)


def _check_method(options: argparse.Namespace) -> None:
    """Raise UsageError when an option is given that goes unread by this method or symmetrisation."""
    if options.method not in METHODS:
        raise unknown_name("alignment method", options.method, list(METHODS))
    symmetrization = options.symmetrize or METHODS[options.method]
    check_symmetrization(symmetrization, DEFAULT_THRESHOLD)
    refuse_unread(options, METHOD_WAYS, f"--method {options.method}")
    refuse_unread(options, SYMMETRIZATION_WAYS, f"--symmetrize {symmetrization}")


def _aligned(options: argparse.Namespace, threshold: float) -> Iterator[Alignment]:
    """Align by the bitext alone."""
    pairs = read_word_pairs(
        options.source,
        options.target,
        languages=tuple(options.tokenize) if options.tokenize else None,
        pairing=options.pair,
    )
    return align_words(
        pairs,
        method=options.method,
        symmetrization=options.symmetrize,
        threshold=threshold,
        unspaced=options.unspaced,
        workers=workers_of(options),
    )


def _reported(alignments: Iterable[Alignment]) -> Iterator[Alignment]:
    """Pass alignments on, and say at the end how many pairs could not be aligned."""
    total = empty = long = 0
    for alignment in alignments:
        total += 1
        empty += alignment.n_source * alignment.n_target == 0
        long += alignment.n_source * alignment.n_target > MAX_CELLS
        yield alignment
    for count, what in ((empty, "an empty side"), (long, f"more than {MAX_CELLS:,} word pairs")):
        if count:
            have = "has" if count == 1 else "have"
            print(f"{count:,} of {counted(total, 'pair')} {have} {what}: no links", file=sys.stderr)
