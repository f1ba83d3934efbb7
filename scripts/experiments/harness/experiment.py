"""Run an experiment: measure, record its figures, write the pages that show them.

Options of all experiments: ``--cache FOLDER`` stores figures and models; ``--quick`` uses a small copy of the data and
only prints.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.errors import QsprojError, UsageError
from scripts.experiments.harness.build import CHECKOUT, this_build
from scripts.experiments.harness.cache import Cache
from scripts.experiments.harness.page import (
    Figures,
    Record,
    read_record,
    record_names,
    write_pages,
    write_record,
)
from scripts.experiments.harness.small import small_copy

# Options of all or some experiments that do not change the figures of a record.
_SAME_FIGURES = frozenset({"again", "cache", "fewer", "jobs", "kept", "work"})
DEFAULT_CACHE = Path(tempfile.gettempdir()) / "qsproj-experiments"


@dataclass(frozen=True)
class Lab:
    """The data and cache of an experiment; ``options`` are those of its command line."""

    data: Path
    cache: Cache
    options: argparse.Namespace

    def treebank_path(self, name: str) -> Path:
        """Return the path of a treebank; that of a language with a Testament is in the folder of the Testament."""
        folder = "bible" if name.startswith("got-") else "treebanks"
        return self.data / folder / f"{name}.conllu.gz"

    def treebank(self, name: str) -> list[Sentence]:
        return list(read_conllu(self.treebank_path(name)))

    def pud_path(self, language: str) -> Path:
        return self.data / "pud" / f"{language}.conllu.gz"

    def pud(self, language: str) -> list[Sentence]:
        return list(read_conllu(self.pud_path(language)))

    def bitext_path(self, language: str) -> Path:
        return self.data / "bitext" / f"en-{language}.tsv.xz"


Measure = Callable[[Lab], Figures]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One command.

    Attributes
    ----------
    file : str
        The module's ``__file__``.
    about : str
        Its docstring, which is what ``--help`` shows.
    measure : Measure
        Does the work.
    add_arguments : function or None
        Declares further options.
    needs_data : bool
    """

    file: str
    about: str
    measure: Measure
    add_arguments: Callable[[argparse.ArgumentParser], None] | None = None
    needs_data: bool = True

    @property
    def command(self) -> str:
        """The command that runs it from the top of the checkout."""
        path = Path(self.file).resolve().relative_to(CHECKOUT).with_suffix("")
        return f"python -m {'.'.join(path.parts)}"

    def command_with(self, options: argparse.Namespace) -> str:
        """Return the command and the options that change its figures: neither defaults, folders nor ``--jobs``."""
        given, parser = [self.command], self.parser()
        for name, value in vars(options).items():
            if value == parser.get_default(name) or isinstance(value, Path) or name in _SAME_FIGURES:
                continue
            values = [] if value is True else value if isinstance(value, list) else [value]
            texts, flag = [shlex.quote(str(one)) for one in values], f"--{name.replace('_', '-')}"
            # argparse reads a value that begins with a dash only after an equals sign.
            are_options = any(str(one).startswith("--") for one in values)
            given += [f"{flag}={one}" for one in texts] if are_options else [flag, *texts]
        return " ".join(given)

    @property
    def record(self) -> str:
        """The name of its record: room and module."""
        path = Path(self.file)
        return f"{path.parent.name}.{path.stem}"

    def main(self, arguments: list[str] | None = None) -> None:
        """Run the command line; errors of the user are one line and exit code 2."""
        options = self.parser().parse_args(arguments)
        try:
            self.run(options)
        except QsprojError as error:
            exit_with(str(error))

    def parser(self) -> argparse.ArgumentParser:
        parser = argparse.ArgumentParser(
            prog=self.command,
            description=self.about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.add_argument(
            "--cache",
            type=Path,
            default=DEFAULT_CACHE,
            metavar="FOLDER",
            help="folder of stored figures and models, by build, options and data (default: %(default)s)",
        )
        parser.add_argument(
            "--quick", action="store_true", help="use a small copy of the data, and only print"
        )
        parser.add_argument(
            "--fewer", action="store_true", help="record the figures even if tables lose cells"
        )
        if self.add_arguments is not None:
            self.add_arguments(parser)
        return parser

    def run(self, options: argparse.Namespace) -> None:
        """Measure, record the figures, write the pages."""
        data = data_folder() if self.needs_data else Path()
        if options.quick and self.needs_data:
            data = small_copy(data, options.cache / "small-data")
        lab = Lab(data, Cache(options.cache, Path(self.file).resolve()), options)
        figures = self.measure(lab)
        record = Record(command=self.command_with(options), made_by=self.made_by(lab), figures=figures)
        for name, one in figures.tables.items():
            print(f"{name}\n\n{one.markdown()}\n")
        for name, value in figures.values.items():
            print(f"{name}: {value}")
        if options.quick or vars(options).get("dev"):
            return
        if not options.fewer:
            self.check_complete(figures)
        write_record(self.record, record)
        write_pages()

    def made_by(self, lab: Lab) -> str:
        """Return a description of the build, and the commits of stored figures."""
        build = this_build(Path(self.file).resolve())
        others = ", ".join(sorted(lab.cache.commits - {build.commit}))
        kept = f"; some figures kept from commits {others} of the same source" if others else ""
        return f"{build.described}{kept}"

    def check_complete(self, figures: Figures) -> None:
        """Refuse to replace a record by one of fewer figures."""
        if self.record not in record_names():
            return
        before = read_record(self.record).figures.filled
        if figures.filled < before:
            raise UsageError(
                f"{self.record}: found figures for {figures.filled} cells, expected {before}, as its record has; "
                "measure the rest, or record these with --fewer"
            )


def data_folder() -> Path:
    """Return the folder of real data.

    Raises
    ------
    UsageError
        Where QSPROJ_DATA does not name one.
    """
    named = os.environ.get("QSPROJ_DATA", "")
    if not named or not Path(named).is_dir():
        raise UsageError(
            f"QSPROJ_DATA: found {named!r}, expected the folder of real data; see docs/guides/data.md"
        )
    return Path(named).resolve()


def exit_with(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise SystemExit(2)
