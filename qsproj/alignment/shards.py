"""A bitext in shards that are swept over apart from each other, here or in other processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qsproj.alignment.encoding import EncodedBitext, WordPairs
from qsproj.parallel import Workers, map_in_order

if TYPE_CHECKING:
    from qsproj.kernels.align.hmm_leave_one_out import Cells, Jumps, LexicalCounts, Shares


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """Some consecutive sentence pairs, and what they have in the counts.

    Attributes
    ----------
    cells : Cells
        Offsets count from the shard's first token and cell, word pairs from its own first one.
    pairs : int32[p]
        The number that each of its word pairs has in the whole bitext, ascending.
    shares : Shares
        Of its cells and tokens.
    """

    cells: Cells
    pairs: NDArray[np.int32]
    shares: Shares


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sweep:
    """What a sweep starts from.

    Attributes
    ----------
    counts, prior : LexicalCounts
        Of the whole bitext.
    jumps : float64[2, 2 reach + 3]
        Weights of jumps.
    null_probability, use_jumps
        As :func:`qsproj.kernels.align.hmm_leave_one_out.sweep` takes them.
    keep_posteriors : bool
        Whether the posteriors are wanted: they are as large as the bitext.
    """

    counts: LexicalCounts
    prior: LexicalCounts
    jumps: NDArray[np.float64]
    null_probability: float
    use_jumps: bool
    keep_posteriors: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Swept:
    """What a sweep over all shards came to; ``jumps`` are statistics, ``tables`` posteriors by shard."""

    shards: tuple[Shard, ...]
    counts: LexicalCounts
    jumps: Jumps
    log_likelihood: float
    tables: tuple[NDArray[np.float32], ...]


# A shard, its part of the counts and the prior.
_Task = tuple[Shard, "LexicalCounts", "LexicalCounts"]
# Shares, counts, jumps, log-likelihood, posteriors.
_Done = tuple["Shares", "LexicalCounts", "Jumps", float, "NDArray[np.float32] | None"]


def split(bitext: EncodedBitext, pairs: WordPairs, *, size: int) -> tuple[Shard, ...]:
    """Cut a bitext into shards of ``size`` sentence pairs; the last may have fewer."""
    sentences = len(bitext.lengths)
    return tuple(
        _shard(bitext, pairs, first, min(first + size, sentences)) for first in range(0, sentences, size)
    )


def _shard(bitext: EncodedBitext, pairs: WordPairs, first: int, last: int) -> Shard:
    from qsproj.kernels.align.hmm_leave_one_out import Cells, Shares

    ends = slice(first, last + 1)
    source, target, cell = (
        offsets[ends] for offsets in (bitext.source_offsets, bitext.target_offsets, bitext.cell_offsets)
    )
    of_cells = pairs.of_cells[cell[0] : cell[-1]]
    if len(of_cells) == len(pairs.of_cells):
        own = np.arange(len(pairs.targets), dtype=np.int32)
    else:
        own, places = np.unique(of_cells, return_inverse=True)
        of_cells = places.astype(np.int32)
    cells = Cells(
        bitext.source_words[source[0] : source[-1]],
        source - source[0],
        bitext.target_words[target[0] : target[-1]],
        target - target[0],
        cell - cell[0],
        of_cells,
    )
    m, n = np.diff(source), np.diff(target)
    # The mean of 1/m and 1/n: at first, a word may come from any of the other side.
    uniform = (0.5 / np.maximum(m, 1) + 0.5 / np.maximum(n, 1)).astype(np.float32)
    shares = Shares(
        np.repeat(uniform, m * n),
        np.zeros(len(cells.source_words), dtype=np.float32),
        np.zeros(len(cells.target_words), dtype=np.float32),
    )
    return Shard(cells, own, shares)


def first_counts(shards: Sequence[Shard], none: LexicalCounts) -> LexicalCounts:
    """Return the counts that the shards' shares add up to; those that are all zero may be changed for it."""
    from qsproj.kernels.align.hmm_leave_one_out import add_all_shares

    if len(shards) == 1:
        add_all_shares(shards[0].cells, shards[0].shares, none)
        return none
    counts = [np.zeros_like(array) for array in none]
    for shard in shards:
        own = _of_shard(none, shard, len(shards))
        add_all_shares(shard.cells, shard.shares, own)
        _add_changes(counts, own, none, shard)
    return type(none)(*counts)


