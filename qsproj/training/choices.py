"""Choices by a softmax: among a few candidates (scripts of lemmas, relations), and of outcomes through links.

The outcomes (relations, tags) of a word have base scores. In addition, the word has senses, its possible
links, each with a probability and features that score every outcome; the rest is that of no sense::

    p(outcome)  ~  exp(scale * score) * (P(none) + sum over senses of P(sense) * exp(its features))
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qsproj.conventions import Floats, Hashes, Numbers, Rng, Weights
from qsproj.kernels.features.sense_mixture import step_mixture, sum_senses, weigh_senses
from qsproj.kernels.tagging.analyses import learn_script
from qsproj.training.loop import Steps, Trainer, learn
from qsproj.training.optimiser import DenseAdaGrad, RowAdaGrad

# Features of the context uint64[F], candidates uint64[C], their features uint64[C, G], the correct one.
Choice = tuple[Hashes, Hashes, Hashes, int]
# Training of senses: rate, passes, and the least scale of the other scores.
RATE, EPOCHS, LEAST_SCALE = 0.1, 6, 0.01


def shift_of(weights: Weights) -> np.uint64:
    return np.uint64(64 - (weights.shape[-1].bit_length() - 1))


class ChoiceTrainer(Trainer[Choice, Weights]):
    """Trains weights of the correct candidate; weights below ``faint`` are dropped. Mutable; final."""

    def __init__(self, buckets: int, *, rate: float, faint: float) -> None:
        self._weights = RowAdaGrad(np.zeros((1, buckets), dtype=np.float32), rate=rate, counts_start=True)
        self._faint = faint

    def step(self, example: Choice) -> float:
        return self._weights.step(learn_script, *example, shift_of(self._weights.weights))

    def averaged(self) -> Weights:
        """Return the mean of all weights, faint ones zero, rounded as in a file."""
        weights: Weights = self._weights.mean()[0].astype(np.float16).astype(np.float32)
        weights[np.abs(weights) < self._faint] = 0.0
        return weights


@dataclass(frozen=True, slots=True, eq=False)
class SenseRows:
    """The senses of a sentence's words."""

    words: Numbers  # int32[E], ascending
    chances: Floats  # float64[E], with a sum of at most 1 for a word
    rows: Numbers  # int32[E, T]: their rows of weights


@dataclass(frozen=True, slots=True, eq=False)
class SenseWeights:
    """Scores of outcomes by senses, float32[rows, L]; other scores are multiplied by ``scale``."""

    weights: Weights
    scale: float = 1.0

    def evidence(self, senses: SenseRows, size: int) -> Floats:
        """Return the evidence of senses for the outcomes of words, float64[size, L], natural log."""
        weighed = weigh_senses(senses.rows, senses.chances, self.weights)
        return np.log(sum_senses(senses.words, senses.chances, weighed, size)) / self.scale


@dataclass(frozen=True, slots=True, eq=False)
class SenseExample:
    """``scores`` float64[n+1, L] of a sentence by a model not trained on it; ``known`` int32[n+1] or -1."""

    senses: SenseRows
    scores: Floats
    known: Numbers


def train_senses(
    start: SenseWeights, examples: Sequence[SenseExample], *, rng: Rng, description: str
) -> SenseWeights:
    """Maximise the likelihood; ``rng`` orders the sentences."""
    descent = RowAdaGrad(start.weights.copy(), rate=RATE)
    scale = DenseAdaGrad(np.array([start.scale]), rate=RATE)

    def step(example: SenseExample) -> float:
        senses = example.senses
        tables = senses.words, senses.chances, senses.rows, example.scores, example.known
        loss, slope = descent.step(step_mixture, *tables, float(scale.weights[0]))
        scale.step(np.array([slope]))
        return float(loss)

    def averaged() -> SenseWeights:
        return SenseWeights(descent.mean(), max(float(scale.mean()[0]), LEAST_SCALE))

    return learn(Steps(step, averaged), examples, epochs=EPOCHS, rng=rng, description=description)[0]
