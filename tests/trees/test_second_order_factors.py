"""Second-order inference beside the factors of belief propagation of which it is the exact peer."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from scipy.special import expit

from qsproj.bp.factors.booleans import link, pair
from qsproj.bp.factors.chains import child_sequence, step_table
from qsproj.bp.factors.trees import projective_tree
from qsproj.bp.graph import factor_graph
from qsproj.bp.links import arcs_of, dependent_chains, grandparents
from qsproj.bp.run import log_odds, run
from qsproj.trees import projective, second_order
from qsproj.trees.second_order import second_order_scores
from tests.bp.links import all_links
from tests.oracles.factors import log_score
from tests.oracles.second_order import tree_score
from tests.oracles.trees import all_trees
from tests.trees.second_order_cases import filled, random_scores


def factors_of(scores) -> tuple[np.ndarray, list]:
    """Return the boolean of each arc, and LINK, CHILDSEQ and GRAND with the same scores."""
    links = all_links(len(scores.arcs) - 1)
    heads, dependents, variables = arcs_of(links)
    chains = dependent_chains(*arcs_of(links), size=len(links))
    steps = []
    for chain, previous, following, is_read in step_table(chains.starts):
        members = chains.dependents[chains.starts[chain] : chains.starts[chain + 1]]
        head, side = chains.heads[chain], chains.sides[chain]
        last = members[previous - 1] if previous else head
        if not is_read:
            steps.append(0.0)
        elif following <= len(members):
            steps.append(scores.siblings[head, members[following - 1], last])
        else:
            steps.append(scores.stops[head, last] if previous else scores.childless[head, side])
    groups = [
        link(variables, scores.arcs[heads, dependents]),
        child_sequence(chains.variables, chains.starts, steps),
    ]
    if scores.grandparents is not None:
        pairs, words = grandparents(*arcs_of(links))
        groups.append(pair(pairs, scores.grandparents[tuple(words.T)]))
    return links, groups


@pytest.mark.parametrize("model", ["sibling", "grandparent"])
def test_scores_mean_what_the_factors_of_belief_propagation_mean(model: str) -> None:
    """The sum of LINK, CHILDSEQ and GRAND over a tree's assignment is its score here, projective or not."""
    scores = second_order_scores(**random_scores(4, 4, 1.0, model))
    links, groups = factors_of(scores)
    for tree in all_trees(4, projective=False, single_root=False):
        states = np.zeros(links.max() + 1, dtype=np.int32)
        for d in range(1, 5):
            states[links[tree[d], d]] = 1
        total = sum(log_score(group, states[group.edges]) for group in groups)
        assert total == pytest.approx(tree_score(asdict(scores), tree), abs=1e-12)


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("strength", [0.0, 0.1, 1.0])
def test_belief_propagation_is_nearer_than_first_order(single_root: bool, strength: float) -> None:
    """It is exact where second-order scores are 0, and else leaves at most two thirds of what they change."""
    scores = filled(random_scores(8, 5, 1.0, "grandparent"))
    weakened = {name: array * (1.0 if name == "arcs" else strength) for name, array in scores.items()}
    checked = second_order_scores(**weakened)
    links, groups = factors_of(checked)
    groups.append(projective_tree(links, single_root=single_root))
    beliefs = run(factor_graph(np.full(links.max() + 1, 2), groups))
    found = expit(log_odds(beliefs, links[links >= 0]))
    truth = second_order.posterior(checked, single_root=single_root).marginals[links >= 0]
    without = projective.posterior(checked.arcs, single_root=single_root).marginals[links >= 0]
    assert np.abs(found - truth).max() <= np.abs(without - truth).max() * 2 / 3 + 1e-6
