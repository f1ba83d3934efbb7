"""ALIGNITG against alignments that are built, one by one, by joining blocks; and against known counts."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from qsproj.bp.factors import alignment as module
from qsproj.bp.factors.alignment import align_itg
from tests.oracles.factor_graphs import log_sum


def orders(numbers):
    """Return every order of some numbers that bracketing builds: straight or inverted joins of two parts."""
    if len(numbers) == 1:
        return {tuple(numbers)}
    found = set()
    for cut in range(1, len(numbers)):
        for first, second in product(orders(numbers[:cut]), orders(numbers[cut:])):
            found |= {first + second, second + first}
    return found


def alignments(m, n):
    """Return all alignments of m and n words, as sets of links: which words, in which order."""
    found = {frozenset()}
    for size in range(1, min(m, n) + 1):
        for sources, targets in product(combinations(range(m), size), combinations(range(n), size)):
            found |= {frozenset(zip(sources, order)) for order in orders(targets)}
    return found


def all_links(m, n):
    sources, targets = np.indices((m, n)).reshape(2, -1)
    return align_itg(range(m * n), sources, targets)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 3), (3, 2), (4, 4), (5, 4)])
def test_messages_are_those_of_all_alignments_that_joining_blocks_builds(m, n):
    rng = np.random.default_rng(m + 10 * n)
    factor, scores = all_links(m, n), 2.0 * rng.normal(size=m * n)
    weighed = {links: sum(scores[i * n + j] for i, j in links) for links in alignments(m, n)}
    assert factor.log_partition(scores) == pytest.approx(log_sum(list(weighed.values())))
    outgoing = factor.propagate(scores)
    for e, link in enumerate(product(range(m), range(n))):
        having, lacking = (
            log_sum([weight for links, weight in weighed.items() if (link in links) == true])
            for true in (True, False)
        )
        assert outgoing[e] == pytest.approx(having - lacking - scores[e])


def test_as_many_orders_of_all_words_as_there_are_large_schroeder_numbers():
    counts = []
    for n in range(1, 7):
        factor = all_links(n, n)
        # Weights so large that alignments with fewer links do not count beside them.
        log_z = factor.log_partition(np.full(n * n, 40.0))
        counts.append(round(math.exp(log_z - 40.0 * n)))
    assert counts == [1, 2, 6, 22, 90, 394]


@pytest.mark.parametrize("maximise", [False, True])
def test_weights_and_logs_agree(monkeypatch, maximise):
    rng = np.random.default_rng(3)
    factor, scores = all_links(7, 6), 3.0 * rng.normal(size=42)
    scores[[3, 20]] = -np.inf, np.inf
    by_weights = factor.propagate(scores, maximise=maximise), factor.log_partition(scores)
    monkeypatch.setattr(module, "MOST_LOG_WEIGHT", -1.0)
    np.testing.assert_allclose(factor.propagate(scores, maximise=maximise), by_weights[0], rtol=1e-9)
    assert factor.log_partition(scores) == pytest.approx(by_weights[1], rel=1e-12)


def test_candidates_join_each_two_words_once():
    with pytest.raises(ValueError, match="join the same words"):
        align_itg([0, 1], [1, 1], [2, 2])
    with pytest.raises(ValueError, match="expected as many"):
        align_itg([0, 1], [1, 1], [2])
