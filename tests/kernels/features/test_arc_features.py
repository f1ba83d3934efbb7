"""The arc kernels against features as tuples and weights as a dictionary."""

from functools import partial

import numpy as np
import pytest
from numba import njit

from qsproj.features.arc_templates import DELEXICALISED, MORPHOLOGY, arc_features, compile_templates
from qsproj.features.atoms import encode
from qsproj.kernels.features import arc_features as kernels
from qsproj.models.arc.arc_scorer import ArcExample, ArcScorer, ArcTrainer, bit_mask, supported_by
from qsproj.training.optimiser import AdaGrad
from tests.oracles.arc_features import PlainAdaGrad, features_of
from tests.sentences import make_sentence

BUCKETS = 1 << 22
RULE = partial(AdaGrad, rate=0.3, l2=0.0)
SENTENCE = make_sentence(
    "Der Hund , der laut bellt , sieht und hört die alte Katze im Garten nicht",
    "DET NOUN PUNCT PRON ADV VERB PUNCT VERB CCONJ VERB DET ADJ NOUN ADP NOUN PART",
    [2, 8, 6, 6, 6, 2, 6, 0, 10, 8, 13, 13, 8, 15, 8, 8],
)


def buckets_of(sentence, templates, head, dependent):
    compiled = compile_templates(templates)
    features = arc_features(encode(sentence, compiled.attributes), compiled, BUCKETS)
    return _buckets(features, head, dependent)


@njit
def _buckets(features, head, dependent):
    out = kernels.bucket_workspace(features)
    count = kernels.one_arc(features, head, dependent, kernels.between_workspace(features), out)
    return out[:count].copy()


@pytest.mark.parametrize("templates", [DELEXICALISED, MORPHOLOGY])
@pytest.mark.parametrize(("head", "dependent"), [(0, 8), (8, 2), (2, 6), (8, 16), (16, 1), (13, 12)])
def test_an_arc_has_as_many_features_as_the_templates_say(templates, head, dependent):
    expected = features_of(SENTENCE, templates, head, dependent)
    assert len(buckets_of(SENTENCE, templates, head, dependent)) == sum(expected.values())


def test_equal_features_share_a_bucket_and_others_do_not():
    names, buckets = {}, {}
    for head in range(len(SENTENCE) + 1):
        for dependent in range(1, len(SENTENCE) + 1):
            if head == dependent:
                continue
            found = frozenset(features_of(SENTENCE, DELEXICALISED, head, dependent))
            names[head, dependent] = found
            buckets[head, dependent] = frozenset(
                buckets_of(SENTENCE, DELEXICALISED, head, dependent).tolist()
            )
    distinct_names = frozenset().union(*names.values())
    distinct_buckets = frozenset().union(*buckets.values())
    # Birthday bound: about len^2 / 2 buckets collide; allow twice that.
    allowed = len(distinct_names) ** 2 / BUCKETS + 1
    assert 0 <= len(distinct_names) - len(distinct_buckets) <= allowed
    for arc, other in [((8, 2), (2, 8)), ((2, 1), (13, 11)), ((0, 8), (8, 10))]:
        shared = len(names[arc] & names[other])
        assert shared <= len(buckets[arc] & buckets[other]) <= shared + 1


def test_scores_are_sums_of_weights():
    compiled = compile_templates(MORPHOLOGY)
    features = arc_features(encode(SENTENCE, compiled.attributes), compiled, BUCKETS)
    weights = np.random.default_rng(5).normal(size=BUCKETS)
    scores = np.full((len(SENTENCE) + 1, len(SENTENCE) + 1), 7.0)
    kernels.score_arcs(features, weights, 0, scores)
    for head in range(len(SENTENCE) + 1):
        for dependent in range(1, len(SENTENCE) + 1):
            if head != dependent:
                expected = weights[buckets_of(SENTENCE, MORPHOLOGY, head, dependent)].sum()
                assert scores[head, dependent] == pytest.approx(expected, abs=1e-9)
    assert np.all(scores[:, 0] == 7.0)
    heads, dependents = np.array([3, 0, 1], dtype=np.int32), np.array([1, 2, 4], dtype=np.int32)
    chosen = kernels.score_chosen_arcs(features, weights, heads, dependents)
    assert chosen.tolist() == scores[heads, dependents].tolist()
    assert kernels.score_chosen_arcs(features, weights, heads[:0], dependents[:0]).size == 0
    assert np.all(np.diag(scores) == 7.0)


