"""Files of sentence pairs and of their links by hand, as options and as what they hold."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from qsproj.cli.options.common import add_options, add_pairing
from qsproj.conventions import NO_HEAD
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import lines_before, lines_in
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import ALIGNMENTS, DEFAULT_ALIGNMENT_FORMAT, names_of, read_sentences
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import DataError, SentenceLengthError, UsageError, check_name, unknown_name

if TYPE_CHECKING:
    from qsproj.models.joint.joint_parser import JointParser, ParsedPair

STANDARD_INPUT = "-"
SIDES = ("source", "target")
# Files in which none of the first so many pairs has a tag on a side are taken to have none there at all.
_LOOKED_AT = 1000


def add_pair_files(parser: argparse.ArgumentParser) -> None:
    """Add ``--source``, ``--target`` and ``--alignment``; read them with :func:`pair_files_of`."""
    add_options(parser)("""
        --source FILE!: source sentences, CoNLL-U
        --target FILE!: target sentences, CoNLL-U
        --alignment FILE: candidate links (default: both sides are one text in two annotation styles, each
            word linked to itself)
    """)
    add_alignment_format(parser)
    add_pairing(parser)


def add_alignment_format(parser: argparse._ActionsContainer) -> None:
    add_options(parser)(f"""
        --alignment-format NAME={DEFAULT_ALIGNMENT_FORMAT}: {", ".join(names_of(ALIGNMENTS))} (default:
            {DEFAULT_ALIGNMENT_FORMAT}, a pair a line: 0-0 2-1). In triples a line is a link: source, target,
            weight; a blank line ends a pair. Words count from 1 in talp, naacl and triples-one, else from 0.
            pharaoh:tokens (:source-tokens, :target-tokens): links count tokens as written, where CoNLL-U has
            multiword tokens; they are spread over the words
    """)


def add_source_tree(parser: argparse.ArgumentParser, *, usual: str) -> None:
    """Add ``--source-tree``; ``usual`` says what is the default."""
    add_options(parser)(f"""
        --source-tree NAME: joint: inferred with the target; best: that of the source parser, which is faster;
            observed: that of the source file (default: {usual})
    """)


def checked_pair_files(options: argparse.Namespace) -> tuple[str, str, str | None]:
    """Return source, target and alignment; UsageError where options do not go together."""
    from qsproj.models.joint.joint_options import SOURCE_TREES

    if options.alignment is None and options.alignment_format != DEFAULT_ALIGNMENT_FORMAT:
        raise UsageError("--alignment-format belongs to --alignment; leave it out")
    if options.source_tree not in (None, *SOURCE_TREES):
        raise unknown_name("source tree", options.source_tree, SOURCE_TREES)
    return options.source, options.target, options.alignment


def tagged_sides(model: JointParser) -> tuple[str, ...]:
    """Return the sides that have to come with tags: not a target that the model tags."""
    return ("source",) if model.tagger is not None else SIDES


def pair_files_of(options: argparse.Namespace) -> AlignedFiles:
    return AlignedFiles(
        options.source, options.target, options.alignment, options.alignment_format, options.pair
    )


def pairs_in(files: AlignedFiles, *, source_tree: str | None) -> Iterator[SentencePair]:
    """Yield the pairs of files; DataError where a source tree that is to be ``observed`` lacks a head."""
    for pair in files:
        missing = np.flatnonzero(pair.source.heads[1:] == NO_HEAD)
        if source_tree == "observed" and missing.size:
            word = int(missing[0]) + 1
            start = _line_of(pair.source, files.source)
            raise DataError(
                name_of(files.source),
                None if start is None else start + lines_before(pair.source, word),
                found=f"no head at word {word}",
                expected="a whole source tree",
                remedy="parse the source first, or choose --source-tree joint or best",
            )
        yield pair


def tagged_pairs(
    files: AlignedFiles, *, source_tree: str | None, sides: Sequence[str] = SIDES
) -> Iterator[SentencePair]:
    """Yield the pairs of files; DataError before the first when no word of one of these sides has a tag."""
    pairs = pairs_in(files, source_tree=source_tree)
    waiting, bare = [], set(sides)
    for pair in pairs:
        waiting.append(pair)
        bare = {side for side in bare if set(getattr(pair, side).upos) <= {UNSPECIFIED}}
        if not bare or len(waiting) == _LOOKED_AT:
            break
    if waiting and bare:
        raise DataError(
            name_of(getattr(files, next(side for side in SIDES if side in bare))),
            None,
            found="no word with a UPOS tag",
            expected="the tags that parsers read",
            remedy="tag it first: qsproj tag",
        )
    yield from chain(waiting, pairs)


def located_pairs(
    files: AlignedFiles,
    parse: Callable[[Iterator[SentencePair]], Iterator[ParsedPair]],
    *,
    source_tree: str | None = None,
    sides: Sequence[str] = SIDES,
) -> Iterator[ParsedPair]:
    """Yield what comes of each pair of some files, in their order; one that is too long is named by its line.

    ``parse`` may take pairs before it has given what comes of earlier ones: these wait here.
    """
    waiting: deque[SentencePair] = deque()

    def pairs() -> Iterator[SentencePair]:
        for pair in tagged_pairs(files, source_tree=source_tree, sides=sides):
            waiting.append(pair)
            yield pair

    try:
        for parsed in parse(pairs()):
            waiting.popleft()
            yield parsed
    except SentenceLengthError as error:
        # If either side is too long, the longer one is.
        pair = waiting[0]
        at_source = len(pair.source) >= len(pair.target)
        path, sentence = (files.source, pair.source) if at_source else (files.target, pair.target)
        raise error.at(name_of(path), _line_of(sentence, path)) from error


def _line_of(sentence: Sentence, path: str) -> int | None:
    """Return the line at which a sentence of a file starts; None when the file cannot be read again."""
    if path == STANDARD_INPUT:
        return None
    line = 1
    for other in read_sentences(path):
        if other.layout == sentence.layout:
            return line
        line += lines_in(other)
    return None


# The values of --alignment-factors, and what they add to ALIGN, SOURCEFERT and TARGETFERT.
FACTORS = {"fertility": (), "target-hmm": ("TARGETHMM",), "source-hmm": ("SOURCEHMM",), "itg": ("ITG",)}


def add_link_learning(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add ``--hand-alignment`` and its format, ``--alignment-factors`` and ``--dictionary``, as a group."""
    from qsproj.models.joint.joint_options import MOST_ITG_WORDS

    group = parser.add_argument_group("hand alignments", "and what is learned of links")
    add_options(group)(f"""
        --hand-alignment FILE: links by hand of the first pairs, as many as the file has: sure ones are true,
            those that are not there false, possible ones hidden; those that are no candidates are counted and
            teach nothing
        --hand-alignment-format NAME: {", ".join(names_of(ALIGNMENTS))} (default: {DEFAULT_ALIGNMENT_FORMAT})
        --alignment-factors NAME: fertility (default): how many links each word has; target-hmm: also how far
            one target word's link jumps from the last one's, each target word then having one link at most;
            source-hmm: the same of source words; itg: each word has one link at most, and their order comes
            about by bracketing, in pairs of at most {MOST_ITG_WORDS} words a side that have candidates
            (longer ones do without)
        --dictionary: count from the candidate links how firmly words belong together, and learn from that,
            too
    """)
    return group


def alignment_families(options: argparse.Namespace) -> tuple[str, ...]:
    """Return which of LINK_FAMILIES were asked for; UsageError where the name is unknown."""
    name = options.alignment_factors or "fertility"
    check_name("alignment factors", name, FACTORS)
    return FACTORS[name]
