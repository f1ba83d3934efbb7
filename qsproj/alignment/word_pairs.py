"""The word pairs that share a sentence pair: numbered in each shard, then for the whole bitext."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.alignment.encoding import EncodedPairs, ShardFiles, Vocabularies, letters
from qsproj.kernels.align.ibm1 import join_pairs, number_pairs, pair_pseudo_counts, renumber, token_order

# So many pairs of shards are put together at a time: some 30 bytes each.
BLOCK_PAIRS = 1 << 21


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPriors:
    """Dirichlet pseudo-counts: of every pair, more of one that is spelt alike, less for a shared prefix."""

    base: float
    likeness: float


@dataclass(frozen=True, slots=True, eq=False)
class PairTotals:
    """The number of distinct word pairs of a bitext; their pseudo-counts by source and target word."""

    pairs: int
    sources: NDArray[np.float64]
    targets: NDArray[np.float64]


def number_in_shard(files: ShardFiles, encoded: EncodedPairs, sizes: tuple[int, int]) -> None:
    """Number the word pairs of a shard, and write which one each cell is. O(cells) time.

    Written are ``cell_pairs`` int32[cells], and for :func:`number_in_bitext` the pairs source word by source
    word: ``starts`` int64[V+1], ``targets`` int32[p], and ``places`` int32[p], the number of each in the
    shard. Pairs are numbered as cells have them: those of a sentence lie side by side in memory.
    """
    source_offsets, target_offsets = encoded.source_offsets, encoded.target_offsets
    starts, targets, cell_pairs = number_pairs(
        *token_order(encoded.source_words, source_offsets, sizes[0]),
        source_offsets,
        encoded.target_words,
        target_offsets,
        encoded.cell_offsets,
        sizes[1],
    )
    places = np.full(starts[-1], -1, dtype=np.int32)
    renumber(cell_pairs, places, 0)
    files.save("places", places)
    files.save("starts", starts)
    files.save("targets", targets[: starts[-1]])
    files.save("cell_pairs", cell_pairs)


def number_in_bitext(
    shards: Sequence[ShardFiles], vocabularies: Vocabularies, priors: PairPriors
) -> PairTotals:
    """Number the word pairs of all shards together; write ``pairs`` and ``prior`` of each shard's own.

    ``pairs`` int32[p] has the number of each pair in the whole bitext, ``prior`` float32[p] its pseudo-count.
    Memory: one block of source words, and the sums.
    """
    sizes = vocabularies.sizes
    totals = PairTotals(0, np.zeros(sizes[0]), np.zeros(sizes[1]))
    spelt = (*letters(vocabularies.source), *letters(vocabularies.target))
    for first, last in _blocks(_pairs_of_words(shards, sizes[0])):
        totals = _join_block(shards, (first, last), totals, spelt, priors)
    numbers, following = np.full(totals.pairs, -1, dtype=np.int32), 0
    for files in shards:
        places = files.load("places")
        pairs = _in_order(files.appended("pairs", np.int32), places)
        # As in each shard, so in all: what lies side by side in the counts is read together.
        following = renumber(pairs, numbers, following)
        files.save("pairs", pairs)
        files.save("prior", _in_order(files.appended("prior", np.float32), places))
        files.remove("places", "starts", "targets")
    return totals


def _in_order(values: NDArray[Any], places: NDArray[np.int32]) -> NDArray[Any]:
    ordered = np.empty_like(values)
    ordered[places] = values
    return ordered


def _join_block(
    shards: Sequence[ShardFiles],
    words: tuple[int, int],
    before: PairTotals,
    spelt: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    priors: PairPriors,
) -> PairTotals:
    """Number the pairs of source words ``words[0]`` to ``words[1] - 1``, from ``before.pairs`` on."""
    first, last = words
    starts = [_starts(files, first, last) for files in shards]
    parts = [files.part("targets", own[0], own[-1]) for files, own in zip(shards, starts, strict=True)]
    begins = np.concatenate(([0], np.cumsum([len(part) for part in parts])))
    in_block = np.array([own - own[0] + begin for own, begin in zip(starts, begins, strict=False)])
    numbers, pair_starts, targets = join_pairs(in_block, np.concatenate(parts), len(before.targets))
    source_letters, source_starts, *target_letters = spelt
    pseudo_counts = pair_pseudo_counts(
        pair_starts,
        targets,
        source_letters,
        source_starts[first : last + 1],
        *target_letters,
        priors.base,
        priors.likeness,
    )
    for files, begin, end in zip(shards, begins, begins[1:], strict=False):
        own_numbers = numbers[begin:end]
        files.append("pairs", (own_numbers + before.pairs).astype(np.int32))
        files.append("prior", pseudo_counts[own_numbers])
    of_pairs = np.repeat(np.arange(last - first), np.diff(pair_starts))
    before.sources[first:last] += np.bincount(of_pairs, weights=pseudo_counts, minlength=last - first)
    before.targets[:] += np.bincount(targets, weights=pseudo_counts, minlength=len(before.targets))
    return PairTotals(before.pairs + len(targets), before.sources, before.targets)


def _starts(files: ShardFiles, first: int, last: int) -> NDArray[np.int64]:
    """Return where a shard's pairs of some source words begin and end; of unseen words there are none."""
    known = files.part("starts", first, last + 1)
    end = known[-1] if len(known) else 0
    return np.concatenate((known, np.full(last + 1 - first - len(known), end, dtype=np.int64)))


def _pairs_of_words(shards: Iterable[ShardFiles], size: int) -> NDArray[np.int64]:
    """Return how many pairs each source word has in all shards together, int64[V]."""
    counts = np.zeros(size, dtype=np.int64)
    for files in shards:
        own = np.diff(files.load("starts"))
        counts[: len(own)] += own
    return counts


def _blocks(counts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield (first, last + 1) of runs of source words with BLOCK_PAIRS pairs, or of a single word."""
    ends = np.cumsum(counts)
    first = 0
    while first < len(counts):
        limit = (ends[first - 1] if first else 0) + BLOCK_PAIRS
        last = max(int(np.searchsorted(ends, limit, side="right")), first + 1)
        yield first, last
        first = last
