"""Conversion of input arguments (paths, open files, sentences) to paths of files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.files import PathOrFile, open_output, open_text
from qsproj.corpus.messages import described
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, UsageError, WrongTypeError

# A treebank: a path, an open file, or sentences; several are a list.
Treebank = PathOrFile | Iterable[Sentence]
Treebanks = Treebank | Sequence[PathOrFile]
# A text, one sentence a line: a path or an open file; several are a list.
Texts = PathOrFile | Sequence[PathOrFile]
# One file of pairs, two files, or the pairs themselves.
Bitext = PathOrFile | tuple[PathOrFile, PathOrFile] | Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Inputs:
    """A temporary folder for input that is not a file on disk."""

    folder: Path

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """Replace paths of temporary files by argument names in errors raised in the block."""
        try:
            yield
        except DataError as error:
            path = Path(error.path)
            raise (error.at(error.line, path.stem) if path.parent == self.folder else error) from None

    def treebanks(self, given: Treebanks, name: str) -> tuple[str, ...]:
        """Return the paths of treebanks; sentences are written to one file."""
        if _is_file(given):
            return (self._path(given, name),)
        elements = _elements(given, name, "paths, open files or sentences")
        if not any(isinstance(one, Sentence) for one in elements):
            return self._paths(elements, name)
        return (self._written(name, ".conllu", lambda path: write_conllu(elements, path)),)

    def texts(self, given: Texts, name: str) -> tuple[str, ...]:
        """Return the paths of texts."""
        if _is_file(given):
            return (self._path(given, name),)
        return self._paths(_elements(given, name, "paths or open files"), name)

    def single(self, given: PathOrFile | None, name: str) -> str | None:
        """Return the path of one file; None for None."""
        return None if given is None else self.texts(given, name)[0]

    def bitext(self, given: Bitext, name: str) -> tuple[str, ...]:
        """Return the path of a file of pairs, or of both sides; pairs in memory are written to one file."""
        if _is_file(given):
            return (self._path(given, name),)
        elements = _elements(given, name, "a file of pairs, two files, or pairs of strings")
        if len(elements) <= 2 and all(map(_is_file, elements)):
            return self._paths(elements, name)
        for number, pair in enumerate(elements, start=1):
            if not isinstance(pair, tuple | list) or [type(side) for side in pair] != [str, str]:
                raise WrongTypeError(
                    f"found {described(pair)} as pair {number} of {name}, expected two strings"
                )
        lines = ["\t".join(" ".join(side.split()) for side in pair) for pair in elements]
        return (self._written(name, ".tsv", lambda path: _write_lines(lines, path)),)

    def _paths(self, elements: Sequence[Any], name: str) -> tuple[str, ...]:
        return tuple(self._path(one, f"{name}-{number}") for number, one in enumerate(elements, start=1))

    def _path(self, given: Any, name: str) -> str:
        """Return the path of a file; the content of an open file is copied."""
        if given == "-":
            raise UsageError(f"found - as {name}, expected a file: it is read several times")
        if isinstance(given, str | os.PathLike):
            return os.fspath(given)
        if not _is_file(given):
            raise WrongTypeError(f"found {described(given)} as {name}, expected a path or an open file")
        suffix = "".join(Path(str(getattr(given, "name", ""))).suffixes[:1])
        with open_text(given) as handle:
            lines = handle.readlines()
        return self._written(name, suffix or ".txt", lambda path: _write_lines(lines, path, end=""))

    def _written(self, name: str, suffix: str, write: Callable[[str], None]) -> str:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = str(self.folder / f"{name}{suffix}")
        write(path)
        return path


def _is_file(given: object) -> TypeGuard[PathOrFile]:
    return isinstance(given, str | os.PathLike) or hasattr(given, "read")


def _elements(given: object, name: str, expected: str) -> list[Any]:
    if isinstance(given, Sentence | bytes) or not isinstance(given, Iterable):
        raise WrongTypeError(f"found {described(given)} as {name}, expected {expected}")
    return list(given)


def _write_lines(lines: Iterable[str], path: str, end: str = "\n") -> None:
    with open_output(path) as handle:
        handle.writelines(f"{line}{end}" for line in lines)
