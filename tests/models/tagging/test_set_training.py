"""Learning from sets of tags: the objective against listing all sequences, its gradient, what it teaches."""

import math

import numpy as np
import pytest

from qsproj.features.hashing import FeatureIndex
from qsproj.features.tagging import templates_with
from qsproj.kernels.tagging.linear_chain import set_gradient
from qsproj.models.chains import ChainExample, ChainTrainer
from qsproj.models.tagging.tagger import FeatureExtractor, Tagger
from qsproj.models.tagging.tagger_training import FAINTEST, SetExample, SetTrainingOptions, train_on_sets
from tests.oracles import linear_chain as oracle

ROWS = np.array([[0, 1], [2, -1], [1, 3], [4, 0]], dtype=np.int32)
TAGS = ("DET", "NOUN", "VERB")
N_TAGS = 3


def made(seed, *, forbid=0.4):
    """Return weights, transitions and evidence, of which some forbids."""
    rng = np.random.default_rng(seed)
    evidence = rng.uniform(-2, 0, size=(len(ROWS), N_TAGS))
    evidence[rng.random(evidence.shape) < forbid] = -np.inf
    evidence[np.arange(len(ROWS)), rng.integers(N_TAGS, size=len(ROWS))] = 0.0
    return (
        rng.normal(size=(5, N_TAGS)).astype(np.float32),
        rng.normal(size=(N_TAGS + 1, N_TAGS)),
        evidence.astype(np.float32),
    )


def listed(weights, transitions, evidence):
    """Return the log-probability of all sequences that the evidence leaves, by listing them."""
    emissions = [[sum(weights[r][t] for r in row if r >= 0) for t in range(N_TAGS)] for row in ROWS.tolist()]
    supported = [[emissions[i][t] + evidence[i][t] for t in range(N_TAGS)] for i in range(len(ROWS))]
    return log_sum(supported, transitions) - log_sum(emissions, transitions)


def log_sum(emissions, transitions):
    return oracle.enumerate_all(emissions, transitions.tolist())[0]


@pytest.mark.parametrize("seed", range(5))
def test_value_agrees_with_listing(seed):
    weights, transitions, evidence = made(seed)
    value = set_gradient(ROWS, evidence, weights, transitions, np.empty((4, 3)), np.empty((4, 3)))
    expected = listed(weights.astype(float), transitions, evidence.astype(float).tolist())
    assert value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_gradient_agrees_with_finite_differences(seed):
    weights, transitions, evidence = made(seed)
    residuals, pair_residuals = np.empty((4, 3)), np.empty((4, 3))
    set_gradient(ROWS, evidence, weights, transitions, residuals, pair_residuals)
    wide, known = weights.astype(float), evidence.astype(float).tolist()
    slopes = np.zeros(wide.shape)
    for word, row in enumerate(ROWS.tolist()):
        for r in row:
            if r >= 0:
                slopes[r] += residuals[word]
    for array, expected in ((wide, slopes), (transitions, pair_residuals)):
        for cell in np.ndindex(array.shape):
            before, values = array[cell], []
            for step in (1e-5, -1e-5):
                array[cell] = before + step
                values.append(listed(wide, transitions, known))
            array[cell] = before
            assert expected[cell] == pytest.approx((values[0] - values[1]) / 2e-5, abs=1e-7)


def test_words_that_are_free_teach_nothing():
    weights, transitions, _ = made(1)
    residuals, pair_residuals = np.empty((4, 3)), np.empty((4, 3))
    free = np.zeros((4, 3), dtype=np.float32)
    assert set_gradient(ROWS, free, weights, transitions, residuals, pair_residuals) == pytest.approx(0.0)
    assert math.isclose(abs(residuals).max() + abs(pair_residuals).max(), 0.0, abs_tol=1e-12)


def test_steps_climb():
    weights, transitions, evidence = made(2)
    start = Tagger(
        tags=TAGS,
        extractor=FeatureExtractor(templates_with(()), {}),
        index=FeatureIndex(np.arange(1, 6, dtype=np.uint64)),
        weights=weights,
        transitions=transitions,
    )
    trainer = ChainTrainer(start, rate=0.1, faintest=FAINTEST)
    losses = [trainer.step(ChainExample(ROWS, evidence, 1.0)) for _ in range(20)]
    assert losses[-1] < losses[0] - 0.5


FREE = (0.0, 0.0, 0.0)


def example(words, sets, strength=1.0):
    """Return a sentence whose words may have the tags of these initials, all where there is ``*``."""
    rows = [FREE if tags == "*" else [0.0 if tag[0] in tags else -np.inf for tag in TAGS] for tags in sets]
    return SetExample(tuple(words.split()), np.array(rows, dtype=np.float32), strength)


def learned(seed=1, start=None):
    extractor = FeatureExtractor(templates_with(()), {})
    examples = [
        example("der Hund bellt", "DNV"),
        example("die Katze schläft", "DNV"),
        example("der Hund jagt die Maus", ["D", "N", "*", "D", "NV"]),
        example("die Maus schläft", ["DN", "*", "V"]),
    ] * 4
    return train_on_sets(
        examples,
        tags=TAGS,
        extractor=extractor if start is None else start.extractor,
        rng=np.random.default_rng(seed),
        options=SetTrainingOptions(epochs=8, rarest=1),
        start=start,
    )


def test_neighbours_settle_what_sets_leave_open():
    tagger = learned()
    assert tagger.tag_words(("der", "Hund", "jagt", "die", "Maus")) == ("DET", "NOUN", "VERB", "DET", "NOUN")
    assert tagger.tag_words(("die", "Maus", "schläft")) == ("DET", "NOUN", "VERB")


def test_the_same_seed_gives_the_same_weights():
    one, other = learned(), learned()
    np.testing.assert_array_equal(one.weights, other.weights)
    np.testing.assert_array_equal(one.transitions, other.transitions)


def test_training_goes_on_from_a_tagger():
    first = learned()
    further = train_on_sets(
        [example("die Katze bellt", "DNV")],
        tags=TAGS,
        extractor=first.extractor,
        rng=np.random.default_rng(1),
        options=SetTrainingOptions(epochs=1, rate=1e-6, rarest=1),
        start=first,
    )
    words = ("der", "Hund", "jagt", "die", "Maus")
    assert further.tag_words(words) == first.tag_words(words)
    assert len(further.index.keys) == len(first.index.keys)


def test_a_trusted_sentence_keeps_its_rare_features():
    """``rarest`` is for what may be wrong."""
    kept = {}
    for trusted in (False, True):
        sentence = SetExample(("der", "Hund"), example("der Hund", "DN").log_evidence, trusted=trusted)
        tagger = train_on_sets(
            [sentence],
            tags=TAGS,
            extractor=FeatureExtractor(("form", "lower-1"), {}),
            rng=np.random.default_rng(1),
            options=SetTrainingOptions(epochs=30, rarest=3),
        )
        kept[trusted] = len(tagger.index.keys)
    assert kept[True] == 4
    assert kept[False] == 0


@pytest.mark.parametrize(("strengths", "tag"), [((5.0, 1.0), "NOUN"), ((1.0, 5.0), "VERB")])
def test_the_stronger_sentence_is_believed(strengths, tag):
    examples = [example("Wort", sets, strength) for sets, strength in zip("NV", strengths, strict=True)]
    tagger = train_on_sets(
        examples,
        tags=TAGS,
        extractor=FeatureExtractor(("form",), {}),
        rng=np.random.default_rng(1),
        options=SetTrainingOptions(epochs=20, rarest=1),
    )
    assert tagger.tag_words(("Wort",)) == (tag,)
