"""The factor of a hidden projective tree, against the sum over all projective trees."""

import math
from itertools import product

import numpy as np
import pytest

from qsproj.bp.factors.trees import UNNAMED, hidden_tree
from qsproj.bp.links import all_links, chosen_links
from tests.oracles.factors import log_score
from tests.oracles.trees import all_trees

N = 3


def cases():
    for single_root in (False, True):
        for pruned in ((), ((0, 1), (3, 2))):
            allowed = np.ones((N + 1, N + 1), dtype=bool)
            for arc in pruned:
                allowed[arc] = False
            yield chosen_links(allowed) if pruned else all_links(N), single_root


def both(links, scores, single_root):
    """Yield states, a hidden tree's arcs that are true, and what the two of them score."""
    trees = all_trees(N, projective=True, single_root=single_root)
    for states in product((0, 1), repeat=len(scores)):
        for heads in trees:
            numbers = [int(links[heads[word], word]) for word in range(1, N + 1)]
            shared = [e for e in numbers if e >= 0 and states[e]]
            yield states, shared, sum(scores[e] for e in shared) + UNNAMED * sum(e < 0 for e in numbers)


@pytest.mark.parametrize("links, single_root", list(cases()))
def test_it_sums_over_projective_trees(links, single_root):
    rng = np.random.default_rng(4)
    size = int((links >= 0).sum())
    scores, incoming = 2.0 * rng.normal(size=(2, size))
    factor = hidden_tree(links, scores, single_root=single_root)
    weights, fired = {}, np.zeros(size)
    for states, shared, score in both(links, scores, single_root):
        weights[states] = weights.get(states, 0.0) + math.exp(score)
        fired[shared] += math.exp(score + float(incoming @ states))
    for states, weight in weights.items():
        found = log_score(factor, np.array(states, dtype=np.int32))
        assert found == pytest.approx(math.log(weight), abs=1e-9)
    total = sum(weight * math.exp(float(incoming @ states)) for states, weight in weights.items())
    assert factor.log_partition(incoming) == pytest.approx(math.log(total), abs=1e-9)
    np.testing.assert_allclose(factor.expected(incoming), fired / total, atol=1e-9)


@pytest.mark.parametrize("links, single_root", list(cases()))
def test_the_largest_is_over_states_and_trees(links, single_root):
    rng = np.random.default_rng(6)
    size = int((links >= 0).sum())
    scores, incoming = 2.0 * rng.normal(size=(2, size))
    factor = hidden_tree(links, scores, single_root=single_root)
    largest = np.full((2, size), -np.inf)
    for states, _, score in both(links, scores, single_root):
        reached = score + float(incoming @ states)
        for edge, state in enumerate(states):
            largest[state, edge] = max(largest[state, edge], reached)
    found = incoming + factor.propagate(incoming, maximise=True)
    np.testing.assert_allclose(found, largest[1] - largest[0], atol=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("certain", [np.inf, -np.inf])
def test_an_arc_that_is_certain_and_may_not_be_shared_is_never_shared(certain):
    """Its score is -inf: an arc that is sure to be there leaves the hidden tree the others."""
    links = all_links(3)
    incoming, scores = np.zeros(links.max() + 1), np.zeros(links.max() + 1)
    incoming[2], scores[2] = certain, -np.inf
    expected = hidden_tree(links, scores).expected(incoming)
    assert np.isfinite(expected).all()
    assert expected[2] == 0.0
    nearly = incoming.copy()
    nearly[2] = math.copysign(60.0, certain)
    likewise = hidden_tree(links, np.where(scores == -np.inf, -120.0, scores)).expected(nearly)
    np.testing.assert_allclose(expected, likewise, atol=1e-9)
