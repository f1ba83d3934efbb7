"""Relations of which a head has each kind of argument at most once."""

from itertools import product

import numpy as np
import pytest

from scripts.experiments.parsing import hidden_arguments
from scripts.experiments.parsing.arguments import best_relations, doubled, kind_of

RELATIONS = ("nsubj", "nsubj:pass", "csubj", "obj", "iobj", "obl", "punct")
KINDS = [kind_of(name) for name in RELATIONS]


def test_kinds_of_relations():
    assert KINDS == [0, 0, 0, 1, 2, -1, -1]


@pytest.mark.parametrize("children", range(5))
@pytest.mark.parametrize("seed", range(5))
def test_the_best_relations_are_those_of_all_choices(children, seed):
    scores = np.random.default_rng(seed).normal(size=(children, len(RELATIONS)))
    scores[:, :3] += 1.0

    def allowed(choice):
        taken = [KINDS[relation] for relation in choice if KINDS[relation] >= 0]
        return len(taken) == len(set(taken))

    every = product(range(len(RELATIONS)), repeat=children)
    expected = max(filter(allowed, every), key=lambda choice: sum(s[r] for s, r in zip(scores, choice)))
    assert best_relations(scores, KINDS) == list(expected)


def test_words_that_share_head_and_kind_are_doubled():
    assert doubled([2, 0, 2, 2, 4], ["nsubj", "root", "csubj", "obj", "obj"]) == [0, 2]


@pytest.mark.parametrize("kinds", [hidden_arguments.TOGETHER])
@pytest.mark.parametrize("children", range(1, 5))
def test_arguments_are_counted_as_by_enumeration(kinds, children):
    rng, choices, size = np.random.default_rng(children), len(kinds.moves), kinds.most + 1
    chances = rng.dirichlet(np.ones(choices), children)
    weights = rng.uniform(0.2, 3.0, kinds.states)
    numbers, statuses = np.zeros(kinds.states), np.zeros_like(chances)
    for choice in product(range(choices), repeat=children):
        own = [min(choice.count(kind), kinds.most) for kind in range(1, choices)]
        state = np.ravel_multi_index(own, [size] * len(own))
        probability = chances[range(children), choice].prod() * weights[state]
        numbers[state] += probability
        statuses[range(children), choice] += probability
    found = hidden_arguments.counted(chances, weights, kinds)
    np.testing.assert_allclose(found[0], numbers / numbers.sum())
    np.testing.assert_allclose(found[1], statuses / numbers.sum())
