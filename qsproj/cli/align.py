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
from typing import TYPE_CHECKING

from qsproj.alignment.aligners import (
    DEFAULT_THRESHOLD,
    KNOWN,
    METHODS,
    THRESHOLD,
    align_words,
    check_symmetrization,
)
from qsproj.alignment.encoding import MAX_CELLS
from qsproj.alignment.reading import is_conllu, read_word_pairs
from qsproj.alignment.unspaced import SIDES
from qsproj.cli.options import common
from qsproj.cli.options.common import declare_ways, made_by, refuse_unread
from qsproj.cli.options.pair_files import add_link_learning, alignment_families
from qsproj.corpus.alignments import write_alignments
from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.formats import DEFAULT_ALIGNMENT_FORMAT, check_has_misc
from qsproj.corpus.pairs.linked import with_links_in_misc
from qsproj.corpus.pairs.pairing import pair_files
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, make_alignment
from qsproj.errors import UsageError, check_name, counted

if TYPE_CHECKING:
    from qsproj.models.joint.joint_alignment import LinkChooser

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


# What makes links be chosen: among those of a method that says how likely each is.
CHOICE = ("hand_alignment", "model")
# What is read of learning from hand alignments only where there are any.
LEARNING_WAYS = {
    "--hand-alignment": ("hand_alignment_format", "alignment_factors", "dictionary", "save_model")
}
# What each method, and each way to make one alignment of two directions, reads that not all do.
METHOD_WAYS = {"--method hmm": ("weights", "jobs", "backend", "scheduler", *CHOICE), "--method eflomal": ()}
SYMMETRIZATION_WAYS = {
    f"--symmetrize {name}": ("threshold", *CHOICE) if name == THRESHOLD else () for name in KNOWN
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    usual = "; ".join(f"{name} for {method}" for method, name in METHODS.items())
    common.add_options(parser)(f"""
        source SOURCE: source sentences, or PAIRS: lines or TMX (.gz, .xz, .bz2; - for stdin)
        target TARGET?: their translations
        -o --output FILE=-: links, one line a pair (default: standard output)
        --method NAME=hmm: {", ".join(METHODS)} (default: hmm)
        --symmetrize NAME: how two directions become one: {", ".join(KNOWN)} (default: {usual})
        --threshold P[0.0..1.0]: for --symmetrize threshold, and with hand alignments: least probability of a
            link; lower finds more links, of which more are wrong (default: {DEFAULT_THRESHOLD})
        --weights: write i-j:p with the probability of each link
        --linked FILE: also write TARGET, CoNLL-U, with its links in MISC (Align=)
        --tokenize CODE CODE: tokenise text first, given the codes of both languages; links then count tokens
            as qsproj tag --rules cuts them
        --unspaced SIDE: {", ".join(SIDES)}: written without spaces between words; learn from parts of its
            words
    """)
    common.add_pairing(parser)
    group = add_link_learning(parser)
    common.add_options(group)("""
        --save-model MODEL: with --hand-alignment, also write what was learned, for -m
        -m --model MODEL: choose links by what hand alignments have taught before
    """)
    common.add_seed(parser)
    common.add_workers(parser)
    declare_ways(parser, METHOD_WAYS, SYMMETRIZATION_WAYS, LEARNING_WAYS)


def run(options: argparse.Namespace) -> None:
    from qsproj.corpus.language.recognition import check_known_language

    common.check_files(
        reads=(options.source, options.target, options.hand_alignment, options.model),
        model=options.save_model,
        model_option="--save-model",
        writes=[(options.output, None), (options.linked, options.target)],
    )
    check_name("alignment method", options.method, METHODS)
    symmetrization = options.symmetrize or METHODS[options.method]
    check_symmetrization(symmetrization, DEFAULT_THRESHOLD)
    refuse_unread(options, METHOD_WAYS, f"--method {options.method}")
    refuse_unread(options, SYMMETRIZATION_WAYS, f"--symmetrize {symmetrization}")
    for language in options.tokenize or ():
        check_known_language(language)
    if options.linked is not None and not (
        options.target is not None
        and all(path != "-" and is_conllu(path) for path in (options.source, options.target))
    ):
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


def _linked(options: argparse.Namespace, alignments: Iterable[Alignment]) -> Iterator[Sentence]:
    """Yield the target sentences, in the order of the source, with their links in MISC."""
    pairs = pair_files(options.source, options.target, pairing=options.pair)
    for (_, target), links in zip(pairs, alignments, strict=True):
        bare = links if options.weights else replace(links, weights=None)
        yield with_links_in_misc(target, bare)


def _aligned(options: argparse.Namespace, threshold: float) -> Iterator[Alignment]:
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
        workers=common.workers_of(options),
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


def chooses(options: argparse.Namespace) -> bool:
    """Tell whether hand alignments have a say, now or by a model; UsageError where options do not fit."""
    by_hand = options.hand_alignment is not None
    refuse_unread(options, LEARNING_WAYS, "--hand-alignment" if by_hand else None)
    if by_hand and options.model is not None:
        raise UsageError("-m chooses links by what was learned before; leave out --hand-alignment, or -m")
    return by_hand or options.model is not None


def chosen_links(options: argparse.Namespace, threshold: float) -> Iterator[Alignment]:
    from qsproj.corpus.pairs.aligned import read_hand_alignments
    from qsproj.models.joint.joint_alignment import LinkChooser
    from qsproj.models.storage import load_model_of
    from qsproj.pipelines.bilingual.choose_links import choose_links, propose_links

    families, chooser = alignment_families(options), None
    if options.model:
        remedy = "train one: qsproj align --hand-alignment"
        chooser = load_model_of(options.model, LinkChooser, expected="a link chooser", remedy=remedy)
    sides = list(_sides(options))
    sizes = [(len(source or ()), len(target or ())) for source, target in sides]
    whole = [i for i, size in enumerate(sizes) if all(size)]
    sentences = [(source, target) for source, target in sides if source is not None and target is not None]
    pairs = propose_links(sentences, unspaced=options.unspaced, workers=common.workers_of(options))
    if chooser is not None:
        chosen = choose_links(chooser, pairs, threshold=threshold)
    else:
        format = options.hand_alignment_format or DEFAULT_ALIGNMENT_FORMAT
        hand = read_hand_alignments(options.hand_alignment, format, sizes=sizes)
        bitext = [
            replace(pair, hand=hand[i]) if i < len(hand) else pair
            for i, pair in zip(whole, pairs, strict=True)
        ]
        chooser = _learned(options, bitext, families)
        chosen = choose_links(chooser, bitext, threshold=threshold, counted=True)
    # Pairs with words on both sides, and for each other pair one without links.
    return _telling_too_long(
        next(chosen) if all(size) else make_alignment(*size, [], weights=[]) for size in sizes
    )


def _telling_too_long(alignments: Iterable[Alignment]) -> Iterator[Alignment]:
    """Pass alignments on, and say at the end for how many pairs nothing was chosen."""
    from qsproj.conventions import MAX_WORDS

    long = 0
    for alignment in alignments:
        long += max(alignment.n_source, alignment.n_target) > MAX_WORDS
        yield alignment
    if long:
        print(
            f"{counted(long, 'pair')} with a side of more than {MAX_WORDS:,} words: links as the aligner "
            "proposes them",
            file=sys.stderr,
        )


def _sides(options: argparse.Namespace) -> Iterator[tuple[Sentence | None, Sentence | None]]:
    """Read the sentences of both sides, with their tags where they have any; None is a line without words."""
    languages = tuple(options.tokenize) if options.tokenize else None
    two_files = languages is None and options.target is not None
    if two_files and is_conllu(options.source) and is_conllu(options.target):
        yield from pair_files(options.source, options.target, pairing=options.pair)
        return
    for source, target in read_word_pairs(options.source, options.target, languages=languages):
        yield (
            Sentence.from_words(source) if source else None,
            Sentence.from_words(target) if target else None,
        )


def _learned(
    options: argparse.Namespace, pairs: list[SentencePair], families: tuple[str, ...]
) -> LinkChooser:
    """Learn from the hand alignments of the first pairs, and store what was learned where that is wanted."""
    import numpy as np

    from qsproj.pipelines.bilingual.choose_links import learn_to_choose

    chooser, counts = learn_to_choose(
        pairs, rng=np.random.default_rng(options.seed), families=families, with_dictionary=options.dictionary
    )
    by_hand = sum(pair.hand is not None for pair in pairs)
    left_out = counted(by_hand - counts.pairs, "pair")
    print(f"{counts.summary()}; left out: {left_out} too long or without candidates", file=sys.stderr)
    if options.save_model is not None:
        facts = {"hand_aligned": counts.pairs, "pairs": len(pairs)}
        chooser.save(options.save_model, made=made_by(options, **facts))
    return chooser
