"""Data of the rows, and runs that two rows share."""

from __future__ import annotations

import gzip
import lzma
from functools import cache
from pathlib import Path

from scripts.experiments.bench.sides import Bench, Side, Spent


def treebank(bench: Bench, name: str) -> str:
    return gzip.decompress(bench.lab.treebank_path(name).read_bytes()).decode()


def kept(bench: Bench, name: str, text: str) -> Path:
    """Return a file with a text."""
    path = bench.folder / name
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    return path


def every(bench: Bench, name: str, share: int) -> Path:
    """Return a file of every so manieth sentence of a treebank, from the first on."""
    blocks = treebank(bench, name).split("\n\n")[::share]
    return kept(bench, f"{name}-{share}.conllu", "\n\n".join(filter(str.strip, blocks)) + "\n\n")


def bitext(bench: Bench, language: str) -> list[str]:
    """Return the pairs of English and a language, one a line, sides parted by a tab."""
    return lzma.decompress(bench.lab.bitext_path(language).read_bytes()).decode().splitlines()


@cache
def spent_once(side: Side, *command: str | Path) -> Spent:
    """Run a command once, to measure its time and its memory, which are separate rows."""
    return side.qsproj(*command)
