"""The built-in aligner: a hidden Markov model in both directions, trained to agree, leaving one out.

A bitext is split into shards on disk, which are swept independently, in this process or others. The
components are described in ``docs/notes/word-alignment.md``.

Source: Vogel, Ney and Tillmann (1996) for the model; Liang, Taskar and Klein (2006) for agreement; Mermer
and Saraclar (2011) for Dirichlet priors on the lexical probabilities; Asuncion et al. (2009) for inference.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.alignment import encoding
from qsproj.alignment.encoding import EncodedPairs, LinkedPair, ShardFiles, Vocabularies, Words
from qsproj.conventions import Floats, Numbers, Weights, starts_of
from qsproj.corpus.files import temporary_folder
from qsproj.kernels.align.hmm import Cells, Jumps, LexicalCounts, Shares, add_all_shares
from qsproj.kernels.align.hmm import sweep as sweep_sentences
from qsproj.kernels.align.ibm1 import number_pairs, pair_pseudo_counts, renumber
from qsproj.parallel import THIS_PROCESS, Workers, map_in_order
from qsproj.progress import bar

BLOCK_PAIRS = 1 << 21  # word pairs of shards merged at a time: some 30 bytes each
# Placeholder for the counts of a task.
_NO_COUNTS = LexicalCounts(*(np.zeros(0) for _ in LexicalCounts._fields))
_NO_SHARES = Shares(*(np.zeros(0, dtype=np.float32) for _ in Shares._fields))


@dataclass(frozen=True, slots=True, kw_only=True)
class HmmSettings:
    """Settings of the built-in aligner's training. The defaults were chosen on development data."""

    ibm1_sweeps: int = 3  # passes over the bitext with IBM model 1
    hmm_sweeps: int = 4  # passes with jumps after these; at least one
    null_probability: float = 0.2  # prior probability that a word has no counterpart
    lexical_prior: float = 1e-3  # Dirichlet pseudo-count of every word pair
    likeness_prior: float = 0.3  # added for equal spelling, less for a shared prefix
    null_prior: float = 1e-3  # pseudo-count of every word given NULL
    reach: int = 6  # longest jump with a weight of its own
    jump_prior: float = 1.0  # pseudo-count that pulls each jump weight to its last value
    shard: int = 10000  # pairs whose counts are updated within a sweep; others see the updates in the next


@dataclass(frozen=True, slots=True, eq=False)
class Shards:
    """Consecutive sentence pairs in parts, as files, and statistics of all of them together.

    Files of each shard: its :class:`~qsproj.kernels.align.hmm.Cells`, ``lengths`` int64[S, 2], its word pairs
    (:func:`number_in_bitext`), and the shares of its cells and tokens in the counts
    (:class:`~qsproj.kernels.align.hmm.Shares`). Until then, also its pairs, sorted by source word: ``starts``
    int64[V+1], ``targets`` int32[p], and ``places`` int32[p], the number of each in the shard.
    """

    files: tuple[ShardFiles, ...]
    vocabularies: Vocabularies
    pairs: int  # distinct word pairs of the bitext
    sources: Floats  # their pseudo-counts by source word
    targets: Floats  # their pseudo-counts by target word


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sweep:
    """A sweep's start; ``counts`` and ``prior`` are of the whole bitext."""

    counts: LexicalCounts
    prior: LexicalCounts  # ``pairs`` is not read, as each shard has its own
    jumps: Floats  # float64[2, 2 reach + 3]: weights
    null_probability: float  # argument of :func:`qsproj.kernels.align.hmm.sweep`, as is ``use_jumps``
    use_jumps: bool


# The input of a shard's sweep: counts and prior are of its own word pairs.
_Task = tuple[Cells, LexicalCounts, LexicalCounts, Shares]


class _Done(NamedTuple):
    shares: Shares
    counts: LexicalCounts
    jumps: Jumps
    log_likelihood: float
    posteriors: Weights


def write_shards(folder: Path, pairs: Iterable[tuple[Words, Words]], settings: HmmSettings) -> Shards:
    vocabularies: Vocabularies = {}, {}
    shards = []
    for number, encoded in enumerate(encoding.encode_bitext(pairs, vocabularies, size=settings.shard)):
        files = ShardFiles(folder, number)
        _write_shard(files, encoded, vocabularies)
        shards.append(files)
    totals = (np.zeros(len(words)) for words in vocabularies)
    return number_in_bitext(Shards(tuple(shards), vocabularies, 0, *totals), settings)


