"""A small copy of the data, to try experiments in minutes; its figures are meaningless."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

SENTENCES = 30
PAIRS = 300
# By the beginning of a file's name. Experiments split PUD at the 600th sentence, and learn from 100 of the others.
MORE = {"pud/": 610, "styles/english-pud": 610, "styles/naija": 110, "treebanks/english-ewt-train": 140}
WHOLE = "alignments/"


def small_copy(data: Path, folder: Path) -> Path:
    """Copy the beginning of each treebank and bitext to a folder, unless it is there; return the folder."""
    for path in sorted(data.rglob("*")):
        name = str(path.relative_to(data))
        copy = folder / name
        if copy.exists() or not path.is_file():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".conllu.gz"):
            count = next((count for start, count in MORE.items() if name.startswith(start)), SENTENCES)
            with gzip.open(path, "rb") as lines:
                copy.write_bytes(gzip.compress(b"".join(sentences(lines, count)), mtime=0))
        elif name.endswith(".tsv.xz"):
            with lzma.open(path, "rb") as pairs:
                copy.write_bytes(lzma.compress(b"".join(islice(pairs, PAIRS))))
        elif name.startswith(WHOLE):
            copy.symlink_to(path)
    return folder


def sentences(lines: gzip.GzipFile, count: int) -> Iterator[bytes]:
    """Yield the lines of the first ``count`` sentences."""
    ended = 0
    for line in lines:
        yield line
        ended += not line.strip()
        if ended == count:
            return
