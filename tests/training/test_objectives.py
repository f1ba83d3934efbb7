"""Every objective against finite differences and, for its value, against all trees one by one."""

import itertools

import numpy as np
import pytest

from qsproj.conventions import frozen_heads
from qsproj.training.objectives import (
    AboveBase,
    CrossEntropy,
    Entropy,
    EvidenceLikelihood,
    LabelLikelihood,
    Mistakes,
    Risk,
    TreeLikelihood,
    Weighed,
    partial_tree_likelihood,
)


def all_trees(n):
    """Yield the heads of every tree over n words, any number of roots."""
    for heads in itertools.product(range(n + 1), repeat=n):
        tree = (-1, *heads)
        if all(reaches_root(tree, word) for word in range(1, n + 1)):
            yield tree


def reaches_root(tree, word):
    for _ in tree:
        if word == 0:
            return True
        word = tree[word]
    return False


def score_of(tree, scores):
    return sum(scores[head, word] for word, head in enumerate(tree) if word)


def enumerated(scores):
    """Inference by enumeration: log Z and marginals."""
    trees = [tree for tree in all_trees(len(scores) - 1) if score_of(tree, scores) > -np.inf]
    logs = np.array([score_of(tree, scores) for tree in trees])
    log_z = np.logaddexp.reduce(logs)
    marginals = np.zeros_like(scores)
    for tree, log in zip(trees, logs, strict=True):
        for word, head in enumerate(tree):
            if word:
                marginals[head, word] += np.exp(log - log_z)
    return float(log_z), marginals


def expected(scores, values):
    """Expected sum of values, and its derivative as a covariance, by enumeration."""
    log_z, marginals = enumerated(scores)
    mean, products = 0.0, np.zeros_like(scores)
    for tree in all_trees(len(scores) - 1):
        probability = np.exp(score_of(tree, scores) - log_z)
        value = score_of(tree, values)
        mean += probability * value
        for word, head in enumerate(tree):
            if word:
                products[head, word] += probability * value
    return mean, products - mean * marginals


def best_tree(scores):
    return np.array(max(all_trees(len(scores) - 1), key=lambda tree: score_of(tree, scores)))


HEADS = frozen_heads([-1, 2, 0, 2, 3])
ALLOWED = np.ones((5, 5), dtype=bool)
ALLOWED[:, 3] = False
ALLOWED[2, 3] = True
TARGET = enumerated(np.random.default_rng(8).normal(size=(5, 5)))[1]
EVIDENCE = np.random.default_rng(4).uniform(0.0, 3.0, size=(5, 5))

OBJECTIVES = [
    TreeLikelihood(HEADS, enumerated),
    TreeLikelihood(HEADS, enumerated, 0.7),
    partial_tree_likelihood(ALLOWED, enumerated),
    EvidenceLikelihood(EVIDENCE, enumerated),
    AboveBase(EVIDENCE, TreeLikelihood(HEADS, enumerated)),
    Weighed(0.3, TreeLikelihood(HEADS, enumerated)),
    CrossEntropy(TARGET, enumerated),
    Risk(HEADS, expected),
    Risk(HEADS, expected, 1.7),
    Mistakes(lambda _: HEADS, best_tree),
    Entropy(enumerated, expected),
]


@pytest.fixture
def scores():
    return np.random.default_rng(3).normal(size=(5, 5))


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda objective: type(objective).__name__)
def test_gradient_equals_finite_differences(objective, scores):
    _, gradient = objective.value_and_gradient(scores)
    for head in range(5):
        for dependent in range(1, 5):
            if head == dependent:
                continue
            shift = np.zeros_like(scores)
            shift[head, dependent] = 1e-5
            above = objective.value_and_gradient(scores + shift)[0]
            below = objective.value_and_gradient(scores - shift)[0]
            assert gradient[head, dependent] == pytest.approx((above - below) / 2e-5, abs=1e-8)


def probability_of(scores, wanted):
    trees = list(all_trees(4))
    weights = np.exp([score_of(tree, scores) for tree in trees])
    return sum(w for w, tree in zip(weights, trees, strict=True) if wanted(tree)) / weights.sum()


