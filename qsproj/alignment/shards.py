"""A bitext in shards, kept on the disk, that are swept over apart from each other, here or elsewhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.alignment.encoding import EncodedPairs, ShardFiles, Vocabularies, Words, encode_bitext
from qsproj.alignment.word_pairs import PairPriors, PairTotals, number_in_bitext, number_in_shard
from qsproj.kernels.align.hmm import Cells, Jumps, LexicalCounts, Shares, add_all_shares, add_differences
from qsproj.kernels.align.hmm import sweep as sweep_sentences
from qsproj.parallel import Workers, map_in_order


@dataclass(frozen=True, slots=True, eq=False)
class Shards:
    """Consecutive sentence pairs in parts, as files, and what is known of all of them together.

    Files of each shard: its :class:`~qsproj.kernels.align.hmm.Cells`, ``lengths`` int64[S, 2], its word pairs
    (:func:`~qsproj.alignment.word_pairs.number_in_bitext`), and what its cells and tokens have in the counts
    (:class:`~qsproj.kernels.align.hmm.Shares`).
    """

    files: tuple[ShardFiles, ...]
    vocabularies: Vocabularies
    totals: PairTotals


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sweep:
    """A sweep's start; ``counts`` and ``prior`` are of the whole bitext.

    ``prior.pairs`` is not looked at, as each shard has its own. ``jumps`` float64[2, 2 reach + 3]: weights.
    ``null_probability``, ``use_jumps`` as :func:`qsproj.kernels.align.hmm.sweep` takes them.
    """

    counts: LexicalCounts
    prior: LexicalCounts
    jumps: NDArray[np.float64]
    null_probability: float
    use_jumps: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Swept:
    """A sweep's end over all shards; ``jumps`` are statistics."""

    counts: LexicalCounts
    jumps: Jumps
    log_likelihood: float


class _Task(NamedTuple):
    """The input of a shard's sweep; ``counts`` and ``prior`` are of its own word pairs."""

    cells: Cells
    counts: LexicalCounts
    prior: LexicalCounts
    shares: Shares


class _Done(NamedTuple):
    """Its output; of the last sweep ``posteriors``, and no counts and shares."""

    shares: Shares
    counts: LexicalCounts
    jumps: Jumps
    log_likelihood: float
    posteriors: NDArray[np.float32]


def write_shards(
    folder: Path, pairs: Iterable[tuple[Words, Words]], *, size: int, priors: PairPriors
) -> Shards:
    """Write a bitext as shards of ``size`` sentence pairs into an empty folder.

    UsageError when there is no room.
    """
    vocabularies, shards = Vocabularies(), []
    for number, encoded in enumerate(encode_bitext(pairs, vocabularies, size=size)):
        files = ShardFiles(folder, number)
        _write_tokens(files, encoded)
        number_in_shard(files, encoded, vocabularies.sizes)
        shards.append(files)
    return Shards(tuple(shards), vocabularies, number_in_bitext(shards, vocabularies, priors))


def _write_tokens(files: ShardFiles, encoded: EncodedPairs) -> None:
    """Write all that cells have but their word pairs, and shares that nothing is known of yet."""
    words = ("source_words", "target_words")
    for name in (*words, "source_offsets", "target_offsets", "cell_offsets", "lengths"):
        files.save(name, getattr(encoded, name))
    m, n = np.diff(encoded.source_offsets), np.diff(encoded.target_offsets)
    # The mean of 1/m and 1/n: at first, a word may come from any of the other side.
    uniform = (0.5 / np.maximum(m, 1) + 0.5 / np.maximum(n, 1)).astype(np.float32)
    files.save("shares.cells", np.repeat(uniform, m * n))
    files.save("shares.null_sources", np.zeros(len(encoded.source_words), dtype=np.float32))
    files.save("shares.null_targets", np.zeros(len(encoded.target_words), dtype=np.float32))


def _cells(files: ShardFiles) -> Cells:
    return Cells(*(files.load(name) for name in Cells._fields))


def _shares(files: ShardFiles) -> Shares:
    return Shares(*(files.load(f"shares.{name}") for name in Shares._fields))


def first_counts(shards: Shards, none: LexicalCounts) -> LexicalCounts:
    """Add up what the shards' shares are, to counts that are all zero; these are changed."""
    changed = _like(none)
    for files in shards.files:
        pairs = files.load("pairs")
        own = _of_shard(none, pairs)
        add_all_shares(_cells(files), _shares(files), own)
        _add_changes(changed, own, none, pairs)
    return _sum(none, changed)


