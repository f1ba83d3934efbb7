"""``qsproj align`` with hand alignments: its options, and how it learns from them and chooses by them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from qsproj.alignment.reading import is_conllu, read_word_pairs
from qsproj.cli.options.common import add_seed, workers_of
from qsproj.cli.options.hand_alignments import (
    add_link_learning,
    alignment_families,
)
from qsproj.cli.options.made import made_by
from qsproj.cli.options.ways import refuse_unread
from qsproj.corpus.editing import sentence_from_words
from qsproj.corpus.formats import DEFAULT_ALIGNMENT_FORMAT
from qsproj.corpus.pairs.pairing import pair_files
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, make_alignment
from qsproj.errors import UsageError, counted

if TYPE_CHECKING:
    from qsproj.models.joint.joint_alignment import LinkChooser

# What makes links be chosen: among those of a method that says how likely each is.
CHOICE = ("hand_alignment", "model")
# What is read of learning from hand alignments only where there are any.
LEARNING_WAYS = {
    "--hand-alignment": ("hand_alignment_format", "alignment_factors", "dictionary", "save_model")
}


def add_choosing(parser: argparse.ArgumentParser) -> None:
    """Add the options of an aligner that learns from hand alignments."""
    group = add_link_learning(parser)
    group.add_argument(
        "--save-model", metavar="MODEL", help="with --hand-alignment, also write what was learned, for -m"
    )
    group.add_argument(
        "-m", "--model", metavar="MODEL", help="choose links by what hand alignments have taught before"
    )
    add_seed(parser)


def chooses(options: argparse.Namespace) -> bool:
    """Tell whether hand alignments have a say, now or by a model; UsageError where options do not fit."""
    by_hand = options.hand_alignment is not None
    refuse_unread(options, LEARNING_WAYS, "--hand-alignment" if by_hand else None)
    if by_hand and options.model is not None:
        raise UsageError("-m chooses links by what was learned before; leave out --hand-alignment, or -m")
    return by_hand or options.model is not None


def chosen_links(options: argparse.Namespace, threshold: float) -> Iterator[Alignment]:
    """Yield the links that are chosen for each pair; all files but the output are read before any is aligned.

    ``threshold`` is the least probability of a link.
    """
    from qsproj.pipelines.bilingual.choose_links import choose_links, propose_links

    families = alignment_families(options)
    chooser = _loaded(options.model) if options.model else None
    sides = list(_sides(options))
    sizes = [(_length(source), _length(target)) for source, target in sides]
    hand = _hand_alignments(options, sizes) if chooser is None else []
    whole = [i for i, size in enumerate(sizes) if all(size)]
    sentences = [(source, target) for source, target in sides if source is not None and target is not None]
    pairs = propose_links(sentences, unspaced=options.unspaced, workers=workers_of(options))
    if chooser is not None:
        chosen = choose_links(chooser, pairs, threshold=threshold)
    else:
        bitext = [
            replace(pair, hand=hand[i]) if i < len(hand) else pair
            for i, pair in zip(whole, pairs, strict=True)
        ]
        chooser = _learned(options, bitext, families)
        chosen = choose_links(chooser, bitext, threshold=threshold, counted=True)
    return _reported(_in_place(chosen, sizes))


def _length(sentence: Sentence | None) -> int:
    return 0 if sentence is None else len(sentence)


def _in_place(alignments: Iterator[Alignment], sizes: list[tuple[int, int]]) -> Iterator[Alignment]:
    """Yield the alignments of pairs with words on both sides, and for each other pair one without links."""
    for size in sizes:
        yield next(alignments) if all(size) else make_alignment(*size, [], weights=[])


def _reported(alignments: Iterable[Alignment]) -> Iterator[Alignment]:
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
            sentence_from_words(source) if source else None,
            sentence_from_words(target) if target else None,
        )


def _hand_alignments(options: argparse.Namespace, sizes: list[tuple[int, int]]) -> list[Alignment]:
    from qsproj.corpus.pairs.hand_alignments import read_hand_alignments

    return read_hand_alignments(
        options.hand_alignment, options.hand_alignment_format or DEFAULT_ALIGNMENT_FORMAT, sizes=sizes
    )


def _learned(
    options: argparse.Namespace,
    pairs: list[SentencePair],
    families: tuple[str, ...],
) -> LinkChooser:
    """Learn from the hand alignments of the first pairs, and store what was learned where that is wanted."""
    import numpy as np

    from qsproj.pipelines.bilingual.choose_links import learn_to_choose

    chooser, counts = learn_to_choose(
        pairs,
        rng=np.random.default_rng(options.seed),
        families=families,
        with_dictionary=options.dictionary,
    )
    by_hand = sum(pair.hand is not None for pair in pairs)
    left_out = counted(by_hand - counts.pairs, "pair")
    print(f"{counts.summary()}; left out: {left_out} too long or without candidates", file=sys.stderr)
    if options.save_model is not None:
        facts = {"hand_aligned": counts.pairs, "pairs": len(pairs)}
        chooser.save(options.save_model, made=made_by(options, **facts))
    return chooser


def _loaded(path: str) -> LinkChooser:
    from qsproj.models.joint.joint_alignment import LinkChooser
    from qsproj.models.storage import load_model_of

    return load_model_of(
        path, LinkChooser, expected="a link chooser", remedy="train one: qsproj align --hand-alignment"
    )
