"""Files of sentence pairs, as options and as what they hold."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from qsproj.cli.options.common import add_pairing
from qsproj.corpus.editing import lines_in
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import ALIGNMENTS, DEFAULT_ALIGNMENT_FORMAT, names_of, read_sentences
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import DataError, SentenceLengthError

if TYPE_CHECKING:
    from qsproj.models.joint.joint_parser import ParsedPair

STANDARD_INPUT = "-"


def add_pair_files(parser: argparse.ArgumentParser) -> None:
    """Add ``--source``, ``--target`` and ``--alignment``; read them with :func:`pair_files_of`."""
    parser.add_argument("--source", required=True, metavar="FILE", help="source sentences, CoNLL-U")
    parser.add_argument("--target", required=True, metavar="FILE", help="target sentences, CoNLL-U")
    parser.add_argument("--alignment", required=True, metavar="FILE", help="candidate links")
    add_alignment_format(parser)
    add_pairing(parser)


def add_alignment_format(parser: argparse._ActionsContainer) -> None:
    """Add ``--alignment-format``."""
    parser.add_argument(
        "--alignment-format",
        default=DEFAULT_ALIGNMENT_FORMAT,
        metavar="NAME",
        help=f"{', '.join(names_of(ALIGNMENTS))} (default: {DEFAULT_ALIGNMENT_FORMAT})",
    )


def pair_files_of(options: argparse.Namespace) -> AlignedFiles:
    """Return the files that were named."""
    return AlignedFiles(
        options.source, options.target, options.alignment, options.alignment_format, options.pair
    )


def located_pairs(
    files: AlignedFiles, parse: Callable[[Iterator[SentencePair]], Iterator[ParsedPair]]
) -> Iterator[ParsedPair]:
    """Yield what comes of each pair of some files, in their order; one that is too long is named by its line.

    Parameters
    ----------
    files : AlignedFiles
    parse : callable
        May take pairs before it has given what comes of earlier ones: these wait here.

    Raises
    ------
    DataError
        For a SentenceLengthError of the pair that is due, with file and line of its sentence.
    """
    waiting: deque[SentencePair] = deque()

    def pairs() -> Iterator[SentencePair]:
        for pair in files:
            waiting.append(pair)
            yield pair

    try:
        for parsed in parse(pairs()):
            waiting.popleft()
            yield parsed
    except SentenceLengthError as error:
        raise _located(error, waiting[0], files) from error


def _located(error: SentenceLengthError, pair: SentencePair, files: AlignedFiles) -> DataError:
    # If either side is too long, the longer one is.
    at_source = len(pair.source) >= len(pair.target)
    path, sentence = (files.source, pair.source) if at_source else (files.target, pair.target)
    return DataError(
        name_of(path),
        _line_of(sentence, path),
        found=error.found,
        expected=error.expected,
        remedy=error.remedy,
    )


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
