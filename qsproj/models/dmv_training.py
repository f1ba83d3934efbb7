"""Training of the DMV: from tags alone, from tags with some heads known, or from trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, unknown_name
from qsproj.kernels.dmv_best import dmv_best
from qsproj.kernels.dmv_counting import dmv_harmonic_counts, dmv_tree_counts
from qsproj.kernels.dmv_expectation import dmv_expectation
from qsproj.models.arc_parser import MAX_WORDS
from qsproj.models.arc_training import reachable
from qsproj.models.dmv import TREES, Dmv
from qsproj.models.dmv_corpus import TagCorpus, pack, tag_inventory
from qsproj.models.dmv_parameters import DmvCounts, DmvParameters, uniform_parameters
from qsproj.training.em import EMRecord, run_em

INITIALISERS = ("harmonic", "uniform", "trees")
E_STEPS = ("sum", "viterbi")


@dataclass(frozen=True, slots=True, kw_only=True)
class DmvOptions:
    """How a DMV is trained.

    Attributes
    ----------
    initialiser : str
        ``harmonic`` (Klein and Manning 2004), ``uniform``, or ``trees``: relative frequencies in those
        training sentences whose heads are all known.
    e_step : str
        ``sum`` over all derivations, or ``viterbi``: the best one alone.
    keep_heads : bool
        Whether the E-step is constrained to the heads that training sentences have (thesis 4.6.3.3); else
        heads are not looked at, but by the initialiser ``trees``.
    iterations : int
        At most so many of EM; 0 leaves the initial parameters.
    tolerance : float
        Relative gain, of held-out data or else of the objective, below which EM has converged.
    smoothing : float
        Added to every count (a symmetric Dirichlet prior); 0 gives plain maximum likelihood.
    max_words : int
        Longer training sentences are left out; punctuation counts unless stripped.
    punctuation : str
        ``keep`` or ``strip``; see :mod:`qsproj.models.dmv_punctuation`.
    """

    initialiser: str = "harmonic"
    e_step: str = "sum"
    keep_heads: bool = False
    iterations: int = 100
    tolerance: float = 1e-5
    smoothing: float = 0.1
    max_words: int = MAX_WORDS
    punctuation: str = "keep"


@dataclass(frozen=True, slots=True)
class DmvReport:
    """What happened in training: EM's iterations, and sentences that were left out (and why)."""

    iterations: tuple[EMRecord, ...]
    converged: bool
    sentences: int
    skipped: dict[str, int]


def train_dmv(
    sentences: Sequence[Sentence], *, dev: Sequence[Sentence] = (), options: DmvOptions | None = None
) -> tuple[Dmv, DmvReport]:
    """Train on tagged sentences, by default without looking at their heads.

    Parameters
    ----------
    sentences : sequence of Sentence
        With UPOS; with whole or partial trees where the options make use of them. Crossing arcs are undone
        as for projective parsers.
    dev : sequence of Sentence
        Tagged sentences to check convergence on: by their likelihood, their trees are not looked at.

    Raises
    ------
    UsageError
        When an option names something unknown or no sentence can be learned from.
    """
    options = options or DmvOptions()
    _check(options)
    inventory = tag_inventory(sentences)
    heads = None
    if options.keep_heads or options.initialiser == "trees":
        heads = [reachable(sentence.heads, TREES) for sentence in sentences]
    corpus, skipped = _usable(
        pack(sentences, inventory, punctuation=options.punctuation, heads=heads), options
    )
    start = initial_parameters(corpus, len(inventory), options)
    if not options.keep_heads:
        corpus = TagCorpus(corpus.tags, corpus.starts, np.full_like(corpus.heads, NO_HEAD))
    held_out = pack(dev, inventory, punctuation=options.punctuation)
    result = run_em(
        start,
        e_step=lambda parameters: E_STEP_OF[options.e_step](corpus, parameters),
        m_step=lambda counts: counts.estimate(options.smoothing),
        log_prior=lambda parameters: parameters.log_prior(options.smoothing),
        held_out=(lambda parameters: held_out_likelihood(held_out, parameters)) if dev else None,
        iterations=options.iterations,
        tolerance=options.tolerance,
    )
    model = Dmv(inventory, result.parameters, options.punctuation)
    return model, DmvReport(result.records, result.converged, len(corpus), skipped)


