"""The built-in aligner: a hidden Markov model in both directions, trained to agree, leaving one out.

What each part is worth was measured on development data: ``docs/alignment.md``.

Source: Vogel, Ney and Tillmann (1996) for the model; Liang, Taskar and Klein (2006) for agreement; Mermer
and Saraclar (2011) for Dirichlet priors on the lexical probabilities; Asuncion et al. (2009) for inference.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qsproj.alignment.encoding import LinkedPair, Words
from qsproj.alignment.shards import (
    PairPriors,
    Shards,
    Sweep,
    first_counts,
    last_sweep,
    sweep_shards,
    write_shards,
)
from qsproj.corpus.files import temporary_folder
from qsproj.kernels.align.hmm import Jumps, LexicalCounts
from qsproj.parallel import THIS_PROCESS, Workers
from qsproj.progress import bar


@dataclass(frozen=True, slots=True, kw_only=True)
class HmmSettings:
    """Settings of the built-in aligner's training. The defaults were chosen on development data.

    ``ibm1_sweeps``, ``hmm_sweeps``: passes over the bitext with IBM model 1 and then with jumps; at least one
    of the latter. ``null_probability``: prior probability that a word has no counterpart. Dirichlet
    pseudo-counts: ``lexical_prior`` of every word pair; ``likeness_prior`` more of a pair that is spelt the
    same, less for a shared prefix; ``null_prior`` of every word given NULL. ``reach``: longest jump with a
    weight of its own. ``jump_prior``: pseudo-count that holds each jump weight to its last value. ``shard``:
    sentence pairs that learn from one another within a sweep; others learn from them in the next.
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


def train_hmm(
    pairs: Iterable[tuple[Words, Words]],
    settings: HmmSettings | None = None,
    *,
    workers: Workers = THIS_PROCESS,
    after_sweep: Callable[[float], None] = lambda _: None,
) -> Iterator[LinkedPair]:
    """Yield the link posteriors of every sentence pair, once the model has learned from all of them.

    Deterministic, whoever sweeps over the shards. O(cells * reach) time a sweep. Each shard of
    ``settings.shard`` pairs goes through its sentences one by one, from the counts that all shards had after
    the sweep before; what they have changed is then added up, in their order (Newman et al. 2009). Shards are
    files of a temporary folder, about 12 bytes a cell; memory has 16 bytes for each word pair that shares a
    sentence pair. ``after_sweep`` is given the log-likelihood after each sweep: both directions together,
    each sentence given all others. Raises UsageError when there is no room for temporary files.
    """
    settings = settings or HmmSettings()
    with temporary_folder() as folder:
        priors = PairPriors(base=settings.lexical_prior, likeness=settings.likeness_prior)
        shards = write_shards(folder, pairs, size=settings.shard, priors=priors)
        sweeps = settings.ibm1_sweeps + settings.hmm_sweeps
        with bar("aligning", total=sweeps * len(shards.files), unit="shard") as progress:
            sweep = _first_sweep(shards, settings)
            for number in range(sweeps - 1):
                counts, seen, log_likelihood = sweep_shards(shards, sweep, workers=workers, progress=progress)
                after_sweep(log_likelihood)
                jumps = _updated_jumps(seen, settings.jump_prior) if sweep.use_jumps else sweep.jumps
                uses_jumps = number + 1 >= settings.ibm1_sweeps
                sweep = replace(sweep, counts=counts, jumps=jumps, use_jumps=uses_jumps)
            total = 0.0
            for linked, log_likelihood in last_sweep(shards, sweep, workers=workers, progress=progress):
                total += log_likelihood
                yield from linked
            after_sweep(total)


def _first_sweep(shards: Shards, settings: HmmSettings) -> Sweep:
    sources, targets = shards.vocabularies.sizes
    distances = np.arange(-settings.reach - 1, settings.reach + 2, dtype=np.float64)
    sizes = (shards.totals.pairs, sources, targets, sources, targets, 2)
    none = LexicalCounts(*map(np.zeros, sizes))
    prior = LexicalCounts(
        np.zeros(0, dtype=np.float32),
        shards.totals.sources,
        shards.totals.targets,
        np.full(sources, settings.null_prior),
        np.full(targets, settings.null_prior),
        settings.null_prior * np.array([sources, targets], dtype=np.float64),
    )
    return Sweep(
        counts=first_counts(shards, none),
        prior=prior,
        # They favour the next word, then the near ones.
        jumps=np.tile(np.exp(-0.5 * np.abs(distances - 1.0)), (2, 1)),
        null_probability=settings.null_probability,
        use_jumps=settings.ibm1_sweeps == 0,
    )


def _updated_jumps(jumps: Jumps, prior: float) -> NDArray[np.float64]:
    """Return the next jump weights float64[2, 2 reach + 3], each row of sum 1."""
    weights = (jumps.counts + prior) / (jumps.exposures + prior / jumps.weights)
    return weights / weights.sum(axis=1, keepdims=True)
