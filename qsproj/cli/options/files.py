"""Check the files of a command before it starts, and add lines to errors about sentences."""

import argparse
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

from qsproj.cli.command_parser import FILES, MODEL
from qsproj.corpus.editing import line_of
from qsproj.corpus.files import check_can_be_written, name_of, resolved
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.errors import SentenceError, UsageError

STANDARD = "-"


class Output(NamedTuple):
    """A file to write, the inputs that it may overwrite, and the option of a model, empty for other files."""

    path: str
    replaces: Collection[str] = ()
    model_option: str = ""


def check_files_of(options: argparse.Namespace) -> None:
    inputs, outputs, folders = list[str](), list[Output](), list[Path]()
    for action in options.own_parser._actions:
        writes: Any = getattr(action, "writes", None)
        paths = paths_in(getattr(options, action.dest, None))
        if action.metavar == "DIR":
            folders += map(resolved, paths)
        elif action.metavar in FILES and writes is None:
            inputs += paths
        elif action.metavar in FILES:
            option = action.option_strings[0] if action.metavar == MODEL else ""
            replaced = tuple(paths_in([getattr(options, name) for name in writes.split()]))
            outputs += [Output(path, replaced, option) for path in paths]
    beside = getattr(options.module, "beside_output", lambda path: None)(getattr(options, "output", None))
    outputs += [] if beside is None else [Output(str(beside))]
    check_files(inputs, outputs, kind=getattr(options.module, "KIND_OF_INPUTS", "file"))
    for folder, output in product(folders, outputs):
        if resolved(output.path) in (folder, *folder.parents):
            raise UsageError(f"found {output.path} as a folder and as a file to write; name another")


def paths_in(value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple):
        yield from chain.from_iterable(map(paths_in, value))
    elif value is not None:
        yield str(value)


def check_files(inputs: Collection[str], outputs: Collection[Output], *, kind: str = "file") -> None:
    """Check files to read and to write; raise UsageError where they clash or cannot be written."""
    if list(inputs).count(STANDARD) > 1:
        raise UsageError(f"only one {kind} can be - (standard input); name files for the rest")
    seen: set[Path | str] = set()
    for path, _, option in outputs:
        place = path if path == STANDARD else resolved(path)
        if place in seen:
            raise UsageError(f"found {path} for two outputs, expected a name of its own for each")
        seen.add(place)
        if option and path == STANDARD:
            raise UsageError(f"a model is not written to standard output; give {option} MODEL")
    for path, replaced, option in outputs:
        check_keeps(path, [other for other in inputs if other not in replaced])
        check_can_be_written(path, text=not option)


def check_keeps(output: str, inputs: Collection[str]) -> None:
    """Raise UsageError where an output would replace one of the inputs."""
    # Only regular files: a terminal may be both input and output.
    if output == STANDARD or not os.path.isfile(output):  # noqa: PTH113 - no error for a name that is too long
        return
    for path in inputs:
        # As above: `Path` methods raise an error for overlong names.
        if path != STANDARD and os.path.exists(path) and os.path.samefile(path, output):  # noqa: PTH110, PTH121
            raise UsageError(f"found {output} as a file to read and as one to write; name another")


@contextmanager
def adding_lines(path: str) -> Iterator[Iterator[Sentence]]:
    """Yield the sentences of a file; add the line of the last sentence read to errors of the block."""
    line: int | None = None

    def sentences() -> Iterator[Sentence]:
        nonlocal line
        for sentence in read_sentences(path):
            line = line_of(sentence)
            yield sentence

    try:
        yield sentences()
    except SentenceError as error:
        raise error.at(name_of(path), line) from error
