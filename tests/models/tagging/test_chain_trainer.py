"""One sentence after the other: losses, steps along steep slopes alone, a mean that counts the start."""

import numpy as np
import pytest

from qsproj.features.hashing import FeatureIndex
from qsproj.features.tagging import templates_with
from qsproj.kernels.tagging.linear_chain import (
    FLAT,
    every_row,
    step_rows,
    step_steep_rows,
)
from qsproj.models.chains import ChainExample, ChainTrainer
from qsproj.models.tagging.tagger import FeatureExtractor, Tagger
from qsproj.models.tagging.tagger_training import FAINTEST
from tests.oracles import linear_chain as oracle

TAGS = ("DET", "NOUN", "VERB")
ROWS = np.array([[0, 1], [2, -1], [1, 3]], dtype=np.int32)
GOLD = np.array([0, 1, 2], dtype=np.int32)
AS_SETS = np.where(np.arange(3) == GOLD[:, None], 0.0, -np.inf).astype(np.float32)
EITHER = pytest.mark.parametrize("known", [GOLD, AS_SETS], ids=["tags", "sets"])


def begun():
    """Return a tagger that knows a little; the feature of its last row is faint, and no word has it."""
    rng = np.random.default_rng(3)
    weights = rng.normal(size=(5, 3)).astype(np.float32)
    weights[4] = FAINTEST / 2
    return Tagger(
        tags=TAGS,
        extractor=FeatureExtractor(templates_with(()), {}),
        index=FeatureIndex(np.arange(11, 16, dtype=np.uint64)),
        weights=weights,
        transitions=rng.normal(size=(4, 3)),
        contractions={"zum": ("zu", "dem")},
        language="de",
    )


def likelihood(tagger):
    """Return the log-probability of GOLD, by listing all sequences."""
    emissions = [[sum(float(tagger.weights[r, t]) for r in row if r >= 0) for t in range(3)] for row in ROWS]
    transitions = tagger.transitions.tolist()
    steps = zip([3, *GOLD[:-1]], GOLD, strict=True)
    score = sum(emissions[i][t] for i, t in enumerate(GOLD)) + sum(transitions[s][t] for s, t in steps)
    return score - oracle.enumerate_all(emissions, transitions)[0]


@EITHER
def test_the_loss_is_that_before_the_step_and_falls(known):
    tagger = begun()
    trainer = ChainTrainer(tagger, rate=0.1, faintest=FAINTEST)
    example = ChainExample(ROWS, known, 0.5)
    for _ in range(3):
        before = likelihood(tagger)
        assert trainer.step(example) == pytest.approx(-0.5 * before, rel=1e-6)
        assert likelihood(tagger) > before


@EITHER
def test_the_mean_counts_the_start_and_faint_features_go(known):
    tagger = begun()
    trainer = ChainTrainer(tagger, rate=0.1, faintest=FAINTEST)
    past = []
    for _ in range(4):
        past.append((tagger.weights.copy(), tagger.transitions.copy()))
        trainer.step(ChainExample(ROWS, known, 1.0))
    weights, transitions = (np.mean(arrays, axis=0) for arrays in zip(*past, strict=True))
    mean = trainer.averaged()
    np.testing.assert_allclose(mean.weights, weights[:4], rtol=1e-3)  # eleven bits of each are kept
    np.testing.assert_allclose(mean.transitions, transitions, atol=1e-12)
    assert mean.index.keys.tolist() == [11, 12, 13, 14]
    assert (mean.tags, mean.contractions, mean.language) == (TAGS, {"zum": ("zu", "dem")}, "de")


@pytest.mark.parametrize("flat", [0.5 * FLAT, -0.5 * FLAT, 0.0])
def test_flat_slopes_move_nothing_and_steep_ones_as_ever(flat):
    rng = np.random.default_rng(4)
    slopes, pair_slopes = rng.normal(size=(3, 3)), rng.normal(size=(4, 3))
    slopes[1, 2] = pair_slopes[2, 0] = flat
    for what, still in (((ROWS, slopes), (2, 2)), ((every_row(pair_slopes), pair_slopes), (2, 0))):
        start = rng.normal(size=(5, 3))
        all_moved, moved = start.copy(), start.copy()
        all_state, state = np.zeros((2, 5, 3)), np.zeros((2, 5, 3))
        for step in (1.0, 2.0):
            step_rows(*what, all_moved, all_state, 0.1, step)
            step_steep_rows(*what, moved, state, 0.1, step)
        assert moved[still] == start[still]
        same = np.ones((5, 3), dtype=np.bool_)
        same[still] = False
        np.testing.assert_allclose(moved[same], all_moved[same], rtol=1e-12)
        np.testing.assert_allclose(state[:, same], all_state[:, same], rtol=1e-12)


@EITHER
def test_a_sentence_of_little_strength_teaches_little(known):
    """After one of full strength, by which AdaGrad measures all that follow."""
    moved = {}
    for strength in (0.0, 0.1, 1.0):
        tagger = begun()
        trainer = ChainTrainer(tagger, rate=0.1, faintest=FAINTEST)
        trainer.step(ChainExample(ROWS, known, 1.0))
        before = tagger.weights.copy()
        trainer.step(ChainExample(ROWS, known, strength))
        moved[strength] = np.abs(tagger.weights - before).sum()
    assert 0.0 == moved[0.0] < 5 * moved[0.1] < moved[1.0]
