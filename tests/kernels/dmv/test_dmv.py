"""The DMV's kernels against all derivations, and against each other where these are too many."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from qsproj.kernels.dmv.dmv_best import dmv_best_by_arcs
from qsproj.kernels.dmv.dmv_expectation import dmv_arcs, dmv_expectation, dmv_harmonic_counts, dmv_tree_counts
from tests.oracles import dmv as oracle
from tests.oracles.trees import all_trees, number_of_trees

TAGS = 3


def packed(*sentences):
    """Pack lists of tags."""
    starts = np.concatenate([[0], np.cumsum([len(tags) for tags in sentences])]).astype(np.int64)
    return np.array(list(itertools.chain(*sentences)), dtype=np.int16), starts


def free(tags):
    return np.full(len(tags), -1, dtype=np.int16)


def random_parameters(rng, *, zeros=0.0):
    """Draw stop, child and root; a share of the decisions is ruled out."""
    stop = rng.uniform(0.05, 0.95, (TAGS, 2, 2))
    child = rng.dirichlet(np.ones(TAGS), (TAGS, 2))
    child[rng.random(child.shape) < zeros] = 0.0
    return stop, child, rng.dirichlet(np.ones(TAGS))


def counts_of(events):
    """Lay out an oracle's counter as the kernels do."""
    stop, child, root = np.zeros((TAGS, 2, 2, 2)), np.zeros((TAGS, 2, TAGS)), np.zeros(TAGS)
    for (kind, *where), count in events.items():
        if kind == "root":
            root[where[0]] += count
        elif kind == "child":
            child[tuple(where)] += count
        else:
            stop[(*where, int(kind == "go"))] += count
    return stop, child, root


def log(values):
    with np.errstate(divide="ignore"):
        return np.log(values)


def best_tree(tags, known, stop, child, root):
    """Return the best tree with the known heads, and the log probability of tree and tags."""
    words, heads = np.array(tags, dtype=np.int16), np.full(len(tags), -1, dtype=np.int16)
    weights, root_weights = np.full((len(tags),) * 2, -np.inf), np.full(len(tags), -np.inf)
    for d, head in enumerate(known.tolist()):
        if head <= 0:
            root_weights[d] = log(root)[tags[d]]
        for h in set(range(len(tags))) - {d} if head == -1 else {head - 1} - {-1}:
            weights[h, d] = log(child)[tags[h], int(d > h), tags[d]]
    score = dmv_best_by_arcs(words, log(stop), log(1 - stop), weights, root_weights, heads)
    return (-1, *heads.tolist()), score


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("zeros", [0.0, 0.2])
def test_likelihood_and_counts_are_those_of_all_derivations(n, zeros):
    rng = np.random.default_rng(n)
    for _ in range(12):
        tags = rng.integers(0, TAGS, n).tolist()
        parameters = random_parameters(rng, zeros=zeros)
        expected = oracle.likelihood(tags, *parameters)
        *counts, logs = dmv_expectation(*packed(tags), free(tags), *parameters)
        if expected == 0.0:
            assert logs[0] == -math.inf
            assert not any(count.any() for count in counts)
            continue
        assert logs[0] == pytest.approx(math.log(expected), abs=1e-12)
        for count, right in zip(counts, counts_of(oracle.expected_counts(tags, *parameters)), strict=True):
            np.testing.assert_allclose(count, right, atol=1e-12)


def test_arcs_are_those_of_all_derivations():
    rng = np.random.default_rng(5)
    tags, parameters = [0, 1, 1, 2], random_parameters(rng)
    stop, child, root = parameters
    words = np.array(tags, dtype=np.int16)
    sides = np.sign(np.subtract.outer(np.arange(4), np.arange(4))) < 0
    weights = child[words[:, None], sides.astype(int), words]
    np.fill_diagonal(weights, 0.0)
    _, arcs, root_arcs = dmv_arcs(words, stop, weights, root[words])
    total = oracle.likelihood(tags, *parameters)
    right = np.zeros((5, 5))
    for heads, p, _ in oracle.derivations(tags, *parameters):
        for word in range(1, 5):
            right[heads[word], word] += p / total
    np.testing.assert_allclose(arcs, right[1:, 1:], atol=1e-12)
    np.testing.assert_allclose(root_arcs, right[0, 1:], atol=1e-12)


def test_sentences_add_up():
    """Longer sentences leave larger charts behind; what is stale must not be read."""
    rng = np.random.default_rng(6)
    sentences = [rng.integers(0, TAGS, n).tolist() for n in (4, 2, 9, 1, 3)]
    parameters = random_parameters(rng)
    tags, starts = packed(*sentences)
    together = dmv_expectation(tags, starts, free(tags), *parameters)
    alone = [dmv_expectation(*packed(one), free(one), *parameters) for one in sentences]
    for which in range(3):
        np.testing.assert_allclose(together[which], sum(one[which] for one in alone), atol=1e-12)
    np.testing.assert_allclose(together[3], [one[3][0] for one in alone], atol=1e-12)