def test_margin_is_paid_by_the_right_tree_for_each_wrong_head_of_another(scores):
    weights = [
        np.exp(score_of(tree, scores) + 0.7 * sum(head != right for head, right in zip(tree, HEADS)))
        for tree in all_trees(4)
    ]
    value, _ = TreeLikelihood(HEADS, enumerated, 0.7).value_and_gradient(scores)
    assert value == pytest.approx(np.log(sum(weights)) - score_of(tuple(HEADS), scores))


def test_likelihood_is_minus_the_log_of_the_probability(scores):
    value, _ = TreeLikelihood(HEADS, enumerated).value_and_gradient(scores)
    assert value == pytest.approx(-np.log(probability_of(scores, lambda tree: tree == tuple(HEADS))))


def test_partial_likelihood_sums_over_the_trees_that_agree(scores):
    value, _ = partial_tree_likelihood(ALLOWED, enumerated).value_and_gradient(scores)
    assert value == pytest.approx(-np.log(probability_of(scores, lambda tree: tree[3] == 2)))


def test_cross_entropy_is_least_at_the_target(scores):
    at_target = np.random.default_rng(8).normal(size=(5, 5))
    _, gradient = CrossEntropy(TARGET, enumerated).value_and_gradient(at_target)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-12)


def test_mistakes_are_what_the_best_tree_scores_more(scores):
    value, gradient = Mistakes(lambda _: HEADS, best_tree).value_and_gradient(scores)
    best = tuple(best_tree(scores))
    assert best != tuple(HEADS)
    assert value == pytest.approx(score_of(best, scores) - score_of(tuple(HEADS), scores))
    assert {(head, word) for head, word in np.argwhere(gradient == 1.0)} == {
        (head, word) for word, head in enumerate(best) if word and head != HEADS[word]
    }


def test_risk_counts_wrong_heads(scores):
    value, _ = Risk(HEADS, expected).value_and_gradient(scores)
    wrong = [
        probability_of(scores, lambda tree, word=word: tree[word] != HEADS[word]) for word in range(1, 5)
    ]
    assert value == pytest.approx(sum(wrong))


def test_evidence_likelihood_is_minus_the_log_of_the_expected_evidence(scores):
    value, _ = EvidenceLikelihood(EVIDENCE, enumerated).value_and_gradient(scores)
    trees = list(all_trees(4))
    weights = np.exp([score_of(tree, scores) for tree in trees])
    evidence = np.exp([score_of(tree, EVIDENCE) for tree in trees])
    assert value == pytest.approx(-np.log((weights * evidence).sum() / weights.sum()))


def test_entropy_is_that_of_all_trees(scores):
    value, _ = Entropy(enumerated, expected).value_and_gradient(scores)
    trees = list(all_trees(4))
    chances = np.exp([score_of(tree, scores) for tree in trees])
    chances /= chances.sum()
    assert value == pytest.approx(-(chances * np.log(chances)).sum())


def test_no_evidence_teaches_nothing_and_certain_evidence_is_a_partial_tree(scores):
    value, gradient = EvidenceLikelihood(np.zeros((5, 5)), enumerated).value_and_gradient(scores)
    assert value == 0.0
    assert not gradient.any()
    certain = np.zeros((5, 5))
    certain[2, 3] = 40.0
    _, gradient = EvidenceLikelihood(certain, enumerated).value_and_gradient(scores)
    _, partial = partial_tree_likelihood(ALLOWED, enumerated).value_and_gradient(scores)
    np.testing.assert_allclose(gradient, partial, atol=1e-12)


def test_relations_that_are_known_are_judged_word_by_word():
    rng = np.random.default_rng(4)
    scores, known = rng.normal(size=(4, 3)), np.array([-1, 2, -1, 0])
    loss = LabelLikelihood(known)
    value, slopes = loss.value_and_gradient(scores)
    rows = [np.log(np.exp(scores[word]).sum()) - scores[word, known[word]] for word in (1, 3)]
    assert value == pytest.approx(sum(rows))
    for place in np.ndindex(scores.shape):
        shift = np.zeros_like(scores)
        shift[place] = 1e-5
        above, below = (loss.value_and_gradient(scores + sign * shift)[0] for sign in (1, -1))
        assert slopes[place] == pytest.approx((above - below) / 2e-5, abs=1e-8)
