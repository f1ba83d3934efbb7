"""Cases on which elimination with subtractions fails, against exact rational arithmetic; bounds; sampling."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from qsproj.trees import nonprojective, projective
from tests.oracles.trees import Enumeration, all_trees


def exact_marginals(
    weights: list[list[Fraction]], *, projective_only: bool, single_root: bool
) -> tuple[Fraction, dict[tuple[int, int], Fraction]]:
    """Z and the arc probabilities by enumeration in rational numbers."""
    n = len(weights) - 1
    z, with_arc = Fraction(0), dict.fromkeys(product(range(n + 1), range(1, n + 1)), Fraction(0))
    for heads in all_trees(n, projective=projective_only, single_root=single_root):
        weight = math.prod((weights[heads[d]][d] for d in range(1, n + 1)), start=Fraction(1))
        z += weight
        for d in range(1, n + 1):
            with_arc[heads[d], d] += weight
    return z, {arc: weight / z for arc, weight in with_arc.items()}


def strong_cycles(n: int, strength: int) -> list[list[Fraction]]:
    """Words in pairs that prefer each other by 10**strength."""
    weights = [[Fraction(1 + (3 * h + d) % 5) for d in range(n + 1)] for h in range(n + 1)]
    for first in range(1, n, 2):
        weights[first][first + 1] *= 10**strength
        weights[first + 1][first] *= 10**strength
    return weights


def weak_root(n: int, strength: int) -> list[list[Fraction]]:
    """A root whose arcs weigh 10**-strength next to those of words."""
    weights = [[Fraction(1 + (2 * h + 3 * d) % 7) for d in range(n + 1)] for h in range(n + 1)]
    weights[0] = [weight / 10**strength for weight in weights[0]]
    return weights


def chain_of_cycles(n: int, strength: int) -> list[list[Fraction]]:
    """Each word's best head is the next word, the last word's the first: one long cycle."""
    weights = weak_root(n, strength)
    for word in range(1, n + 1):
        weights[word % n + 1][word] *= 10**strength
    return weights


def log_of(fraction: Fraction) -> float:
    return math.log(fraction.numerator) - math.log(fraction.denominator)


@pytest.mark.parametrize("trees", [projective, nonprojective], ids=["projective", "nonprojective"])
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("build", [strong_cycles, weak_root, chain_of_cycles])
@pytest.mark.parametrize("strength", [4, 12, 40, 170])
def test_marginals_have_full_relative_accuracy(trees, single_root: bool, build, strength: int) -> None:
    weights = build(5, strength)
    z, exact = exact_marginals(weights, projective_only=trees is projective, single_root=single_root)
    scores = np.array([[log_of(weight) for weight in row] for row in weights])
    posterior = trees.posterior(scores, single_root=single_root)
    assert posterior.log_z == pytest.approx(log_of(z), rel=1e-13, abs=1e-12)
    for arc, probability in exact.items():
        if arc[0] != arc[1] and probability > 0:
            # Scores up to 400 carry a rounding error of 6e-14 each.
            assert posterior.log_marginals[arc] == pytest.approx(log_of(probability), abs=1e-12)


def test_forbidden_arcs_do_not_send_probabilities_to_log_space(monkeypatch) -> None:
    scores = np.zeros((5, 5))
    scores[0] = [-np.inf, 0.0, -np.inf, -np.inf, -np.inf]
    for trees, kernel in ((projective, "eisner_log"), (nonprojective, "matrix_tree_log")):
        expected = Enumeration(scores.tolist(), projective=trees is projective, single_root=False)
        monkeypatch.setattr(trees, kernel, None)
        posterior = trees.posterior(scores)
        # Arcs into word 1 are allowed but no tree has them.
        assert posterior.log_marginals[2, 1] == -np.inf
        assert posterior.log_z == pytest.approx(expected.log_z)


@pytest.mark.parametrize("trees", [projective, nonprojective], ids=["projective", "nonprojective"])
def test_a_single_root_when_words_do_not_reach_each_other(trees) -> None:
    rng = np.random.default_rng(9)
    for _ in range(150):
        scores = rng.normal(size=(6, 6))
        scores[1:][rng.random((5, 6)) < 0.65] = -np.inf
        oracle = Enumeration(scores.tolist(), projective=trees is projective, single_root=True)
        if not oracle.trees:
            continue
        posterior = trees.posterior(scores, single_root=True)
        assert posterior.log_z == pytest.approx(oracle.log_z)
        _, slope = trees.expectation(scores, np.eye(6, k=1), single_root=True)
        totals = [sum(heads[d] == d - 1 for d in range(1, 6)) for heads, _ in oracle.trees]
        mean = np.dot(oracle.probabilities, totals)
        for head, dependent in product(range(6), range(1, 6)):
            if head != dependent:
                log_marginal = oracle.log_marginal(head, dependent)
                assert posterior.log_marginals[head, dependent] == pytest.approx(log_marginal, abs=1e-10)
                present = [heads[dependent] == head for heads, _ in oracle.trees]
                covariance = np.dot(oracle.probabilities, present * (totals - mean))
                assert slope[head, dependent] == pytest.approx(covariance, abs=1e-10)


@pytest.mark.parametrize("single_root", [False, True])
def test_sampling_word_by_word_follows_the_distribution(monkeypatch, single_root: bool) -> None:
    monkeypatch.setattr(nonprojective, "draw_by_walks", None)
    monkeypatch.setattr(nonprojective, "STEPS_PER_WORD", 0.0)
    scores = np.random.default_rng(2).normal(size=(5, 5))
    oracle = Enumeration(scores.tolist(), projective=False, single_root=single_root)
    size = 20_000
    drawn = nonprojective.sample(scores, size, np.random.default_rng(3), single_root=single_root)
    counts = Counter(map(tuple, drawn.tolist()))
    assert set(counts) <= {heads for heads, _ in oracle.trees}
    for probability, (heads, _) in zip(oracle.probabilities, oracle.trees, strict=True):
        deviation = math.sqrt(size * probability * (1.0 - probability))
        assert abs(counts[heads] - size * probability) < 4.5 * deviation + 1.0


def test_sampling_does_not_wander_in_strong_cycles() -> None:
    scores = np.zeros((4, 4))
    scores[1, 2] = scores[2, 1] = 100.0
    drawn = nonprojective.sample(scores, 50, np.random.default_rng(4))
    assert np.all((drawn[:, 1] == 2) | (drawn[:, 2] == 1))


WITHOUT_JIT = """
import numpy as np
from qsproj.trees import nonprojective, projective
for trees in (projective, nonprojective):
    for single_root in (False, True):
        for n in (1, 2, 6):
            for scale in (1.0, 300.0):
                rng = np.random.default_rng(n)
                scores = rng.normal(size=(n + 1, n + 1)) * scale
                scores[1, 2:4] = -np.inf
                trees.best(scores, single_root=single_root)
                total = trees.posterior(scores, single_root=single_root).marginals[:, 1:].sum(axis=0)
                assert np.allclose(total, 1.0), total
                trees.k_best(scores, 4, single_root=single_root)
                trees.sample(scores, 4, rng, single_root=single_root)
                trees.max_marginals(scores, single_root=single_root)
                trees.expectation(scores, np.ones_like(scores), single_root=single_root)
print("in bounds")
"""


def test_kernels_stay_in_bounds_without_compilation() -> None:
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "error::IndexError", "-c", WITHOUT_JIT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "in bounds\n"
