"""A logistic model, trained on few trees, of the source arcs that a target style reverses.

Styles differ most in which of two related words is the head. That decision has few features, so it is
trained first; the resulting trees are features of the converter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats, Heads, Mask
from qsproj.features.adaptation_templates import TURN_TEMPLATES, compile_templates, function_words
from qsproj.kernels.adaptation import adaptation_features as kernels
from qsproj.kernels.adaptation.source_paths import SourceNodes, turned_trees
from qsproj.models.packing import packed_weights, unpack_weights
from qsproj.models.schema import Arrays
from qsproj.training.loop import Steps, learn
from qsproj.training.objectives import logistic_loss
from qsproj.training.optimiser import AdaGrad

HASH_BITS = 16
# Log-odds of turning an arc without evidence.
PRIOR = -1.0
RATE = 0.1


@dataclass(frozen=True)
class TurnModel:
    """Log-odds that a word, or a source descendant of it, heads its source head: float32[2**HASH_BITS]."""

    weights: NDArray[np.float32]

    @staticmethod
    def untrained() -> "TurnModel":
        return TurnModel(np.zeros(1 << HASH_BITS, dtype=np.float32))

    @cached_property
    def templates(self) -> kernels.Templates:
        return compile_templates(TURN_TEMPLATES, hash_bits=HASH_BITS)

    def log_odds(self, nodes: SourceNodes) -> Floats:
        """Return float64[n+1], -inf where there is nothing to turn: the root, its dependents, no head."""
        scores = np.empty(len(nodes.heads))
        kernels.turn_scores(nodes, self.templates, self.weights, scores)
        return scores + PRIOR

    def turned(self, nodes: SourceNodes) -> SourceNodes:
        """Return the nodes with the turned trees that the model predicts.

        Words turned over a content word form a chain (as in SUD), over a function word a fan (as in UD); the
        other two trees have it the other way.
        """
        trees = np.empty_like(nodes.turned_heads)
        turned_trees(nodes.heads, self.log_odds(nodes) > 0, ~function_words(nodes), trees)
        return nodes._replace(turned_heads=trees)

    def to_archive(self) -> dict[str, NDArray[Any]]:
        return packed_weights("turn_", self.weights)

    @staticmethod
    def from_archive(arrays: Arrays) -> "TurnModel":
        model = TurnModel.untrained()
        unpack_weights("turn_", arrays, model.weights)
        return model


def turned_arcs(source: Heads, target: Heads) -> Mask:
    """Return whether each word's source head hangs on its phrase in the target tree: bool[n+1].

    False where the source head is the root, and where heads are missing.
    """
    found = np.zeros(len(source), dtype=np.bool_)
    source_heads, target_heads = source.tolist(), target.tolist()
    for word in range(1, len(source)):
        above = target_heads[word]
        while above > 0:
            branch = above
            while branch > 0 and source_heads[branch] != word:
                branch = source_heads[branch]
            if branch > 0:
                found[branch] = True
            above = target_heads[above]
    return found


def train_turns(
    nodes: Sequence[SourceNodes], targets: Sequence[Heads], *, rng: np.random.Generator, epochs: int
) -> TurnModel:
    """Train on source trees and the target trees int32[n+1] of the same words, whole or partial."""
    live = TurnModel.untrained()
    descent = AdaGrad(live.weights, rate=RATE)

    def step(example: tuple[SourceNodes, Mask]) -> float:
        loss, slopes = logistic_loss(live.log_odds(example[0]), example[1])
        descent.gather(kernels.gather_turns, example[0], live.templates, slopes)
        descent.step()
        return loss

    examples = [(one, turned_arcs(one.heads, target)) for one, target in zip(nodes, targets, strict=True)]
    trainer = Steps(step, lambda: TurnModel(descent.mean()))
    return learn(trainer, examples, epochs=epochs, rng=rng, description="training turns")[0]
