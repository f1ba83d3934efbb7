"""Options that several commands share, so that they mean and say the same everywhere."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Sequence

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add ``--seed``."""
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="random seed; the same seed gives the same bytes (default: 1)",
    )


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``-o``; ``what`` names what is written."""
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="-", help=f"{what} (default: standard output)"
    )


def read_all(paths: Sequence[str]) -> Iterator[Sentence]:
    """Read CoNLL-U files one after the other."""
    return itertools.chain.from_iterable(read_conllu(path) for path in paths)