def _write_shard(files: ShardFiles, encoded: EncodedPairs, vocabularies: Vocabularies) -> None:
    words = ("source_words", "target_words")
    for name in (*words, "source_offsets", "target_offsets", "cell_offsets", "lengths"):
        files.save(name, getattr(encoded, name))
    m, n = np.diff(encoded.source_offsets), np.diff(encoded.target_offsets)
    # The mean of 1/m and 1/n: initially, all words of the other side are equally likely origins.
    uniform = (0.5 / np.maximum(m, 1) + 0.5 / np.maximum(n, 1)).astype(np.float32)
    files.save("shares.cells", np.repeat(uniform, m * n))
    files.save("shares.null_sources", np.zeros(len(encoded.source_words), dtype=np.float32))
    files.save("shares.null_targets", np.zeros(len(encoded.target_words), dtype=np.float32))
    # The word pairs, sorted by source word, and the number of each cell and of each pair in the shard.
    # Pairs are numbered in the order of cells, so that those of a sentence are adjacent in memory.
    order = token_order(encoded.source_words, encoded.source_offsets, len(vocabularies[0]))
    where = encoded.source_offsets, encoded.target_words, encoded.target_offsets, encoded.cell_offsets
    starts, targets, cell_pairs = number_pairs(order, *where, len(vocabularies[1]))
    places = np.full(starts[-1], -1, dtype=np.int32)
    renumber(cell_pairs, places, 0)
    numbered = {"places": places, "starts": starts, "targets": targets[: starts[-1]]}
    for name, array in {**numbered, "cell_pairs": cell_pairs}.items():
        files.save(name, array)


def _cells(files: ShardFiles) -> Cells:
    return Cells(*(files.load(name) for name in Cells._fields))


def _shares(files: ShardFiles) -> Shares:
    return Shares(*(files.load(f"shares.{name}") for name in Shares._fields))


def sweep_shards(
    shards: Shards, sweep: Sweep, *, workers: Workers, progress: Callable[[], None]
) -> tuple[LexicalCounts, Jumps, float]:
    """Sweep over each shard from the same counts, updated in place; return counts, jumps, log-likelihood."""
    changed = LexicalCounts(*(np.zeros_like(array) for array in sweep.counts))
    total, jumps = 0.0, _no_jumps(sweep.jumps)
    for files, pairs, done in _swept(shards, sweep, workers, keep=False):
        for name, array in zip(done.shares._fields, done.shares, strict=True):
            files.save(f"shares.{name}", array)
        _add_changes(changed, done.counts, sweep.counts, pairs)
        jumps.counts[:] += done.jumps.counts
        jumps.exposures[:] += done.jumps.exposures
        total += done.log_likelihood
        progress()
        # Released before the next shard is read.
        del pairs, done
    for array, change in zip(sweep.counts, changed, strict=True):
        array += change
    return sweep.counts, jumps, total


def _swept(
    shards: Shards, sweep: Sweep, workers: Workers, *, keep: bool
) -> Iterator[tuple[ShardFiles, Numbers, _Done]]:
    on_the_way: deque[Numbers] = deque()

    def task(files: ShardFiles) -> _Task:
        pairs: Numbers = files.load("pairs")
        on_the_way.append(pairs)
        prior = sweep.prior._replace(pairs=files.load("prior"))
        return _cells(files), _of_shard(sweep.counts, pairs), prior, _shares(files)

    small = replace(sweep, counts=_NO_COUNTS, prior=_NO_COUNTS)
    results = map_in_order(partial(_sweep_shard, small, keep), map(task, shards.files), workers=workers)
    for files in shards.files:
        done = next(results)
        yield files, on_the_way.popleft(), done
        del done


def _of_shard(counts: LexicalCounts, pairs: Numbers) -> LexicalCounts:
    copies = {name: getattr(counts, name).copy() for name in counts._fields[1:]}
    return counts._replace(pairs=counts.pairs[pairs], **copies)


def _no_jumps(weights: Floats) -> Jumps:
    return Jumps(weights, np.zeros_like(weights), np.zeros_like(weights))


def _add_changes(changed: LexicalCounts, own: LexicalCounts, before: LexicalCounts, pairs: Numbers) -> None:
    own.pairs[:] -= before.pairs[pairs]
    changed.pairs[pairs] += own.pairs
    for name in own._fields[1:]:
        array = getattr(changed, name)
        array += getattr(own, name) - getattr(before, name)


