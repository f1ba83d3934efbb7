"""Is one system better than another, or lucky? Paired permutation tests over sentences, two-sided.

Null hypothesis: it does not matter which system a sentence's result came from, so the two results of every
sentence may be swapped. The p-value is the share of the 2^S ways of swapping that put the systems at least as
far apart as they are. Sentences are swapped, not words: errors within a sentence depend on each other.

`exact_paired_test` gives that share itself for a difference of sums (UAS, LAS, complete match);
`approximate_paired_test` samples it for any statistic of sums, such as an F1 or an alignment error rate.

*Source*: Noreen (1989), Computer-intensive methods for testing hypotheses; Phipson and Smyth (2010),
Permutation p-values should never be zero, for the correction by one; the distribution of a signed sum of
integers is had from its characteristic function, with no recursion over sentences.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]

# Sampled swaps are drawn in blocks of about this many, so that memory does not grow with samples x sentences.
_BLOCK = 1 << 22

# Relative slack in comparing floating-point statistics that are equal up to the order of summation.
_TIE = 1e-12


def exact_paired_test(differences: ArrayLike) -> float:
    """Return the exact two-sided p-value of a sum of paired integer differences, int[S]; 1 where it is zero.

    Swapping each sentence's results with a fair coin makes the sum D = T - 2K, with T the sum of the absolute
    differences and K the part of T that the coins turn. The characteristic function of D is the product over
    sentences of cos(d t); the inverse Fourier transform over T + 1 points is the distribution of K. Time O(u
    T + T log T) for u distinct absolute differences; memory O(T). Correct to an absolute 1e-12, and never
    below 2^(1-S), the least that S non-zero differences can give.
    """
    array = np.asarray(differences)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"differences are {array.dtype}{list(array.shape)}, expected int[S]")
    array = array[array != 0].astype(np.int64)
    sizes, repeats = np.unique(np.abs(array), return_counts=True)
    reach, observed = int(sizes @ repeats), abs(int(array.sum()))
    if observed == 0:
        return 1.0
    points = reach + 1
    angles = np.pi / points * np.arange(points // 2 + 1)
    transform = np.exp(-1j * reach * angles)
    for size, count in zip(sizes, repeats):
        transform *= np.cos(size * angles) ** count
    probabilities = np.fft.irfft(transform, n=points)
    # |T - 2K| >= observed on either side, and the two sides are mirror images.
    tail = 2.0 * float(probabilities[: (reach - observed) // 2 + 1].sum())
    return min(1.0, max(tail, math.ldexp(2.0, -array.size)))


def approximate_paired_test(
    first: ArrayLike,
    second: ArrayLike,
    statistic: Statistic,
    *,
    rng: np.random.Generator,
    samples: int = 10_000,
) -> float:
    """Return a sampled two-sided p-value for the difference of a statistic of summed counts, float64[S, C].

    ``statistic`` of float64[..., C] of summed counts, for instance ``lambda sums: sums[..., 0] / sums[...,
    1]``. The value is (1 + swaps at least as extreme) / (1 + samples): never zero, and valid; its standard
    error is about sqrt(p (1 - p) / samples). Time O(samples S C); memory is bounded.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 2 or one.shape != other.shape:
        raise ValueError(f"counts have shapes {one.shape} and {other.shape}, expected one shape (S, C)")
    if samples < 1:
        raise ValueError(f"samples is {samples}, expected at least 1")
    change, one_sum, other_sum = other - one, one.sum(axis=0), other.sum(axis=0)
    observed = abs(float(statistic(one_sum) - statistic(other_sum)))
    threshold = observed - _TIE * max(1.0, observed)
    extreme = 0
    block = max(1, _BLOCK // max(1, len(one)))
    for start in range(0, samples, block):
        size = min(block, samples - start)
        moved = rng.integers(2, size=(size, len(one)), dtype=np.int8).astype(np.float64) @ change
        gaps = statistic(one_sum + moved) - statistic(other_sum - moved)
        extreme += int(np.count_nonzero(np.abs(gaps) >= threshold))
    return (1 + extreme) / (1 + samples)
