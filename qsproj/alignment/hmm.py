"""The built-in aligner: a hidden Markov model in both directions, trained to agree, leaving one out.

What each part is worth was measured on development data: ``docs/alignment.md``.

Source: Vogel, Ney and Tillmann (1996) for the model; Liang, Taskar and Klein (2006) for agreement; Mermer
and Saraclar (2011) for Dirichlet priors on the lexical probabilities; Asuncion et al. (2009) for inference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qsproj.alignment.encoding import EncodedBitext, WordPairs, find_word_pairs, letters
from qsproj.alignment.shards import Shard, Sweep, first_counts, split, sweep_shards
from qsproj.parallel import THIS_PROCESS, Workers
from qsproj.progress import bar

if TYPE_CHECKING:
    from qsproj.kernels.align.hmm_leave_one_out import Jumps, LexicalCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class HmmSettings:
    """How the built-in aligner is trained. The defaults were chosen on development data.

    Attributes
    ----------
    ibm1_sweeps, hmm_sweeps : int
        Passes over the bitext with IBM model 1 and then with jumps; at least one of the latter.
    null_probability : float
        Prior probability that a word has no counterpart.
    lexical_prior : float
        Dirichlet pseudo-count of every word pair.
    likeness_prior : float
        Pseudo-count, more, of a pair that is spelt the same; less for a shared prefix.
    null_prior : float
        Dirichlet pseudo-count of every word given NULL.
    reach : int
        Longest jump with a weight of its own.
    jump_prior : float
        Pseudo-count that holds each jump weight to its last value.
    shard : int
        Sentence pairs that learn from one another within a sweep; others learn from them in the next.
    """

    ibm1_sweeps: int = 3
    hmm_sweeps: int = 4
    null_probability: float = 0.2
    lexical_prior: float = 1e-3
    likeness_prior: float = 0.3
    null_prior: float = 1e-3
    reach: int = 6
    jump_prior: float = 1.0
    shard: int = 10000


@dataclass(frozen=True, slots=True, eq=False)
class LinkPosteriors:
    """Link probabilities of a bitext in both directions.

    Attributes
    ----------
    bitext : EncodedBitext
        The sentences.
    tables : tuple of float32[cells, 2]
        One for each shard, in their order; the cells of sentence after sentence, as ``bitext`` numbers them:
        p(target word comes from source word), p(source word comes from target word).
    log_likelihoods : tuple of float
        After each sweep: both directions together, each sentence given all others (natural log).
    """

    bitext: EncodedBitext
    tables: tuple[NDArray[np.float32], ...]
    log_likelihoods: tuple[float, ...]

    def __iter__(self) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Yield (forward, backward), float32[m, n] views, for each pair; [0, 0] where not aligned."""
        tables = iter(self.tables)
        table, begin = np.zeros((0, 2), dtype=np.float32), 0
        for m, n in zip(
            np.diff(self.bitext.source_offsets).tolist(), np.diff(self.bitext.target_offsets).tolist()
        ):
            while m * n and begin == len(table):
                table, begin = next(tables), 0
            cells = table[begin : begin + m * n].reshape(m, n, 2)
            begin += m * n
            yield cells[:, :, 0], cells[:, :, 1]


