"""Align the words of a bitext, unsupervised or also from hand-made links.

SOURCE and TARGET are either text, one sentence per line, words separated by white space (raw text:
--tokenize), or CoNLL-U, paired by parallel_id, else by sent_id, else by order; text and CoNLL-U are paired by
order. Or give one file PAIRS with lines "source TAB target" or "source ||| target", or TMX. The output has
one line of links i-j per pair (Pharaoh format: source word i and target word j, counted from 0), and
FILE.counts the number of words of each pair, which other commands check.

More pairs give better links: append a few hundred sentences of your own to a large bitext. Pairs with
hand-made links come first: --hand-alignment trains a model on them that selects among the aligner's links,
and --save-model writes it for use with -m.
"""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import replace

from qsproj.alignment import aligners
from qsproj.alignment.encoding import MAX_CELLS
from qsproj.alignment.reading import is_conllu, read_word_pairs
from qsproj.alignment.unspaced import SIDES
from qsproj.cli.options.declare import Heading, Option, only_where, only_with
from qsproj.cli.options.pair_files import LINK_LEARNING, alignment_families
from qsproj.cli.options.shared import PAIRING, SEED, WORKERS, provenance_of, rng_of, values_of, workers_of
from qsproj.conventions import MAX_WORDS
from qsproj.corpus.alignments import counts_beside, with_links_in_misc, write_alignments
from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.formats import DEFAULT_ALIGNMENT_FORMAT, check_has_misc
from qsproj.corpus.pairs.aligned import read_hand_alignments
from qsproj.corpus.pairs.pairing import pair_files
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, make_alignment
from qsproj.errors import UsageError, pluralise
from qsproj.progress import notice

_USUAL = "; ".join(f"{name} for {method}" for method, name in aligners.METHODS.items())
OPTIONS = (
    Option("SOURCE", "source sentences, or PAIRS (- for standard input)"),
    Option("[TARGET]", "target sentences"),
    Option("-o, --output FILE", "links", default="-"),
    Option("--weights", "write links with probabilities: i-j:p", needs="--method hmm"),
    Option("--linked FILE", "also write TARGET (CoNLL-U) with links in MISC (Align=2,4)", writes="target"),
    Heading("text"),
    Option("--tokenize CODE CODE", "tokenise raw text by the languages' rules, as qsproj tokenize does"),
    Option("--unspaced SIDE", f"{', '.join(SIDES)}: sides written without spaces; align from parts of words"),
    PAIRING,
    Heading("links"),
    Option("--method NAME", f"{', '.join(aligners.METHODS)} (default: hmm)", default="hmm"),
    Option(
        "--symmetrize NAME",
        f"combination of both directions: {', '.join(aligners.KNOWN)} (default: {_USUAL})",
    ),
    Option(
        "--threshold P",
        "minimum probability of a link; lower for more recall, less precision (default: "
        f"{aligners.DEFAULT_THRESHOLD})",
    ),
    SEED,
    Heading("links by hand"),
    *LINK_LEARNING,
    Option("--save-model MODEL", "also write the link model, for -m", writes="", needs="--hand-alignment"),
    Option("-m, --model MODEL", "select links by a model of --save-model", needs="--method hmm"),
    *WORKERS,
)
beside_output = counts_beside
EXAMPLES = """examples:
  qsproj align corpora/en.conllu corpora/de.conllu -o en-de.pharaoh
  qsproj align en.txt de.txt --tokenize en de --weights -o en-de.pharaoh
  qsproj align en.txt zh.txt --unspaced target -o en-zh.pharaoh  # words parted by spaces in some lines only
  qsproj align en.txt de.txt --hand-alignment first.pharaoh --save-model en-de.links -o en-de.pharaoh
  qsproj align pairs.tsv --method eflomal        # an external program: pip install 'qsproj[eflomal]'
"""


def add_conditions(parser: argparse.ArgumentParser) -> None:
    only_with(parser, "--hand-alignment", "alignment_factors")
    only_with(parser, "--method hmm", "hand_alignment", "jobs", "backend", "scheduler")

    def weighs(options: argparse.Namespace) -> bool:
        return (options.symmetrize or aligners.METHODS.get(options.method)) == aligners.THRESHOLD

    only_where(parser, f"--symmetrize {aligners.THRESHOLD}", weighs, "threshold", "hand_alignment", "model")


