"""ALIGNHMM in the graph of a sentence pair: beliefs, gradient, and that words are linked once at most."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from qsproj.bp.run import Status
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.features.joint_templates import ALIGN_HMMS, JUMP_SCORES, WIDEST_JUMP, jump_buckets
from qsproj.models.joint.joint_alignment import links_only
from qsproj.models.joint.joint_graph import JointWeights, infer_jointly
from qsproj.models.joint.joint_options import JointTrainingOptions, Propagation
from qsproj.models.joint.joint_structure import FALSE_STATE, TRUE_STATE, UNKNOWN, known_states
from qsproj.models.joint.joint_training import JointExample, JointTrainer, count_hand_links, observed_links
from tests.oracles.joint_pairs import PairEnumeration
from tests.sentences import make_sentence

SIDE = {"TARGETHMM": "target", "SOURCEHMM": "source"}
LINKS = [(1, 1), (1, 2), (2, 2), (2, 4), (3, 1), (3, 3), (3, 4)]
PAIR = SentencePair(
    make_sentence("a b c", "NOUN VERB DET"),
    make_sentence("d e f g", "NOUN VERB DET NOUN"),
    make_alignment(3, 4, LINKS, weights=[0.9, 0.3, 0.6, 0.2, 0.5, 0.7, 0.4]),
)
EVEN = np.zeros((7, 4))


def drawn(name, seed):
    """Return the graph of PAIR and scores for it; fertilities, which would make loops, say nothing."""
    rng = np.random.default_rng(seed)
    prepared = links_only(PAIR, (name,))
    weights = replace(JointWeights.untrained(), weights=0.4 * rng.normal(size=1 << 18))
    return prepared, weights, replace(weights.scores(prepared), fertility=EVEN)


def enumeration(name, scores, states=None):
    """Enumerate links; with ``states``, only those that fit."""
    links = dict(zip(LINKS, scores.links.tolist()))
    if states is not None:
        evidence = {FALSE_STATE: -np.inf, TRUE_STATE: 100.0, UNKNOWN: 0.0}
        links = {link: score + evidence[state] for (link, score), state in zip(links.items(), states)}
    heads = [-1, 0, 0, 0], [-1, 0, 0, 0, 0]
    return PairEnumeration(
        *([side] for side in heads),
        (np.zeros((4, 4)).tolist(), np.zeros((5, 5)).tolist()),
        links,
        EVEN.tolist(),
        [],
        hmms={SIDE[name]: scores.jumps[0].tolist()},
    )


def infer(prepared, scores, states=None):
    return infer_jointly(
        prepared.structure,
        scores,
        known_states(prepared.structure, None, states),
        propagation=Propagation(tolerance=1e-9),
    )


STATES = np.array([UNKNOWN, FALSE_STATE, TRUE_STATE, *[UNKNOWN] * 4], dtype=np.int8)


@pytest.mark.parametrize(("name", "states"), [*itertools.product(ALIGN_HMMS, (None, STATES))])
def test_beliefs_are_those_of_the_enumerated_links(name, states):
    prepared, _, scores = drawn(name, 3)
    beliefs = infer(prepared, scores, states)
    truth = enumeration(name, scores, states)
    assert beliefs.status is Status.CONVERGED
    expected = [truth.probability(lambda s, t, links, f, link=link: link in links) for link in LINKS]
    np.testing.assert_allclose(beliefs.links, expected, atol=1e-9)
    # Every word on the side of the HMM jumps or has no link.
    words = len(PAIR.target) if name == "TARGETHMM" else len(PAIR.source)
    assert beliefs.jumps.shape == (1, JUMP_SCORES)
    assert beliefs.jumps.sum() == pytest.approx(words)


@pytest.mark.parametrize("name", ALIGN_HMMS)
def test_expected_jumps_are_the_gradient_by_the_weights(name):
    """Finite differences of minus the log-likelihood of what is known of the links, by enumeration."""
    prepared, weights, scores = drawn(name, 4)
    free, clamped = infer(prepared, scores), infer(prepared, scores, STATES)
    gradient = np.zeros_like(weights.weights)
    slopes = (free.jumps - clamped.jumps).reshape(-1)
    np.add.at(gradient, prepared.buckets["jumps"], slopes[:, None])

    def loss(moved):
        now = replace(replace(weights, weights=moved).scores(prepared), fertility=EVEN)
        return enumeration(name, now).log_z - enumeration(name, now, STATES).log_z

    step = 1e-4
    buckets = np.unique(prepared.buckets["jumps"])
    assert np.abs(gradient[buckets]).max() > 0.1
    for bucket in buckets:
        change = np.zeros_like(gradient)
        change[bucket] = step
        slope = (loss(weights.weights + change) - loss(weights.weights - change)) / (2 * step)
        assert gradient[bucket] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize(("name", "column"), [("TARGETHMM", 1), ("SOURCEHMM", 0)])
def test_no_word_of_the_side_has_two_links(name, column):
    prepared, _, scores = drawn(name, 5)
    surer = replace(scores, links=scores.links + 50.0)
    expected = np.bincount(np.array(LINKS)[:, column], infer(prepared, surer).links)
    assert expected.max() < 1.0 + 1e-9


def test_jumps_of_both_directions_have_features_of_their_own():
    both = jump_buckets(ALIGN_HMMS).reshape(2, JUMP_SCORES, -1)
    assert len(np.unique(both[:, :, 0])) == 2 * JUMP_SCORES
    direction, distance = both[0, :, 1], both[0, :, 2]
    assert len(np.unique(direction)) == 4
    assert distance[0] == distance[2 * WIDEST_JUMP]
    assert distance[WIDEST_JUMP + 1] != distance[WIDEST_JUMP + 2]
    assert jump_buckets(()).shape == (0, 3)


def test_evidence_that_contradicts_an_hmm_is_told_and_teaches_nothing():
    """Both links of a target word are given, of which TARGETHMM allows one."""
    prepared, _, scores = drawn("TARGETHMM", 6)
    both = np.array([TRUE_STATE, UNKNOWN, UNKNOWN, UNKNOWN, TRUE_STATE, UNKNOWN, UNKNOWN], dtype=np.int8)
    assert infer(prepared, scores, both).status is Status.CONTRADICTION
    trainer = JointTrainer(JointTrainingOptions())
    heads = np.array([-1, 0, 0, 0, 0], dtype=np.int32)
    trainer.step(JointExample(prepared, heads, both))
    assert trainer.statuses[0][Status.CONTRADICTION] == 1
    assert not trainer.weights.weights.any()
    trainer.step(JointExample(prepared, heads, STATES))
    assert trainer.weights.weights.any()


def test_hand_links_are_observed_as_far_as_an_hmm_allows():
    hand = make_alignment(
        3, 4, [(1, 1), (1, 2), (2, 2), (3, 3), (2, 3)], sure=[True, False, True, True, True]
    )
    true, false, hidden = TRUE_STATE, FALSE_STATE, UNKNOWN
    assert observed_links(PAIR.alignment, hand).tolist() == [true, hidden, true, false, false, true, false]
    counts = count_hand_links([replace(PAIR, hand=hand), PAIR])
    assert counts.summary() == "hand alignments of 1 pair; 1 of 4 sure links not among the candidates"
    twice = make_alignment(3, 4, [(1, 1), (1, 2), (2, 2), (3, 1)])
    states = observed_links(PAIR.alignment, twice)
    assert states.tolist() == [true, true, true, false, true, false, false]
    by_target = observed_links(PAIR.alignment, twice, ("TARGETHMM",))
    assert by_target.tolist() == [hidden, hidden, hidden, false, hidden, false, false]
    by_source = observed_links(PAIR.alignment, twice, ("SOURCEHMM",))
    assert by_source.tolist() == [hidden, hidden, true, false, true, false, false]
