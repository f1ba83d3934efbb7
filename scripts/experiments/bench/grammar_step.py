"""Time and memory of an E-step through a quasi-synchronous grammar, for the page of :mod:`.scale`."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import SentencePair
from qsproj.models.qg_dmv.qg_dmv import biased_parameters, expected_counts
from qsproj.models.qg_dmv.qg_dmv_training import pack_into
from scripts.experiments.harness.process import in_own_process

MAX_WORDS = 40
WARM_PAIRS = 100


@dataclass(frozen=True)
class Taken:
    """What it took: processor seconds, and MB on the disk and in memory."""

    packing: float
    step: float
    packed: float
    peak: float


def step_of(files: AlignedFiles) -> dict[str, float]:
    """Pack the pairs of up to MAX_WORDS words and do one E-step, in a process of its own."""
    return asdict(in_own_process(_second_step, files))


def _second_step(files: AlignedFiles) -> Taken:
    """Measure after a few pairs, so that all is compiled."""
    _step(islice(files, WARM_PAIRS))
    return _step(files)


def _step(pairs: Iterable[SentencePair]) -> Taken:
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        packed = pack_into(Path(folder), _usable(pairs), punctuation="strip")
        read = time.process_time()
        size = sum(path.stat().st_size for path in packed.paths) / 1e6
        tags, senses = len(packed.inventory), len(packed.source_inventory) + 1
        expected_counts(packed, biased_parameters(tags, senses, parent_child=0.9))
        done = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return Taken(packing=read - start, step=done - read, packed=size, peak=peak)


def _usable(pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
    for pair in pairs:
        if 0 < len(pair.target) <= MAX_WORDS and len(pair.source) and (pair.source.heads[1:] >= 0).all():
            yield pair