def sum_e_step(corpus: TagCorpus, parameters: DmvParameters) -> tuple[DmvCounts, float]:
    """Return expected counts over all derivations, and the log-likelihood of the corpus."""
    stop, child, root, logs, _, _ = dmv_expectation(
        corpus.tags, corpus.starts, corpus.heads, parameters.stop, parameters.child, parameters.root
    )
    _check_possible(logs)
    return DmvCounts(stop, child, root), float(logs.sum())


def viterbi_e_step(corpus: TagCorpus, parameters: DmvParameters) -> tuple[DmvCounts, float]:
    """Return the counts of the best derivations, and their log probability."""
    with np.errstate(divide="ignore"):
        logs = [np.log(parameters.stop), np.log1p(-parameters.stop)]
        logs += [np.log(parameters.child), np.log(parameters.root)]
    heads, scores = dmv_best(corpus.tags, corpus.starts, corpus.heads, *logs)
    _check_possible(scores)
    counts = dmv_tree_counts(corpus.tags, corpus.starts, heads, len(parameters.root))
    return DmvCounts(*counts), float(scores.sum())


E_STEP_OF = {"sum": sum_e_step, "viterbi": viterbi_e_step}


def held_out_likelihood(corpus: TagCorpus, parameters: DmvParameters) -> float:
    """Return the log-likelihood of the corpus with what was never seen made possible, if hardly."""
    return sum_e_step(corpus, parameters.floored(1e-9))[1]


def has_tree(corpus: TagCorpus) -> NDArray[np.bool_]:
    """Tell of each sentence whether any tree has all its known heads, bool[S]."""
    nothing = np.zeros((1, 2, 2))
    _, scores = dmv_best(
        np.zeros_like(corpus.tags),
        corpus.starts,
        corpus.heads,
        nothing,
        nothing,
        nothing[:, :, :1],
        np.zeros(1),
    )
    return np.asarray(scores > -np.inf)


def initial_parameters(corpus: TagCorpus, tags: int, options: DmvOptions) -> DmvParameters:
    """Return what EM starts from.

    Raises
    ------
    UsageError
        When it is to start from trees and none is whole.
    """
    if options.initialiser == "uniform":
        return uniform_parameters(tags)
    if options.initialiser == "harmonic":
        counts = DmvCounts(*dmv_harmonic_counts(corpus.tags, corpus.starts, tags))
        return counts.estimate(options.smoothing)
    trees = corpus.select(np.minimum.reduceat(corpus.heads, corpus.starts[:-1]) != NO_HEAD)
    if not len(trees):
        raise UsageError("no training sentence has all its heads; start from harmonic or uniform instead")
    counts = DmvCounts(*dmv_tree_counts(trees.tags, trees.starts, trees.heads, tags))
    return counts.estimate(options.smoothing)


def _check_possible(logs: NDArray[np.float64]) -> None:
    if len(logs) and logs.min() == -np.inf:
        raise UsageError(
            f"{int((logs == -np.inf).sum())} sentences have probability 0 under the parameters they are to "
            "improve; add smoothing"
        )


def _check(options: DmvOptions) -> None:
    if options.initialiser not in INITIALISERS:
        raise unknown_name("initialiser", options.initialiser, list(INITIALISERS))
    if options.e_step not in E_STEPS:
        raise unknown_name("E-step", options.e_step, list(E_STEPS))


def _usable(corpus: TagCorpus, options: DmvOptions) -> tuple[TagCorpus, dict[str, int]]:
    """Leave out, and count, sentences that are too long or whose known heads no tree has."""
    skipped = {}
    short = np.diff(corpus.starts) <= options.max_words
    if not short.all():
        skipped[f"more than {options.max_words} words"] = int((~short).sum())
        corpus = corpus.select(short)
    possible = has_tree(corpus)
    if not possible.all():
        skipped["arcs that no possible tree contains"] = int((~possible).sum())
        corpus = corpus.select(possible)
    if not len(corpus):
        raise UsageError(f"no sentence of the training data can be learned from (left out: {skipped})")
    return corpus, skipped