def _sweep_shard(sweep: Sweep, keep: bool, task: _Task) -> _Done:
    cells, counts, _, shares = task
    jumps = _no_jumps(sweep.jumps)
    posteriors = np.zeros((len(cells.cell_pairs) if keep else 0, 2), dtype=np.float32)
    log_likelihood = sweep_sentences(*task, jumps, sweep.null_probability, sweep.use_jumps, posteriors)
    if keep:
        shares, counts = _NO_SHARES, _NO_COUNTS
    return _Done(shares, counts, jumps, log_likelihood, posteriors)


def _linked_pairs(files: ShardFiles, posteriors: Weights) -> Iterator[LinkedPair]:
    sizes = (np.diff(files.load(f"{side}_offsets")).tolist() for side in ("source", "target"))
    begin = 0
    for length, m, n in zip(files.load("lengths").tolist(), *sizes, strict=True):
        cells = posteriors[begin : begin + m * n].reshape(m, n, 2)
        begin += m * n
        yield LinkedPair((length[0], length[1]), cells[:, :, 0], cells[:, :, 1])


def token_order(
    words: Numbers, offsets: NDArray[np.int64], vocabulary_size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Numbers]:
    """Sort tokens by word, stably: starts int64[V+1], tokens int64[T], sentences int32[T]."""
    tokens = np.argsort(words, kind="stable")
    sentences = np.repeat(np.arange(offsets.size - 1, dtype=np.int32), np.diff(offsets))
    return starts_of(np.bincount(words, minlength=vocabulary_size)), tokens, sentences[tokens]


def number_in_bitext(shards: Shards, settings: HmmSettings) -> Shards:
    """Number the word pairs of all shards: ``pairs`` int32[p], ``prior`` float32[p] of each shard."""
    of_words = np.zeros(len(shards.sources), dtype=np.int64)
    for files in shards.files:
        own = np.diff(files.load("starts"))
        of_words[: len(own)] += own
    spelt = tuple(map(encoding.letters, shards.vocabularies))
    for block in _blocks(of_words):
        shards = _join_block(shards, block, spelt, settings)
    numbers, following = np.full(shards.pairs, -1, dtype=np.int32), 0
    for files in shards.files:
        places = files.load("places")
        pairs = _in_order(files.appended("pairs", np.int32), places)
        # As in each shard, adjacent entries of the counts are read together.
        following = renumber(pairs, numbers, following)
        files.save("pairs", pairs)
        files.save("prior", _in_order(files.appended("prior", np.float32), places))
        files.remove("places", "starts", "targets")
    return shards


def _in_order(values: NDArray[Any], places: Numbers) -> NDArray[Any]:
    ordered = np.empty_like(values)
    ordered[places] = values
    return ordered


def _join_block(
    shards: Shards,
    words: tuple[int, int],
    spelt: Sequence[tuple[Numbers, NDArray[np.int64]]],
    settings: HmmSettings,
) -> Shards:
    """Number the pairs of source words ``words[0]`` to ``words[1] - 1``, from ``shards.pairs`` on."""
    first, last = words
    starts = [_starts(files, first, last) for files in shards.files]
    parts = [files.part("targets", own[0], own[-1]) for files, own in zip(shards.files, starts, strict=True)]
    begins = starts_of([len(part) for part in parts])
    # Each source word of a shard is paired as a sentence of one word with a translation: its targets.
    places = [own[:-1] - own[0] + begin for own, begin in zip(starts, begins, strict=False)]
    offsets = np.concatenate([*places, begins[-1:]])
    tiled = np.tile(np.arange(last - first, dtype=np.int32), len(parts))
    each = np.arange(len(tiled) + 1)
    where = each, np.concatenate(parts), offsets, offsets, len(shards.targets)
    pair_starts, targets, numbers = number_pairs(token_order(tiled, each, last - first), *where)
    targets = targets[: pair_starts[-1]]
    (source_letters, source_starts), target_letters = spelt
    spelled = source_letters, source_starts[first : last + 1], *target_letters
    priors = settings.lexical_prior, settings.likeness_prior
    pseudo_counts = pair_pseudo_counts(pair_starts, targets, *spelled, *priors)
    for files, begin, end in zip(shards.files, begins, begins[1:], strict=False):
        own_numbers = numbers[begin:end]
        files.append("pairs", (own_numbers + shards.pairs).astype(np.int32))
        files.append("prior", pseudo_counts[own_numbers])
    of_pairs = np.repeat(np.arange(last - first), np.diff(pair_starts))
    shards.sources[first:last] += np.bincount(of_pairs, weights=pseudo_counts, minlength=last - first)
    shards.targets[:] += np.bincount(targets, weights=pseudo_counts, minlength=len(shards.targets))
    return replace(shards, pairs=shards.pairs + len(targets))


