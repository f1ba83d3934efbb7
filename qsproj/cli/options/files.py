"""Checks of input and output files before a command starts."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from qsproj.corpus.files import check_can_be_written, resolved
from qsproj.errors import UsageError

STANDARD = "-"


def check_files(
    *,
    reads: Iterable[str | None],
    model: str | None = None,
    model_option: str = "-o",
    writes: Iterable[tuple[str | None, str | None]] = (),
) -> None:
    """Check the input and output files of a command, ignoring None.

    ``writes``: outputs other than the model, each with the file of ``reads`` that it may overwrite. Raises
    UsageError when two inputs are the standard input, two outputs are the same file, a model is written to
    the standard output, an output would overwrite an input, or an output cannot be written.
    """
    inputs = [path for path in reads if path is not None]
    outputs = [(path, kept) for path, kept in ((model, None), *writes) if path is not None]
    if inputs.count(STANDARD) > 1:
        raise UsageError("only one file can be - (standard input); name files for the rest")
    _check_differ([path for path, _ in outputs])
    if model == STANDARD:
        raise UsageError(f"a model is not written to standard output; give {model_option} MODEL")
    for path, replaced in outputs:
        _check_keeps(path, [other for other in inputs if other != replaced])
        check_can_be_written(path, text=path is not model)


def _check_differ(outputs: Sequence[str]) -> None:
    seen: set[Path | str] = set()
    for path in outputs:
        place = path if path == STANDARD else resolved(path)
        if place in seen:
            raise UsageError(f"found {path} for two outputs, expected a name of its own for each")
        seen.add(place)


def _check_keeps(output: str, inputs: Sequence[str]) -> None:
    # Only regular files: a terminal may be both input and output.
    if output == STANDARD or not os.path.isfile(output):  # noqa: PTH113 - no error for a name that is too long
        return
    for path in inputs:
        # As above: `Path` methods raise an error for overlong names.
        if path != STANDARD and os.path.exists(path) and os.path.samefile(path, output):  # noqa: PTH110, PTH121
            raise UsageError(f"found {output} as a file to read and as one to write; name another")
