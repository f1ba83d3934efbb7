"""ALIGNITG in the graph of a sentence pair: beliefs, what hand links say beside it, and its limit."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from qsproj.bp.run import Status
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.models.joint.joint_alignment import links_only, train_link_chooser
from qsproj.models.joint.joint_graph import JointWeights, infer_jointly
from qsproj.models.joint.joint_options import MOST_ITG_WORDS, Propagation
from qsproj.models.joint.joint_structure import (
    FALSE_STATE,
    TRUE_STATE,
    UNKNOWN,
    beyond_itg,
    known_states,
)
from qsproj.models.joint.joint_training import observed_links
from tests.oracles.factor_graphs import log_sum
from tests.sentences import make_sentence

# Among these the order 2 4 1 3, which no bracketing builds.
LINKS = [(1, 2), (2, 1), (2, 4), (3, 1), (3, 3), (4, 3), (4, 4)]
PAIR = SentencePair(
    make_sentence("a b c d", "NOUN VERB DET NOUN"),
    make_sentence("e f g h", "NOUN VERB DET NOUN"),
    make_alignment(4, 4, LINKS, weights=[0.9, 0.3, 0.8, 0.7, 0.5, 0.7, 0.4]),
)
EVEN = np.zeros((8, 4))
STATES = np.array([TRUE_STATE, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, TRUE_STATE, UNKNOWN], dtype=np.int8)
TWISTED = {(1, 2), (2, 4), (3, 1), (4, 3)}


def admitted(links):
    """Say whether bracketing builds some links of four words: each word once, and not the one order."""
    ends = list(zip(*links)) or [(), ()]
    once = all(len(set(words)) == len(words) for words in ends)
    return once and set(links) != TWISTED


def infer(scores, states=None):
    prepared = links_only(PAIR, ("ITG",))
    assert prepared.structure.align_itg
    even = replace(scores_of(prepared), links=scores, fertility=EVEN)
    return infer_jointly(
        prepared.structure,
        even,
        known_states(prepared.structure, None, states),
        propagation=Propagation(tolerance=1e-9),
    )


def scores_of(prepared):
    return JointWeights.untrained().scores(prepared)


@pytest.mark.parametrize("states", [None, STATES])
def test_beliefs_are_those_of_the_enumerated_links(states):
    scores = 2.0 * np.random.default_rng(1).normal(size=len(LINKS)) + 1.0
    known = dict(zip(LINKS, [UNKNOWN] * 7 if states is None else states.tolist()))
    weighed = []
    for chosen in itertools.product((False, True), repeat=len(LINKS)):
        links = {link for link, on in zip(LINKS, chosen) if on}
        fits = all(known[link] in (UNKNOWN, TRUE_STATE if link in links else FALSE_STATE) for link in LINKS)
        if fits and admitted(links):
            free = [link for link in links if known[link] == UNKNOWN]
            weighed.append((links, sum(scores[LINKS.index(link)] for link in free)))
    log_z = log_sum([weight for _, weight in weighed])
    expected = [sum(np.exp(weight - log_z) for links, weight in weighed if link in links) for link in LINKS]
    beliefs = infer(scores, states)
    assert beliefs.status is Status.CONVERGED
    np.testing.assert_allclose(beliefs.links, expected, atol=1e-9)


def test_hand_links_that_no_bracketing_has_together_teach_nothing():
    twisted = np.array([TRUE_STATE if link in TWISTED else FALSE_STATE for link in LINKS], dtype=np.int8)
    assert infer(np.zeros(7), twisted).status is Status.CONTRADICTION
    by_hand = replace(PAIR, hand=make_alignment(4, 4, sorted(TWISTED)))
    rng = np.random.default_rng(1)
    assert not train_link_chooser([by_hand], rng=rng, families=("ITG",)).weights.weights.any()
    assert train_link_chooser([by_hand], rng=rng).weights.weights.any()


def test_of_several_links_of_a_word_none_is_observed():
    hand = make_alignment(4, 4, [(1, 2), (2, 1), (2, 4), (4, 4)])
    hidden = UNKNOWN
    assert observed_links(PAIR.alignment, hand, ("ITG",)).tolist() == [
        *(TRUE_STATE, hidden, hidden, FALSE_STATE, FALSE_STATE, FALSE_STATE, hidden)
    ]


def test_long_pairs_do_without():
    """What counts are words that have candidates."""
    n = MOST_ITG_WORDS
    square = np.array([(i, i) for i in range(1, n + 1)])
    assert not beyond_itg(("ITG",), square)
    assert not beyond_itg(("ITG",), np.concatenate([square, square[:, ::-1]]) * 3)
    assert beyond_itg(("ITG",), np.concatenate([square, [(n + 1, n + 1)]]))
    words = " ".join("x" for _ in range(n + 1))
    tags = " ".join("NOUN" for _ in range(n + 1))
    long = SentencePair(
        make_sentence(words, tags),
        make_sentence(words, tags),
        make_alignment(n + 1, n + 1, [(i, i) for i in range(1, n + 2)]),
    )
    for pair, beyond in ((long, True), (PAIR, False)):
        assert links_only(pair, ("ITG",)).structure.align_itg != beyond
        assert beyond_itg(("MONO", "ITG"), pair.alignment.links) == beyond
        assert not beyond_itg(("MONO",), pair.alignment.links)
