"""Outcomes of words as a mixture over what each word may be linked to: evidence, and how it is learned.

The outcomes (relations, tags) of a word have scores of their own. And the word has senses, each with a chance
and with features that score every outcome; what the chances lack of one is a sense that says nothing::

    p(outcome)  ~  exp(scale * score) * (chance of none + sum over senses of chance * exp(its features))
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.features.sense_mixture import step_mixture, sum_senses, weigh_senses
from qsproj.training.loop import Trainer, learn
from qsproj.training.optimiser import DenseAdaGrad, RowAdaGrad

RATE = 0.1
EPOCHS = 6
LEAST_SCALE = 0.01

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SenseRows:
    """The senses of a sentence's words: ``words`` int32[E], ascending.

    ``chances`` float64[E], one at most a word. ``rows`` int32[E, T]: features, rows of the weights.
    """

    words: NDArray[np.int32]
    chances: Values
    rows: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class SenseWeights:
    """Scores of outcomes by senses, float32[rows, L]; other scores are multiplied by ``scale``."""

    weights: NDArray[np.float32]
    scale: float = 1.0

    def evidence(self, senses: SenseRows, size: int) -> Values:
        """Return what senses say of the outcomes of words 0 .. ``size`` - 1, float64[size, L].

        Natural log, on the scale of the scores that it is to be added to.
        """
        weighed = weigh_senses(senses.rows, senses.chances, self.weights)
        return np.log(sum_senses(senses.words, senses.chances, weighed, size)) / self.scale


@dataclass(frozen=True, slots=True, eq=False)
class SenseExample:
    """A sentence to learn from.

    ``scores`` float64[n+1, L]: of each word's outcomes, by what has not seen the sentence, natural log.
    ``known`` int32[n+1]: number of each word's outcome; -1 where there is nothing to learn.
    """

    senses: SenseRows
    scores: Values
    known: NDArray[np.int32]


class _Trainer(Trainer[SenseExample, SenseWeights]):
    def __init__(self, start: SenseWeights) -> None:
        self._descent = RowAdaGrad(start.weights.copy(), rate=RATE)
        self._scale = DenseAdaGrad(np.array([start.scale]), rate=RATE)

    def step(self, example: SenseExample) -> float:
        senses, scale = example.senses, float(self._scale.weights[0])
        tables = senses.words, senses.chances, senses.rows, example.scores, example.known
        loss, slope = self._descent.step(step_mixture, *tables, scale)
        self._scale.step(np.array([slope]))
        return float(loss)

    def averaged(self) -> SenseWeights:
        return SenseWeights(self._descent.mean(), max(float(self._scale.mean()[0]), LEAST_SCALE))


def train_senses(
    start: SenseWeights, examples: Sequence[SenseExample], *, rng: np.random.Generator, description: str
) -> SenseWeights:
    """Learn by likelihood; ``rng`` orders the sentences."""
    return learn(_Trainer(start), examples, epochs=EPOCHS, rng=rng, description=description)[0]