def sweep_shards(
    shards: tuple[Shard, ...], sweep: Sweep, *, workers: Workers, progress: Callable[[], None]
) -> Swept:
    """Sweep over each shard from the same counts, then put together what they made of them."""
    from qsproj.kernels.align.hmm_leave_one_out import Jumps

    tasks = (
        (shard, _of_shard(sweep.counts, shard, len(shards)), _of_shard(sweep.prior, shard, len(shards)))
        for shard in shards
    )
    small = replace(sweep, counts=_nothing(), prior=_nothing())
    changed = [np.zeros_like(array) for array in sweep.counts] if len(shards) > 1 else []
    after: list[Shard] = []
    tables: list[NDArray[np.float32]] = []
    counts, total = sweep.counts, 0.0
    jumps = Jumps(sweep.jumps, np.zeros_like(sweep.jumps), np.zeros_like(sweep.jumps))
    results = map_in_order(partial(_sweep_shard, small), tasks, workers=workers)
    for shard, (shares, own, own_jumps, log_likelihood, posteriors) in zip(shards, results, strict=True):
        after.append(replace(shard, shares=shares))
        _add_changes(changed, own, sweep.counts, shard)
        counts = own
        jumps.counts[:] += own_jumps.counts
        jumps.exposures[:] += own_jumps.exposures
        total += log_likelihood
        if posteriors is not None:
            tables.append(posteriors)
        progress()
    if changed:
        counts = _sum(sweep.counts, changed)
    return Swept(shards=tuple(after), counts=counts, jumps=jumps, log_likelihood=total, tables=tuple(tables))


def _of_shard(counts: LexicalCounts, shard: Shard, shards: int) -> LexicalCounts:
    """Return what a shard needs of the counts: of several shards each has a copy, an only one the counts."""
    if shards == 1:
        return counts
    return counts._replace(
        pairs=counts.pairs[shard.pairs],
        sources=counts.sources.copy(),
        targets=counts.targets.copy(),
        null_sources=counts.null_sources.copy(),
        null_targets=counts.null_targets.copy(),
        null_totals=counts.null_totals.copy(),
    )


def _sum(counts: LexicalCounts, changes: Sequence[NDArray[np.float64]]) -> LexicalCounts:
    sums: Iterator[Any] = (before + change for before, change in zip(counts, changes, strict=True))
    return type(counts)(*sums)


def _nothing() -> LexicalCounts:
    """Return counts of nothing, in place of those that a task brings along."""
    from qsproj.kernels.align.hmm_leave_one_out import LexicalCounts

    return LexicalCounts(*(np.zeros(0) for _ in LexicalCounts._fields))


def _add_changes(
    changed: Sequence[NDArray[np.float64]], own: LexicalCounts, before: LexicalCounts, shard: Shard
) -> None:
    """Add to ``changed``, which has an array like each of the counts, or none, what a shard has changed."""
    for number, array in enumerate(changed):
        if number == 0:
            array[shard.pairs] += own.pairs - before.pairs[shard.pairs]
        else:
            array += own[number] - before[number]


def _sweep_shard(sweep: Sweep, task: _Task) -> _Done:
    """Sweep over one shard; its shares and its part of the counts are changed, and given back."""
    from qsproj.kernels.align.hmm_leave_one_out import Jumps
    from qsproj.kernels.align.hmm_leave_one_out import sweep as sweep_sentences

    shard, counts, prior = task
    jumps = Jumps(sweep.jumps, np.zeros_like(sweep.jumps), np.zeros_like(sweep.jumps))
    posteriors = np.zeros((len(shard.cells.cell_pairs), 2), dtype=np.float32)
    log_likelihood = sweep_sentences(
        0,
        len(shard.cells.cell_offsets) - 1,
        shard.cells,
        counts,
        prior,
        shard.shares,
        jumps,
        sweep.null_probability,
        sweep.use_jumps,
        posteriors,
    )
    kept = posteriors if sweep.keep_posteriors else None
    return shard.shares, counts, jumps, log_likelihood, kept
