"""The DMV whose decisions read the most recent sibling: against every tree, counted in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from qsproj.models.dmv.dmv import STRENGTH, Dmv, DmvParameters, SiblingParameters, whatever_the_sibling
from tests.oracles.trees import all_trees
from tests.sentences import make_sentence

TAGS = ("_", "N", "V")
NONE = len(TAGS)


def model(seed=1):
    rng = np.random.default_rng(seed)
    n = len(TAGS)
    parameters = DmvParameters(
        rng.uniform(0.1, 0.9, (n, 2, 2)), rng.dirichlet(np.ones(n), (n, 2)), rng.dirichlet(np.ones(n))
    )
    siblings = SiblingParameters(
        rng.uniform(0.05, 0.95, (n, 2, n + 1)), rng.dirichlet(np.ones(n), (n, 2, n + 1))
    )
    return Dmv(TAGS, parameters, "keep", None, siblings)


def decisions(tags, heads):
    """Yield each decision of a tree: go or stop, the head's tag, the side, the sibling's, the dependent's."""
    for head in range(1, len(heads)):
        for side, words in enumerate((range(head - 1, 0, -1), range(head + 1, len(heads)))):
            sibling = NONE
            for word in words:
                if heads[word] == head:
                    yield "go", tags[head], side, sibling, tags[word]
                    sibling = tags[word]
            yield "stop", tags[head], side, sibling, None


def probability(grammar, tags, heads):
    stop, child = grammar.siblings.sibling_stop, grammar.siblings.sibling_child
    total = grammar.parameters.root[tags[heads.index(0, 1)]]
    for what, head, side, sibling, word in decisions(tags, heads):
        stops = stop[head, side, sibling]
        total *= stops if what == "stop" else (1.0 - stops) * child[head, side, sibling, word]
    return total


def listed(grammar, sentence):
    """Return every projective tree with one root and its probability."""
    tags = [0, *(TAGS.index(tag) for tag in sentence.upos)]
    trees = [list(one) for one in all_trees(len(sentence), projective=True, single_root=True)]
    return [([-1, *heads[1:]], probability(grammar, tags, [-1, *heads[1:]])) for heads in trees]


@pytest.mark.parametrize("upos", ["N", "N V", "N V N", "V N N V", "N N V N N"])
def test_all_trees_are_summed(upos):
    grammar, sentence = model(), make_sentence("w " * len(upos.split()), upos)
    trees = listed(grammar, sentence)
    total = math.fsum(chance for _, chance in trees)
    assert grammar.log_likelihood(sentence) == pytest.approx(math.log(total))
    arcs = np.zeros((len(sentence) + 1,) * 2)
    for heads, chance in trees:
        arcs[heads[1:], np.arange(1, len(heads))] += chance / total
    np.testing.assert_allclose(grammar.arc_probabilities(sentence), arcs, atol=1e-9)
    best = max(trees, key=lambda one: one[1])[0]
    assert grammar.parse(sentence, decode="map").heads.tolist() == best


def test_known_heads_stay():
    grammar, sentence = model(), make_sentence("a b c d", "N V N N", [3, -1, -1, -1])
    fitting = [one for one in listed(grammar, sentence) if one[0][1] == 3]
    assert grammar.complete(sentence).heads.tolist() == max(fitting, key=lambda one: one[1])[0]


def test_decisions_of_trees_are_counted_beside_those_known_without_the_sibling():
    grammar = replace(model(), siblings=None)
    trees = [
        make_sentence("a b c d", "N V N N", [2, 0, 2, 2]),
        make_sentence("a b c", "N N V", [3, 3, 0]),
        make_sentence("a b", "N V", [2, -1]),
    ]
    before = whatever_the_sibling(grammar.parameters.stop, grammar.parameters.child)
    learned = grammar.with_siblings(trees).siblings
    seen, children = Counter(), Counter()
    for tree in trees[:2]:
        tags = [0, *(TAGS.index(tag) for tag in tree.upos)]
        for what, *where, word in decisions(tags, tree.heads.tolist()):
            seen[(what, *where)] += 1
            children[(*where, word)] += 1
    for where in np.ndindex(learned.sibling_stop.shape):
        stop, go = (seen[(what, *where)] for what in ("stop", "go"))
        expected = (STRENGTH * before.sibling_stop[where] + stop) / (STRENGTH + stop + go)
        assert learned.sibling_stop[where] == pytest.approx(expected)
        for word in range(len(TAGS)):
            known = STRENGTH * before.sibling_child[where][word]
            expected = (known + children[(*where, word)]) / (STRENGTH + go)
            assert learned.sibling_child[where][word] == pytest.approx(expected)


def test_without_trees_it_is_the_model_that_it_was(monkeypatch):
    grammar, sentence = replace(model(), siblings=None), make_sentence("a b c d e", "N V N N V")
    same = grammar.with_siblings([])
    np.testing.assert_allclose(
        same.arc_probabilities(sentence), grammar.arc_probabilities(sentence), atol=1e-9
    )
    # Longer sentences do not read siblings.
    monkeypatch.setattr("qsproj.models.dmv.dmv.LONGEST", 4)
    np.testing.assert_array_equal(
        model().arc_probabilities(sentence), replace(model(), siblings=None).arc_probabilities(sentence)
    )


def test_saved_and_read_back(tmp_path):
    grammar, sentence = model(), make_sentence("a b c", "N V N")
    again = Dmv.from_archive(*grammar.to_archive())
    np.testing.assert_array_equal(again.arc_probabilities(sentence), grammar.arc_probabilities(sentence))
