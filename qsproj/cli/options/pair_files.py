"""Options for files of sentence pairs and hand alignments, and functions to read them."""

import argparse
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, cycle
from typing import TYPE_CHECKING

import numpy as np

from qsproj.cli.options.declare import Option
from qsproj.cli.options.shared import PAIRING
from qsproj.conventions import NO_HEAD
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import line_of
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import ALIGNMENTS, DEFAULT_ALIGNMENT_FORMAT, names_of
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import SentencePair
from qsproj.errors import DataError, SentenceLengthError, UsageError
from qsproj.pipelines.treebanks import TagCount

if TYPE_CHECKING:
    from qsproj.models.joint.joint_parser import JointParser, ParsedPair

SIDES = ("source", "target")
_LOOKED_AT = 1000  # sentences; a side is treated as untagged if none of them has a tag

_FORMATS = names_of(ALIGNMENTS)
ALIGNMENT_FORMAT = Option(
    "--alignment-format NAME",
    f"{', '.join(_FORMATS)} (default: {DEFAULT_ALIGNMENT_FORMAT}); pharaoh:tokens: links of tokens, applied "
    "to all their words",
    default=DEFAULT_ALIGNMENT_FORMAT,
)
OPTIONAL_ALIGNMENT_FORMAT = replace(ALIGNMENT_FORMAT, needs="--alignment")
PAIR_FILES = (
    Option("--source FILE", "source sentences, CoNLL-U", required=True),
    Option("--target FILE", "target sentences, CoNLL-U", required=True),
    Option(
        "--alignment FILE", "candidate links (default: two styles of one text, each word linked to itself)"
    ),
    OPTIONAL_ALIGNMENT_FORMAT,
    PAIRING,
)
# Values of --alignment-factors, with the factors added to ALIGN, SOURCEFERT and TARGETFERT.
FACTORS = {"fertility": (), "target-hmm": ("TARGETHMM",), "source-hmm": ("SOURCEHMM",), "itg": ("ITG",)}
LINK_LEARNING = (
    Option(
        "--hand-alignment FILE",
        "hand-made links of the first pairs, as many as the file has: sure links are positive, possible ones "
        "hidden, others negative",
    ),
    Option(
        "--hand-alignment-format NAME",
        f"as --alignment-format (default: {DEFAULT_ALIGNMENT_FORMAT})",
        choices=_FORMATS,
        needs="--hand-alignment",
    ),
    Option(
        "--alignment-factors NAME",
        "fertility (default): number of links of a word; target-hmm, source-hmm: also jumps between links of "
        "adjacent words; itg: bracketing (ITG)",
        choices=FACTORS,
    ),
)


def source_tree(usual: str) -> Option:
    ways = "joint: inferred together with the target tree; best: predicted by the source parser, faster"
    help = f"{ways}; observed: read from the file (default: {usual})"
    return Option("--source-tree NAME", help, choices=("joint", "best", "observed"))


def files_of_sources(options: argparse.Namespace) -> list[tuple[str, str, str]]:
    """Return each --source with its --target and --alignment; UsageError where their numbers do not fit."""
    sources, targets, links = options.source, options.target, options.alignment
    if len(sources) != len(links) or len(targets) not in (1, len(sources)):
        found = f"{len(sources)} --source, {len(links)} --alignment and {len(targets)} --target"
        remedy = "give each source its own links, and one target for all or one for each"
        raise UsageError(f"found {found}; {remedy}")
    return list(zip(sources, cycle(targets), links))


def tagged_sides(model: "JointParser | None") -> tuple[str, ...]:
    """Return the sides that need tags, without the target if the model tags it."""
    return SIDES if model is None or model.tagger is None else ("source",)


def pair_files_of(options: argparse.Namespace) -> AlignedFiles:
    links, form = options.alignment, options.alignment_format
    return AlignedFiles(options.source, options.target, links, form, options.pair)


def pairs_in(files: AlignedFiles, *, source_tree: str | None) -> Iterator[SentencePair]:
    for pair in files:
        missing = np.flatnonzero(pair.source.heads[1:] == NO_HEAD)
        if source_tree == "observed" and missing.size:
            word = int(missing[0]) + 1
            remedy = "parse the source first, or choose --source-tree joint or best"
            found, line = f"no head at word {word}", line_of(pair.source, word)
            raise DataError(name_of(files.source), line, found, "a whole source tree", remedy)
        yield pair


def tagged_pairs(
    files: AlignedFiles,
    *,
    source_tree: str | None,
    model: "JointParser | None" = None,
    learns_tags: bool = False,
) -> Iterator[SentencePair]:
    """Yield the pairs of files; raise DataError before the first pair if a side that needs tags has none.

    ``learns_tags``: a model that tags targets learns from the pairs.
    """
    pairs = pairs_in(files, source_tree=source_tree)
    waiting, bare = [], set(tagged_sides(model))
    for pair in pairs:
        waiting.append(pair)
        bare = {side for side in bare if set(getattr(pair, side).upos) <= {UNSPECIFIED}}
        if not bare or len(waiting) == _LOOKED_AT:
            break
    if waiting and bare:
        side = next(side for side in SIDES if side in bare)
        name, remedy = name_of(getattr(files, side)), "tag it first: qsproj tag"
        if learns_tags and side == "target":
            remedy += "; the model learns from tagged targets, only biparse takes untagged ones"
        raise DataError(name, None, "no word with a UPOS tag", "the tags that parsers read", remedy)
    counts = {side: TagCount() for side in tagged_sides(model)}
    for pair in chain(waiting, pairs):
        for side, count in counts.items():
            count.add(getattr(pair, side))
        yield pair
    for side, count in counts.items():
        count.note(name_of(getattr(files, side)))


def located_pairs(
    files: AlignedFiles,
    parse: "Callable[[Iterator[SentencePair]], Iterator[ParsedPair]]",
    *,
    source_tree: str | None,
    model: "JointParser",
) -> "Iterator[ParsedPair]":
    waiting: deque[SentencePair] = deque()

    def pairs() -> Iterator[SentencePair]:
        for pair in tagged_pairs(files, source_tree=source_tree, model=model):
            waiting.append(pair)
            yield pair

    try:
        for parsed in parse(pairs()):
            waiting.popleft()
            yield parsed
    except SentenceLengthError as error:
        # The error is about the longer side.
        pair = waiting[0]
        at_source = len(pair.source) >= len(pair.target)
        path, sentence = (files.source, pair.source) if at_source else (files.target, pair.target)
        raise error.at(name_of(path), line_of(sentence)) from error


def alignment_families(options: argparse.Namespace) -> tuple[str, ...]:
    return FACTORS[options.alignment_factors or "fertility"]