class Fixed:
    """An objective whose gradient does not depend on the scores."""

    def __init__(self, gradient):
        self.gradient = gradient

    def value_and_gradient(self, scores):
        return 0.0, self.gradient


def test_steps_and_averaging_equal_those_over_named_features():
    gold = np.zeros((len(SENTENCE) + 1,) * 2, dtype=bool)
    gold[SENTENCE.heads[1:], np.arange(1, len(SENTENCE) + 1)] = True
    encoded = encode(SENTENCE, compile_templates(DELEXICALISED).attributes)
    examples = [(encoded, SENTENCE.heads)]
    supported = supported_by("delexicalised", examples, cutoff=1, criterion="trees")
    trainer = ArcTrainer(ArcScorer.untrained("delexicalised"), supported, rule=RULE)
    plain = PlainAdaGrad(0.3)
    supported = set().union(
        *(features_of(SENTENCE, DELEXICALISED, *arc) for arc in np.argwhere(gold).tolist())
    )
    rng = np.random.default_rng(11)
    for _ in range(4):
        gradient = np.where(rng.random(gold.shape) < 0.2, rng.normal(size=gold.shape), 0.0)
        np.fill_diagonal(gradient, 0.0)
        gradient[:, 0] = 0.0
        trainer.step(ArcExample(encoded, Fixed(gradient)))
        plain.step(
            SENTENCE,
            DELEXICALISED,
            {tuple(arc): gradient[tuple(arc)] for arc in np.argwhere(gradient).tolist()},
            supported,
        )
    scorer = trainer.averaged()
    scores = scorer.scores(scorer.features(encoded))
    for head, dependent in [(0, 8), (8, 2), (2, 6), (13, 11), (5, 9), (16, 1)]:
        found = features_of(SENTENCE, DELEXICALISED, head, dependent)
        expected = sum(count * plain.mean(feature) for feature, count in found.items())
        # Two features in one bucket are one to us; float32 rounds the rest.
        assert scores[head, dependent] == pytest.approx(expected, abs=0.02)


def test_the_step_is_the_same_in_parts():
    encoded = encode(SENTENCE, compile_templates(DELEXICALISED).attributes)
    gradient = np.zeros((len(SENTENCE) + 1,) * 2)
    gradient[0, 8], gradient[8, 2] = -0.5, 0.25
    whole = ArcTrainer(ArcScorer.untrained("delexicalised"), rule=RULE)
    parts = ArcTrainer(ArcScorer.untrained("delexicalised"), rule=RULE)
    moves = []
    for trainer in (whole, parts):
        descent = trainer.rule
        move = descent.move
        descent.touched = descent.touched if trainer is whole else np.empty(64, dtype=np.uint64)
        descent.move = lambda move=move, descent=descent: moves.append(descent.used) or move()
        trainer.step(ArcExample(encoded, Fixed(gradient)))
    # The first trainer moves once; the second has room for the features of one arc.
    assert len(moves) == 3
    assert moves[0] == moves[1] + moves[2]
    # The two arcs share no feature, so that stepping one before the other changes nothing.
    assert not set(features_of(SENTENCE, DELEXICALISED, 0, 8)) & set(
        features_of(SENTENCE, DELEXICALISED, 8, 2)
    )
    np.testing.assert_array_equal(whole.averaged().weights, parts.averaged().weights)


def test_bit_mask_puts_bucket_b_in_bit_b():
    chosen = np.zeros(128, dtype=bool)
    chosen[[0, 63, 65]] = True
    assert bit_mask(chosen).tolist() == [1 | 1 << 63, 2]