def _starts(files: ShardFiles, first: int, last: int) -> NDArray[np.int64]:
    """Return the starts and the end of a shard's pairs of some source words; unseen words have none."""
    known = files.part("starts", first, last + 1)
    end = known[-1] if len(known) else 0
    return np.concatenate((known, np.full(last + 1 - first - len(known), end, dtype=np.int64)))


def _blocks(counts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield (first, last + 1) of runs of source words with BLOCK_PAIRS pairs, or of a single word."""
    ends = np.cumsum(counts)
    first = 0
    while first < len(counts):
        limit = (ends[first - 1] if first else 0) + BLOCK_PAIRS
        last = max(int(np.searchsorted(ends, limit, side="right")), first + 1)
        yield first, last
        first = last


def train_hmm(
    pairs: Iterable[tuple[Words, Words]],
    settings: HmmSettings | None = None,
    *,
    workers: Workers = THIS_PROCESS,
    after_sweep: Callable[[float], None] = lambda _: None,
) -> Iterator[LinkedPair]:
    """Train the model on all sentence pairs, then yield the link posteriors of each.

    Deterministic, with any number of workers. O(cells * reach) time a sweep. In each shard of
    ``settings.shard`` pairs, sentences are processed one by one, starting from the counts of all shards after
    the previous sweep; the changes of all shards are then added in order (Newman et al. 2009). Shards are
    files of a temporary folder, about 12 bytes a cell; memory has 16 bytes for each cooccurring word pair.
    ``after_sweep`` receives the log-likelihood after each sweep: both directions together, each sentence
    given all others. Raises UsageError when the disk has no room for temporary files.
    """
    settings = settings or HmmSettings()
    with temporary_folder() as folder:
        shards = write_shards(folder, pairs, settings)
        sweeps = settings.ibm1_sweeps + settings.hmm_sweeps
        with bar("aligning", total=sweeps * len(shards.files), unit="shard") as progress:
            sweep = _first_sweep(shards, settings)
            for number in range(sweeps - 1):
                counts, seen, log_likelihood = sweep_shards(shards, sweep, workers=workers, progress=progress)
                after_sweep(log_likelihood)
                jumps = sweep.jumps
                if sweep.use_jumps:
                    weights = seen.counts + settings.jump_prior
                    weights /= seen.exposures + settings.jump_prior / seen.weights
                    jumps = weights / weights.sum(axis=1, keepdims=True)
                uses_jumps = number + 1 >= settings.ibm1_sweeps
                sweep = replace(sweep, counts=counts, jumps=jumps, use_jumps=uses_jumps)
            total = 0.0
            for files, _, done in _swept(shards, sweep, workers, keep=True):
                progress()
                total += done.log_likelihood
                yield from _linked_pairs(files, done.posteriors)
                del done
            after_sweep(total)


def _first_sweep(shards: Shards, settings: HmmSettings) -> Sweep:
    sources, targets = map(len, shards.vocabularies)
    sizes = (shards.pairs, sources, targets, sources, targets, 2)
    none, counts = (LexicalCounts(*map(np.zeros, sizes)) for _ in range(2))
    for files in shards.files:
        pairs = files.load("pairs")
        own = _of_shard(none, pairs)
        add_all_shares(_cells(files), _shares(files), own)
        _add_changes(counts, own, none, pairs)
    distances = np.arange(-settings.reach - 1, settings.reach + 2, dtype=np.float64)
    of_null = np.full(sources, settings.null_prior), np.full(targets, settings.null_prior)
    null_totals = settings.null_prior * np.array([sources, targets], dtype=np.float64)
    of_words = shards.sources, shards.targets
    return Sweep(
        counts=counts,
        prior=LexicalCounts(np.zeros(0, dtype=np.float32), *of_words, *of_null, null_totals),
        # Initial jumps favour the next word, then nearby ones.
        jumps=np.tile(np.exp(-0.5 * np.abs(distances - 1.0)), (2, 1)),
        null_probability=settings.null_probability,
        use_jumps=settings.ibm1_sweeps == 0,
    )