def sweep_shards(shards: Shards, sweep: Sweep, *, workers: Workers, progress: Callable[[], None]) -> Swept:
    """Sweep over each shard from the same counts, then put together what they made of them.

    The counts that the sweep starts from are changed.
    """
    changed, total, jumps = _like(sweep.counts), 0.0, _no_jumps(sweep.jumps)
    for files, pairs, done in _swept(shards, sweep, workers, keep=False):
        for name, array in zip(done.shares._fields, done.shares, strict=True):
            files.save(f"shares.{name}", array)
        _add_changes(changed, done.counts, sweep.counts, pairs)
        jumps.counts[:] += done.jumps.counts
        jumps.exposures[:] += done.jumps.exposures
        total += done.log_likelihood
        progress()
        # Not held on to while the next shard is read.
        del pairs, done
    return Swept(counts=_sum(sweep.counts, changed), jumps=jumps, log_likelihood=total)


def last_sweep(
    shards: Shards, sweep: Sweep, *, workers: Workers, progress: Callable[[], None]
) -> Iterator[tuple[ShardFiles, NDArray[np.float32], float]]:
    """Sweep over each shard in turn, and yield its posteriors float32[cells, 2] and log-likelihood."""
    for files, _, done in _swept(shards, sweep, workers, keep=True):
        progress()
        yield files, done.posteriors, done.log_likelihood
        del done


def _swept(
    shards: Shards, sweep: Sweep, workers: Workers, *, keep: bool
) -> Iterator[tuple[ShardFiles, NDArray[np.int32], _Done]]:
    """Yield each shard with the numbers of its word pairs and what it came to."""
    on_the_way: deque[NDArray[np.int32]] = deque()

    def task(files: ShardFiles) -> _Task:
        pairs: NDArray[np.int32] = files.load("pairs")
        on_the_way.append(pairs)
        prior = sweep.prior._replace(pairs=files.load("prior"))
        return _Task(_cells(files), _of_shard(sweep.counts, pairs), prior, _shares(files))

    small = replace(sweep, counts=_NO_COUNTS, prior=_NO_COUNTS)
    results = map_in_order(partial(_sweep_shard, small, keep), map(task, shards.files), workers=workers)
    for files in shards.files:
        done = next(results)
        yield files, on_the_way.popleft(), done
        del done


def _of_shard(counts: LexicalCounts, pairs: NDArray[np.int32]) -> LexicalCounts:
    """Return a copy of what a shard with these word pairs needs of the counts."""
    copies = {name: getattr(counts, name).copy() for name in counts._fields[1:]}
    return counts._replace(pairs=counts.pairs[pairs], **copies)


def _like(counts: LexicalCounts) -> LexicalCounts:
    zeros: Iterator[Any] = map(np.zeros_like, counts)
    return type(counts)(*zeros)


def _sum(counts: LexicalCounts, changes: LexicalCounts) -> LexicalCounts:
    for array, change in zip(counts, changes, strict=True):
        array += change
    return counts


# In place of those that a task brings along.
_NO_COUNTS = LexicalCounts(*(np.zeros(0) for _ in LexicalCounts._fields))
_NO_SHARES = Shares(*(np.zeros(0, dtype=np.float32) for _ in Shares._fields))


def _no_jumps(weights: NDArray[np.float64]) -> Jumps:
    return Jumps(weights, np.zeros_like(weights), np.zeros_like(weights))


def _add_changes(
    changed: LexicalCounts, own: LexicalCounts, before: LexicalCounts, pairs: NDArray[np.int32]
) -> None:
    """Add to ``changed`` what a shard with these word pairs has made of its part of the counts."""
    add_differences(changed.pairs, pairs, own.pairs, before.pairs)
    for name in own._fields[1:]:
        array = getattr(changed, name)
        array += getattr(own, name) - getattr(before, name)


def _sweep_shard(sweep: Sweep, keep: bool, task: _Task) -> _Done:
    """Sweep over one shard; its shares and its part of the counts are changed, and given back."""
    jumps = _no_jumps(sweep.jumps)
    posteriors = np.zeros((len(task.cells.cell_pairs) if keep else 0, 2), dtype=np.float32)
    how = sweep.null_probability, sweep.use_jumps
    log_likelihood = sweep_sentences(*task, jumps, *how, posteriors)
    if keep:
        task = task._replace(shares=_NO_SHARES, counts=_NO_COUNTS)
    return _Done(task.shares, task.counts, jumps, log_likelihood, posteriors)


def sentence_tables(
    files: ShardFiles, posteriors: NDArray[np.float32]
) -> Iterator[tuple[tuple[int, int], NDArray[np.float32], NDArray[np.float32]]]:
    """Yield the lengths of each pair of a shard, and its posteriors (forward, backward), float32[m, n].

    These are views, [0, 0] of a pair that was not aligned.
    """
    sizes = zip(
        *(np.diff(files.load(f"{side}_offsets")).tolist() for side in ("source", "target")), strict=True
    )
    begin = 0
    for length, (m, n) in zip(files.load("lengths").tolist(), sizes, strict=True):
        cells = posteriors[begin : begin + m * n].reshape(m, n, 2)
        begin += m * n
        yield (length[0], length[1]), cells[:, :, 0], cells[:, :, 1]
