"""Options that several commands share, so that they mean and say the same everywhere."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import lines_before, lines_in
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, NothingToLearnError, SentenceError, UsageError

if TYPE_CHECKING:
    from qsproj.parallel import Workers


# Python makes no number of thousands of digits, and numpy none of more than these.
_MOST_DIGITS = 18


def whole_number(*, least: int) -> Callable[[str], int]:
    """Return a type of option for ``add_argument``: whole numbers from ``least`` on."""

    def read(text: str) -> int:
        if len(text) <= _MOST_DIGITS and text.removeprefix("-").isdecimal() and int(text) >= least:
            return int(text)
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a whole number, {least} or more")

    return read


def number(*, least: float, most: float = math.inf) -> Callable[[str], float]:
    """Return a type of option for ``add_argument``: finite numbers from ``least`` to ``most``."""
    bounds = f"{least:g} or more" if math.isinf(most) else f"from {least:g} to {most:g}"

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and least <= value <= most:
            return value
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number, {bounds}")

    return read


def add_whole_number(
    options: argparse._ActionsContainer,
    *names: str,
    least: int,
    help: str,
    metavar: str = "N",
    default: int | None = None,
    **more: Any,
) -> None:
    """Add an option that is a whole number from ``least`` on; its help tells the default."""
    options.add_argument(
        *names,
        type=whole_number(least=least),
        default=default,
        metavar=metavar,
        help=_with_default(help, default),
        **more,
    )


def add_number(
    options: argparse._ActionsContainer,
    name: str,
    *,
    least: float,
    help: str,
    most: float = math.inf,
    metavar: str = "X",
    default: float | None = None,
) -> None:
    """Add an option that is a number from ``least`` to ``most``; its help tells the default."""
    options.add_argument(
        name,
        type=number(least=least, most=most),
        default=default,
        metavar=metavar,
        help=_with_default(help, default),
    )


def _with_default(help: str, default: float | None) -> str:
    return help if default is None else f"{help} (default: {default:g})"


def add_seed(parser: argparse._ActionsContainer) -> None:
    """Add ``--seed``."""
    parser.add_argument(
        "--seed",
        type=whole_number(least=0),
        default=1,
        metavar="N",
        help="random seed; the same seed gives the same bytes (default: 1)",
    )


def add_pairing(parser: argparse._ActionsContainer) -> None:
    """Add ``--pair``."""
    parser.add_argument(
        "--pair",
        default="id",
        metavar="HOW",
        help="how sentences of two CoNLL-U files are paired: id (parallel_id, else sent_id, else order; "
        "default) or order (the first with the first, whatever their ids)",
    )


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``-o``; ``what`` names what is written."""
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="-", help=f"{what} (default: standard output)"
    )


def add_model_output(options: argparse._ActionsContainer, help: str = "where the model is written") -> None:
    """Add the ``-o`` of a command that writes a model: it has no default."""
    options.add_argument("-o", "--output", required=True, metavar="MODEL", help=help)


def add_input(options: argparse._ActionsContainer, what: str, *, name: str = "input") -> None:
    """Add the file that is read; ``what`` names what is in it."""
    options.add_argument(
        name, nargs="?", default="-", metavar=name.upper(), help=f"{what} (default: standard input)"
    )


def add_files(options: argparse._ActionsContainer, name: str, help: str) -> None:
    """Add an option that takes several files, by default none."""
    options.add_argument(name, nargs="+", default=[], metavar="FILE", help=help)


def add_order(options: argparse._ActionsContainer, help: str) -> None:
    """Add ``--order`` of a parser."""
    options.add_argument("--order", type=whole_number(least=1), choices=(1, 2), default=1, help=help)


def read_tagged(paths: Sequence[str]) -> Iterator[Sentence]:
    """Read CoNLL-U files one after the other; a word without UPOS is an error that names its line."""
    for path in paths:
        line = 1
        for sentence in read_sentences(path):
            if UNSPECIFIED in sentence.upos:
                word = sentence.upos.index(UNSPECIFIED)
                raise DataError(
                    name_of(path),
                    line + lines_before(sentence, word + 1),
                    found=f"word {word + 1} ({sentence.forms[word]!r}) without UPOS",
                    expected="one on every word",
                    remedy="tag it, or leave the sentence out",
                )
            yield sentence
            line += lines_in(sentence)


@contextmanager
def located(path: str) -> Iterator[Iterator[Sentence]]:
    """Give the sentences of a file; an error in the block names the line of the last one that was taken."""
    line = 1

    def sentences() -> Iterator[Sentence]:
        nonlocal line
        for sentence in read_sentences(path):
            yield sentence
            line += lines_in(sentence)

    try:
        yield sentences()
    except SentenceError as error:
        raise DataError(
            name_of(path), line, found=error.found, expected=error.expected, remedy=error.remedy
        ) from error


@contextmanager
def naming(*paths: str | None) -> Iterator[None]:
    """Have an error in the block that these files teach nothing say their names."""
    try:
        yield
    except NothingToLearnError as error:
        names = ", ".join(name_of(path) for path in paths if path is not None)
        raise UsageError(f"{names}: {error}") from error


def add_jobs(options: argparse._ActionsContainer, what: str = "processes") -> None:
    """Add ``--jobs``; ``what`` says what they do."""
    options.add_argument(
        "--jobs",
        type=whole_number(least=-1),
        default=1,
        metavar="N",
        help=f"{what}; -1: one for each core (default: 1)",
    )


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add ``--jobs``, ``--backend`` and ``--scheduler``; read them with :func:`workers_of`."""
    group = parser.add_argument_group("workers", "who computes; the result is the same, byte for byte")
    add_jobs(group)
    group.add_argument(
        "--backend",
        default="processes",
        metavar="NAME",
        help="processes of this machine (default), or dask: a cluster (pip install 'qsproj[dask]')",
    )
    group.add_argument("--scheduler", metavar="ADDRESS", help="of the Dask cluster: tcp://host:8786")


def workers_of(options: argparse.Namespace) -> Workers:
    """Return the workers that were asked for; UsageError where the options do not go together."""
    from qsproj.parallel import Workers

    return Workers(jobs=options.jobs, backend=options.backend, scheduler=options.scheduler)
