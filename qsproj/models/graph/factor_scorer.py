"""Scores of factors over several arcs from hashed features: the weights, and the trainer that learns them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qsproj.features.arc_templates import TEMPLATE_SETS as ARC_TEMPLATE_SETS
from qsproj.features.arc_templates import compile_templates
from qsproj.features.atoms import EncodedSentence
from qsproj.features.second_order import TEMPLATE_SETS, CompiledFamily, compile_family, factor_features
from qsproj.kernels.features.second_order_features import FactorFeatures, gather_factors, score_factors
from qsproj.models.arc.hashed_weights import HASH_BITS, HashedWeights
from qsproj.models.graph.graph_factors import Family
from qsproj.training.adagrad import AdaGrad

# What squared gradients start from, so that a feature's first steps are not all of full size: a factor has
# dozens of new features, and together they would move its score by more than messages survive.
INITIAL_SQUARES = 1.0

FactorScores = NDArray[np.float64]


@dataclass(frozen=True)
class FactorScorer(HashedWeights):
    """The score of a factor is the sum of the weights of its features, which all families share.

    ``template_set`` is a name in :data:`qsproj.features.second_order.TEMPLATE_SETS`.
    """

    prefix = "factor_"

    @cached_property
    def compiled(self) -> dict[str, CompiledFamily]:
        """The templates of each family, for sentences encoded for the arc templates of the same name."""
        attributes = compile_templates(ARC_TEMPLATE_SETS[self.template_set]).attributes
        return {
            family: compile_family(family, templates, attributes)
            for family, templates in TEMPLATE_SETS[self.template_set].items()
        }

    def features(self, encoded: EncodedSentence, families: Sequence[Family]) -> list[FactorFeatures]:
        """Return what the features of each family are put together from."""
        return [
            factor_features(
                encoded, self.compiled[family.name], family.members, family.places, buckets=len(self.weights)
            )
            for family in families
        ]

    def scores(self, features: Sequence[FactorFeatures]) -> list[FactorScores]:
        """Return for each family the scores of its factors, float64[F], natural log."""
        return [score_factors(family, self.weights) for family in features]


class FactorTrainer:
    """Learns the weights of a factor scorer by AdaGrad, one sentence a step. Mutable; final."""

    def __init__(self, template_set: str, *, rate: float, l2: float, hash_bits: int = HASH_BITS) -> None:
        self.live = FactorScorer.untrained(template_set, hash_bits=hash_bits)
        self._descent = AdaGrad(
            self.live.weights, rate=rate, l2=l2, capacity=1 << 18, first_squares=INITIAL_SQUARES
        )

    def descend(self, features: Sequence[FactorFeatures], gradients: Sequence[FactorScores]) -> None:
        """Go down the gradient of one sentence, float64[F] for each family, one family after the other."""
        for family, slopes in zip(features, gradients, strict=True):
            self._descent.gather(gather_factors, family, slopes)
            self._descent.move()
        self._descent.step()

    def regularise(self) -> None:
        """Shrink the weights; once after each epoch."""
        self._descent.regularise()

    def averaged(self) -> FactorScorer:
        """Return a scorer with the mean of the weights after every step so far."""
        return FactorScorer(self.live.template_set, self._descent.mean())