def run(options: argparse.Namespace) -> None:
    if options.linked is not None:
        paths = options.source, options.target
        if None in paths or "-" in paths or not all(map(is_conllu, paths)):
            remedy = "leave it out, or tag the text first: qsproj tag"
            raise UsageError(f"--linked needs two files of CoNLL-U; {remedy}")
        check_has_misc(options.linked, "--linked")
    threshold = aligners.DEFAULT_THRESHOLD if options.threshold is None else options.threshold
    if options.hand_alignment is not None and options.model is not None:
        raise UsageError("-m selects links by a trained model; leave out --hand-alignment, or -m")
    select = _aligned if options.hand_alignment is None and options.model is None else chosen_links
    alignments: Iterable[Alignment] = _reported(select(options, threshold))
    if options.linked is not None:
        alignments = list(alignments)
        write_conllu(_linked(options, alignments), options.linked)
    write_alignments(alignments, options.output, with_weights=options.weights, with_counts=True)


def _linked(options: argparse.Namespace, alignments: Iterable[Alignment]) -> Iterator[Sentence]:
    pairs = pair_files(options.source, options.target, pairing=options.pair)
    for (_, target), links in zip(pairs, alignments, strict=True):
        yield with_links_in_misc(target, links if options.weights else replace(links, weights=None))


def _aligned(options: argparse.Namespace, threshold: float) -> Iterator[Alignment]:
    languages = tuple(options.tokenize) if options.tokenize else None
    pairs = read_word_pairs(options.source, options.target, languages=languages, pairing=options.pair)
    how = {"symmetrization": options.symmetrize, "threshold": threshold, "workers": workers_of(options)}
    return aligners.align_words(pairs, **values_of(options, "method", "unspaced"), **how)


def _reported(alignments: Iterable[Alignment]) -> Iterator[Alignment]:
    """Yield the alignments, then report how many pairs could not be aligned."""
    total = empty = long = 0
    for alignment in alignments:
        total += 1
        empty += alignment.n_source * alignment.n_target == 0
        long += alignment.n_source * alignment.n_target > MAX_CELLS
        yield alignment
    for count, what in ((empty, "an empty side"), (long, f"more than {MAX_CELLS:,} word pairs")):
        if count:
            have = "has" if count == 1 else "have"
            notice(f"{count:,} of {pluralise(total, 'pair')} {have} {what}: no links")


def chosen_links(options: argparse.Namespace, threshold: float) -> Iterator[Alignment]:
    from qsproj.models.joint.joint_alignment import LinkChooser
    from qsproj.models.storage import load_model_of
    from qsproj.pipelines.bilingual.biparse import choose_links, learn_to_choose, propose_links

    chooser, remedy = None, "train one: qsproj align --hand-alignment"
    if options.model:
        chooser = load_model_of(options.model, LinkChooser, expected="a link chooser", remedy=remedy)
    sides = list(_sides(options))
    sizes = [(len(source or ()), len(target or ())) for source, target in sides]
    sentences = [(source, target) for source, target in sides if source is not None and target is not None]
    pairs: Iterable[SentencePair] = propose_links(
        sentences, unspaced=options.unspaced, workers=workers_of(options)
    )
    if chooser is None:
        format = options.hand_alignment_format or DEFAULT_ALIGNMENT_FORMAT
        hand = read_hand_alignments(options.hand_alignment, format, sizes=sizes)
        whole = [i for i, size in enumerate(sizes) if all(size)]
        numbered = zip(whole, pairs, strict=True)
        pairs = bitext = [replace(pair, hand=hand[i]) if i < len(hand) else pair for i, pair in numbered]
        chooser, counts = learn_to_choose(bitext, rng=rng_of(options), families=alignment_families(options))
        left_out = pluralise(sum(pair.hand is not None for pair in bitext) - counts.pairs, "pair")
        notice(f"{counts.summary()}; left out: {left_out} too long or without candidates")
        if options.save_model is not None:
            made = provenance_of(options, hand_aligned=counts.pairs, pairs=len(bitext))
            chooser.save(options.save_model, made=made)
    chosen = choose_links(chooser, pairs, threshold=threshold)
    # Pairs with an empty side get an alignment without links.
    for size in sizes:
        yield next(chosen) if all(size) else make_alignment(*size, [], weights=[])
    if long := sum(max(size) > MAX_WORDS for size in sizes):
        side = f"with a side of more than {MAX_WORDS:,} words"
        notice(f"{pluralise(long, 'pair')} {side}: links are those of the aligner")


def _sides(options: argparse.Namespace) -> Iterator[tuple[Sentence | None, Sentence | None]]:
    """Yield the sentences of both sides, with tags if they have any, and None for a line without words."""
    languages = tuple(options.tokenize) if options.tokenize else None
    two_files = languages is None and options.target is not None
    if two_files and is_conllu(options.source) and is_conllu(options.target):
        yield from pair_files(options.source, options.target, pairing=options.pair)
        return
    for sides in read_word_pairs(options.source, options.target, languages=languages):
        source, target = (Sentence.from_words(words) if words else None for words in sides)
        yield source, target
