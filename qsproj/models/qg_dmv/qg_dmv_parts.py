"""A corpus of sentence pairs packed part by part into files: memory holds one part at a time.

Parts have a fixed size, whoever works on them: counts that are added up part by part are the same to the
last bit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from qsproj.corpus.sentence import SentencePair
from qsproj.models.checkpoint import checksum
from qsproj.models.dmv.dmv_corpus import TagNumbering
from qsproj.models.qg_dmv.qg_dmv_corpus import QgCorpus, nodes_of, pack_pairs

PART_PAIRS = 10_000
# The tag of NULL comes after those of the source, which are all known only when the last part is packed.
NULL_FOR_NOW = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedPairs:
    """Sentence pairs as :func:`qsproj.models.qg_dmv.qg_dmv.expected_counts` reads them, on the disk.

    ``paths``: one file for each part. ``inventory``, ``source_inventory``: tags of the target and of the
    source; NULL is counted after the latter. ``pairs``: their number. ``crc``: CRC-32 of all arrays.
    """

    paths: tuple[Path, ...]
    inventory: tuple[str, ...]
    source_inventory: tuple[str, ...]
    pairs: int
    crc: int

    def __iter__(self) -> Iterator[QgCorpus]:
        """Yield the parts, each read when it is asked for."""
        null_tag = np.int16(len(self.source_inventory))
        for path in self.paths:
            with np.load(path) as arrays:
                corpus = QgCorpus(**arrays)
            yield replace(
                corpus,
                source_tags=np.where(corpus.source_tags == NULL_FOR_NOW, null_tag, corpus.source_tags),
            )


def pack_into(folder: Path, pairs: Iterable[SentencePair], *, punctuation: str) -> PackedPairs:
    """Pack sentence pairs into files of a folder.

    ``folder``: must live as long as what is returned is used. ``pairs``: consumed one at a time. Raises
    UsageError when no word of a side has a tag.
    """
    numbering, source_numbering = TagNumbering(), TagNumbering()
    nodes = (
        nodes_of(
            pair,
            numbering.number(pair.target.upos),
            source_numbering.number(pair.source.upos),
            null_tag=NULL_FOR_NOW,
            punctuation=punctuation,
        )
        for pair in pairs
    )
    paths: list[Path] = []
    packed = crc = 0
    while len(corpus := pack_pairs(itertools.islice(nodes, PART_PAIRS))):
        paths.append(folder / f"part-{len(paths):05d}.npz")
        arrays = asdict(corpus)
        np.savez(paths[-1], **arrays)
        packed, crc = packed + len(corpus), checksum(arrays.values(), crc)
    inventory, source_inventory = numbering.inventory("the target"), source_numbering.inventory("the source")
    return PackedPairs(
        paths=tuple(paths), inventory=inventory, source_inventory=source_inventory, pairs=packed, crc=crc
    )