def train_hmm(
    bitext: EncodedBitext, settings: HmmSettings | None = None, *, workers: Workers = THIS_PROCESS
) -> LinkPosteriors:
    """Return the link posteriors of every sentence pair.

    Deterministic. O(cells * reach) time a sweep; about 16 bytes a cell and 16 a word pair. Each shard of
    ``settings.shard`` pairs goes through its sentences one by one, from the counts that all shards had after
    the sweep before; what they have changed is then added up, in their order.

    Parameters
    ----------
    workers : Workers
        Who sweeps over the shards; the result does not depend on it.

    *Source*: shards as in the approximate distributed inference of Newman et al. (2009).
    """
    settings = settings or HmmSettings()
    shards, prior = _prepared(bitext, settings)
    counts = first_counts(shards, _no_counts(bitext, len(prior.pairs)))
    weights = np.tile(_first_jumps(settings.reach), (2, 1))
    sweeps = settings.ibm1_sweeps + settings.hmm_sweeps
    log_likelihoods: list[float] = []
    tables: tuple[NDArray[np.float32], ...] = ()
    with bar("aligning", total=sweeps * len(shards), unit="shard") as progress:
        for number in range(sweeps):
            use_jumps = number >= settings.ibm1_sweeps
            result = sweep_shards(
                shards,
                Sweep(
                    counts=counts,
                    prior=prior,
                    jumps=weights,
                    null_probability=settings.null_probability,
                    use_jumps=use_jumps,
                    keep_posteriors=number == sweeps - 1,
                ),
                workers=workers,
                progress=progress,
            )
            shards, counts, tables = result.shards, result.counts, result.tables
            log_likelihoods.append(result.log_likelihood)
            if use_jumps:
                weights = _updated_jumps(result.jumps, settings.jump_prior)
    return LinkPosteriors(bitext, tables, tuple(log_likelihoods))


def _prepared(bitext: EncodedBitext, settings: HmmSettings) -> tuple[tuple[Shard, ...], LexicalCounts]:
    """Return shards and prior; the word pairs of all cells, which the shards number anew, are let go of."""
    pairs = find_word_pairs(bitext)
    return split(bitext, pairs, size=settings.shard), _prior(bitext, pairs, settings)


def _no_counts(bitext: EncodedBitext, pairs: int) -> LexicalCounts:
    from qsproj.kernels.align.hmm_leave_one_out import LexicalCounts

    sources, targets = len(bitext.source_vocabulary), len(bitext.target_vocabulary)
    return LexicalCounts(
        np.zeros(pairs),
        np.zeros(sources),
        np.zeros(targets),
        np.zeros(sources),
        np.zeros(targets),
        np.zeros(2),
    )


def _prior(bitext: EncodedBitext, pairs: WordPairs, settings: HmmSettings) -> LexicalCounts:
    from qsproj.kernels.align.hmm_leave_one_out import LexicalCounts
    from qsproj.kernels.align.ibm1_spelling import pair_pseudo_counts

    sources, targets = len(bitext.source_vocabulary), len(bitext.target_vocabulary)
    pseudo_counts = pair_pseudo_counts(
        pairs.starts,
        pairs.targets,
        *letters(bitext.source_vocabulary),
        *letters(bitext.target_vocabulary),
        settings.lexical_prior,
        settings.likeness_prior,
    )
    return LexicalCounts(
        pseudo_counts,
        _sums(pairs.sources, pseudo_counts, sources),
        _sums(pairs.targets, pseudo_counts, targets),
        np.full(sources, settings.null_prior),
        np.full(targets, settings.null_prior),
        settings.null_prior * np.array([sources, targets], dtype=np.float64),
    )


def _sums(words: NDArray[np.int32], values: NDArray[np.float32], size: int) -> NDArray[np.float64]:
    """Return float64[size]: the sum of the values of each word."""
    return np.bincount(words, weights=values, minlength=size).astype(np.float64, copy=False)


def _first_jumps(reach: int) -> NDArray[np.float64]:
    """Return float64[2 reach + 3] that favours the next word, then the near ones."""
    distances = np.arange(-reach - 1, reach + 2, dtype=np.float64)
    weights: NDArray[np.float64] = np.exp(-0.5 * np.abs(distances - 1.0))
    return weights


def _updated_jumps(jumps: Jumps, prior: float) -> NDArray[np.float64]:
    """Return the next jump weights float64[2, 2 reach + 3], each row scaled to sum 1."""
    weights = (jumps.counts + prior) / (jumps.exposures + prior / jumps.weights)
    scaled: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return scaled
