"""Run the cases in this process, and compute digests of the files that they write."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import shlex
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

import qsproj
from qsproj.cli.main import main
from scripts.digests.cases import CASES, INPUTS, with_needs

# A file, or a part of a model -> its digest.
Digests = dict[str, str]


def digests_of(names: list[str], corpora: Path, folder: Path) -> Iterator[tuple[str, Digests]]:
    """Run the named cases, and those that they need, in an empty folder; yield the digests of those named."""
    _write_inputs(corpora, folder)
    with contextlib.chdir(folder):
        for name in with_needs(names):
            before = set(folder.iterdir())
            said = [_said(line) for line in _lines(CASES[name].commands)]
            if name in names:
                made = sorted(path for path in folder.iterdir() if path not in before)
                yield name, _of_files(made) | _of_output(said)


def _write_inputs(corpora: Path, folder: Path) -> None:
    for name, (sample, first, after) in INPUTS.items():
        content = (corpora / sample).read_text(encoding="utf-8")
        if name.endswith(".pharaoh"):
            pieces = [_turned(line) if name == "es-de.pharaoh" else line for line in content.splitlines()]
        else:
            pieces = [f"{block}\n" for block in content.rstrip("\n").split("\n\n")]
        if name.endswith(".text"):
            pieces = [_text_of(block) for block in pieces]
        written = "".join(f"{piece}\n" for piece in pieces[first:after])
        (folder / name).write_text(written, encoding="utf-8")


def _turned(links: str) -> str:
    """Return a line of links with its sides exchanged."""
    sides = ((link, "p" if "p" in link else "-") for link in links.split())
    return " ".join(mark.join(reversed(link.split(mark))) for link, mark in sides)


def _text_of(block: str) -> str:
    (line,) = (line for line in block.splitlines() if line.startswith("# text = "))
    return line.removeprefix("# text = ")


def _lines(commands: str) -> Iterator[list[str]]:
    """Yield the arguments of each command; the line end after a backslash is none."""
    for line in commands.replace("\\\n", " ").splitlines():
        if line.strip():
            yield shlex.split(line)


def _said(arguments: list[str]) -> bytes:
    """Run a command in this process and return its standard output.

    Raises
    ------
    RuntimeError
        When it fails.
    """
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    errors = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            if arguments[0] == "python":
                exec(arguments[1], {})
                return b""
            code: object = main(arguments)
    except SystemExit as exit_:
        code = exit_.code
    if code:
        raise RuntimeError(f"qsproj {shlex.join(arguments)}: exit code {code}\n{errors.getvalue()}")
    out.flush()
    content = out.buffer.getvalue()
    return content


def _of_output(said: Iterable[bytes]) -> Digests:
    return {f"output {number}": _digest(_unversioned(one)) for number, one in enumerate(said, 1) if one}


def _of_files(paths: Iterable[Path]) -> Digests:
    found: Digests = {}
    for path in paths:
        if path.is_dir():
            found |= {f"{path.name}/{name}": digest for name, digest in _of_stages(path)}
        elif zipfile.is_zipfile(path):
            found |= {f"{path.name} {part}": digest for part, digest in _of_model(path)}
        else:
            found[path.name] = _digest(_unversioned(path.read_bytes()))
    return found


def _of_stages(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the files that stages of a bootstrap kept, one digest each; their names tell what they were made from."""
    for path in sorted(folder.iterdir()):
        if path.suffix != ".json":
            parts = _of_files([path])
            yield path.name, _digest(json.dumps(parts, sort_keys=True).encode())


def _of_model(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the parts of a model: its header, whatever the order of fields, and each array."""
    with zipfile.ZipFile(path) as archive:
        for entry in sorted(archive.namelist()):
            content = archive.read(entry)
            if entry.endswith(".npy"):
                array = np.load(io.BytesIO(content), allow_pickle=False)
                shape = "x".join(map(str, array.shape))
                yield entry.removesuffix(".npy"), f"{array.dtype}[{shape}] {_digest(array.tobytes())}"
            else:
                header = json.loads(content)
                header.get("made", {}).pop("version", None)
                yield entry, _digest(json.dumps(header, sort_keys=True).encode())


def _unversioned(content: bytes) -> bytes:
    return content.replace(qsproj.__version__.encode(), b"VERSION")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _run() -> None:
    """Print the digests of cases as lines of JSON: what :mod:`scripts.digests.comparing` starts."""
    corpora, folder, *names = sys.argv[1:]
    for name, digests in digests_of(names, Path(corpora), Path(folder)):
        print(json.dumps({name: digests}), flush=True)


if __name__ == "__main__":
    _run()