@pytest.mark.parametrize(
    "known", [(-1, 1, -1, -1), (2, 0, -1, -1), (-1, -1, 4, -1), (2, 3, 0, 3), (0, 0, -1, -1)]
)
def test_known_heads_are_kept(known):
    rng = np.random.default_rng(7)
    tags, parameters = [2, 0, 1, 0], random_parameters(rng)
    clamped = np.array(known, dtype=np.int16)
    *counts, logs = dmv_expectation(*packed(tags), clamped, *parameters)
    expected = oracle.likelihood(tags, *parameters, known)
    if expected == 0.0:
        assert logs[0] == -math.inf
        assert best_tree(tags, clamped, *parameters) == ((-1, -1, -1, -1, -1), -math.inf)
        return
    assert logs[0] == pytest.approx(math.log(expected), abs=1e-12)
    right = counts_of(oracle.expected_counts(tags, *parameters, known))
    for count, one in zip(counts, right, strict=True):
        np.testing.assert_allclose(count, one, atol=1e-12)
    heads, p = oracle.best(tags, *parameters, known)
    assert best_tree(tags, clamped, *parameters) == (heads, pytest.approx(math.log(p)))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_best_tree_is_the_best_of_all(n):
    rng = np.random.default_rng(20 + n)
    for _ in range(12):
        tags = rng.integers(0, TAGS, n).tolist()
        parameters = random_parameters(rng)
        heads, p = oracle.best(tags, *parameters)
        assert best_tree(tags, free(tags), *parameters) == (heads, pytest.approx(math.log(p)))


def test_best_tree_has_the_score_of_its_own_decisions():
    """At a length where enumeration gives out: the tree's own probability, not above the sum of all."""
    rng = np.random.default_rng(30)
    for _ in range(30):
        tags, parameters = rng.integers(0, TAGS, 15).tolist(), random_parameters(rng)
        heads, score = best_tree(tags, free(tags), *parameters)
        decisions = oracle.events(tags, heads)
        own = math.fsum(math.log(oracle.probability(decision, *parameters)) for decision in decisions)
        assert score == pytest.approx(own, rel=1e-12)
        assert score < dmv_expectation(*packed(tags), free(tags), *parameters)[3][0]


@pytest.mark.parametrize("n", [1, 5, 60, 400])
def test_every_tree_counts_once(n):
    """With all weights 1/4 the likelihood is a power of 1/4 times the closed form for the number of trees."""
    stop = np.full((1, 2, 2), 0.5)
    quarter = np.full((1, 2, 1), 0.25)
    tags = [0] * n
    *counts, logs = dmv_expectation(*packed(tags), free(tags), stop, quarter, np.ones(1))
    trees = number_of_trees(n, projective=True, single_root=True)
    expected = math.log(trees) + (n - 1) * math.log(0.25) + (3 * n - 1) * math.log(0.5)
    assert logs[0] == pytest.approx(expected, rel=1e-12)
    assert counts[1].sum() == pytest.approx(n - 1)
    assert counts[0][..., 0].sum() == pytest.approx(2 * n)


@pytest.mark.parametrize("decades", [-30, 5])
def test_no_length_underflows_or_overflows(decades):
    """Weights far from one: the scale is found and taken out again."""
    rng = np.random.default_rng(8)
    tags = rng.integers(0, TAGS, 90).tolist()
    stop, child, root = random_parameters(rng)
    near = dmv_expectation(*packed(tags), free(tags), stop, child, root)
    factor = 10.0**decades
    far = dmv_expectation(*packed(tags), free(tags), stop, child * factor, root * factor)
    assert far[3][0] == pytest.approx(near[3][0] + 90 * math.log(factor), rel=1e-12)
    np.testing.assert_allclose(far[1], near[1], atol=1e-9)


def test_tree_counts_are_the_decisions_of_the_trees():
    rng = np.random.default_rng(9)
    for heads in all_trees(4, projective=True, single_root=True):
        tags = rng.integers(0, TAGS, 4).tolist()
        found = oracle.events(tags, heads)
        right = counts_of({event: found.count(event) for event in found})
        counts = dmv_tree_counts(*packed(tags), np.array(heads[1:], dtype=np.int16), TAGS)
        for count, one in zip(counts, right, strict=True):
            np.testing.assert_array_equal(count, one)


def test_harmonic_counts_by_hand():
    """Three words of tags 0 1 2: each is the root's child with 1/3; near heads count twice as much as far."""
    stop, child, root = dmv_harmonic_counts(*packed([0, 1, 2]), TAGS)
    np.testing.assert_allclose(root, [1 / 3] * 3)
    third = 1 / 3
    np.testing.assert_allclose(child[0, 1], [0, third, 2 / 9])
    np.testing.assert_allclose(child[1, 0], [4 / 9, 0, 0])
    np.testing.assert_allclose(child[1, 1], [0, 0, 4 / 9])
    empty = (1 - third) * (1 - 2 / 9)
    np.testing.assert_allclose(stop[0, 1, 0], [empty, 1 - empty])
    np.testing.assert_allclose(stop[0, 1, 1], [1 - empty, third + 2 / 9 - (1 - empty)])
    np.testing.assert_allclose(stop[0, 0], [[1, 0], [0, 0]])
