"""The aligner eflomal as an external program: it is under the GPL, and never imported.

Source: Östling and Tiedemann (2016).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from qsproj.alignment.symmetrize import THRESHOLD, Links
from qsproj.corpus.files import temporary_folder
from qsproj.corpus.formats import read_alignments
from qsproj.errors import QsprojError, UsageError

_PROGRAM = "eflomal-align"


def find_eflomal() -> str:
    """Return the path of ``eflomal-align``: on PATH, else beside this Python.

    UsageError when there is none.
    """
    program = shutil.which(_PROGRAM) or shutil.which(_PROGRAM, path=str(Path(sys.executable).parent))
    if program is None:
        raise UsageError(
            f"the program {_PROGRAM} is not installed; install it: pip install 'qsproj[eflomal]', "
            "or align with --method hmm, which needs nothing more"
        )
    return program


def eflomal_links(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Iterator[tuple[Links, Links]]:
    """Yield (forward, backward) links, bool[m, n], of each sentence pair; every target (source) word once.

    eflomal draws random samples without a seed: two runs differ a little. Raises UsageError when the program
    is not installed, QsprojError when it fails, with the last line that it wrote.
    """
    program = find_eflomal()
    with temporary_folder() as folder:
        names = ("source", "target", "forward", "backward")
        source, target, forward, backward = (folder / name for name in names)
        sizes = _write_sides(pairs, source, target)
        command = [program, "--overwrite", "-s", source, "-t", target, "-f", forward, "-r", backward]
        _run([str(word) for word in command])
        there = read_alignments(forward, sizes=sizes)
        back = read_alignments(backward, sizes=sizes)
        for one, other in zip(there, back, strict=True):
            tables = np.zeros((2, one.n_source, one.n_target), dtype=np.bool_)
            for table, alignment in zip(tables, (one, other)):
                table[alignment.links[:, 0] - 1, alignment.links[:, 1] - 1] = True
            yield tables[0], tables[1]


def _write_sides(
    pairs: Iterable[tuple[Sequence[str], Sequence[str]]], source: Path, target: Path
) -> list[tuple[int, int]]:
    """Write both sides, tokens parted by single spaces; return their lengths."""
    sizes = []
    with (
        source.open("w", encoding="utf-8", newline="\n") as sources,
        target.open("w", encoding="utf-8", newline="\n") as targets,
    ):
        for source_words, target_words in pairs:
            sizes.append((len(source_words), len(target_words)))
            # White space inside a word (CoNLL-U allows it) would make two of it.
            sources.write(" ".join("_".join(word.split()) or "_" for word in source_words) + "\n")
            targets.write(" ".join("_".join(word.split()) or "_" for word in target_words) + "\n")
    return sizes


def _run(command: list[str]) -> None:
    # The program starts a second one that lies beside it.
    path = os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", "")])
    outcome = subprocess.run(
        command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    if outcome.returncode != 0:
        lines = outcome.stderr.strip().splitlines() or ["it wrote nothing"]
        raise QsprojError(f"{_PROGRAM} failed with exit code {outcome.returncode}: {lines[-1]}")


def check_links_only(symmetrization: str) -> None:
    """Raise UsageError for a symmetrisation that reads probabilities, which eflomal does not give."""
    if symmetrization == THRESHOLD:
        raise UsageError(
            "eflomal gives links without probabilities; choose a --symmetrize other than threshold"
        )
