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


@pytest.mark.parametrize("children", [1, 2, 3, 4, 7])
def test_arguments_are_counted_as_by_enumeration(children):
    rng, most = np.random.default_rng(children), hidden_arguments.MOST
    chances = rng.dirichlet(np.ones(2), children)
    weights = rng.uniform(0.2, 3.0, most + 1)
    numbers, statuses = np.zeros(most + 1), np.zeros_like(chances)
    for choice in product(range(2), repeat=children):
        number = min(sum(choice), most)
        probability = chances[range(children), choice].prod() * weights[number]
        numbers[number] += probability
        statuses[range(children), choice] += probability
    found = hidden_arguments.counted(chances, weights)
    np.testing.assert_allclose(found[0], numbers / numbers.sum())
    np.testing.assert_allclose(found[1], statuses / numbers.sum())
