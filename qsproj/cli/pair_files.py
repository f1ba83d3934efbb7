"""Files of sentence pairs, as options and as what they hold."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from qsproj.corpus.conllu import lines_in, read_conllu
from qsproj.corpus.files import name_of
from qsproj.corpus.pairing import AlignedFiles
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import DataError, SentenceLengthError

STANDARD_INPUT = "-"


def add_pair_files(parser: argparse.ArgumentParser) -> None:
    """Add ``--source``, ``--target`` and ``--alignment``; read them with :func:`pair_files_of`."""
    parser.add_argument("--source", required=True, metavar="FILE", help="source sentences, CoNLL-U")
    parser.add_argument("--target", required=True, metavar="FILE", help="target sentences, CoNLL-U")
    parser.add_argument("--alignment", required=True, metavar="FILE", help="candidate links")
    parser.add_argument(
        "--alignment-format", default="pharaoh", metavar="NAME", help="pharaoh (default), talp, naacl, ..."
    )


def pair_files_of(options: argparse.Namespace) -> AlignedFiles:
    """Return the files that were named."""
    return AlignedFiles(options.source, options.target, options.alignment, options.alignment_format)


@contextmanager
def located_pairs(files: AlignedFiles) -> Iterator[Iterator[SentencePair]]:
    """Give the pairs of some files; that one is too long for the block names file and line of the sentence.

    Raises
    ------
    DataError
        For a SentenceLengthError in the block, which the pair last taken is held to have caused.
    """
    last: SentencePair | None = None

    def pairs() -> Iterator[SentencePair]:
        nonlocal last
        for pair in files:
            last = pair
            yield pair

    try:
        yield pairs()
    except SentenceLengthError as error:
        if last is None:
            raise
        # If either side is too long, the longer one is.
        at_source = len(last.source) >= len(last.target)
        path, sentence = (files.source, last.source) if at_source else (files.target, last.target)
        raise DataError(
            name_of(path),
            _line_of(sentence, path),
            found=error.found,
            expected=error.expected,
            remedy=error.remedy,
        ) from error


def _line_of(sentence: Sentence, path: str) -> int | None:
    """Return the line at which a sentence of a file starts; None when the file cannot be read again."""
    if path == STANDARD_INPUT:
        return None
    line = 1
    for other in read_conllu(path):
        if other.layout == sentence.layout:
            return line
        line += lines_in(other)
    return None
