"""The two small models of a converter: source arcs that the target style reverses, and relations.

Styles differ most in which of two related words is the head. That decision has few features, so it is trained
first, on few trees, as a logistic model; the resulting trees are features of the converter. Relations of a
converted tree are those of the target style, or copied from the source tree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT, Floats, Heads, Mask, Numbers, Rng, Weights
from qsproj.corpus.sentence import Sentence
from qsproj.features import adaptation_templates as templates
from qsproj.kernels.adaptation import adaptation_features as kernels
from qsproj.kernels.adaptation.adaptation_features import COPIES, COPY_BRANCH, COPY_OWN
from qsproj.kernels.adaptation.source_paths import SourceNodes, turned_trees
from qsproj.models.packing import packed_weights, unpack_weights
from qsproj.models.schema import Archive, Arrays, check_cells, checked, labels
from qsproj.training.loop import Steps, learn
from qsproj.training.objectives import logistic_loss
from qsproj.training.optimiser import AdaGrad, RowAdaGrad

HASH_BITS = 16
RATE = 0.1
# Log-odds of turning an arc without evidence; initial score of keeping the relation of a word, in nats.
TURN_PRIOR, COPY_PRIOR = -1.0, 2.0
ROOT_RELATION = "root"

_compiled = partial(templates.compile_templates, hash_bits=HASH_BITS)


@dataclass(frozen=True)
class TurnModel:
    """Log-odds that a word, or a source descendant of it, heads its source head: float32[2**HASH_BITS]."""

    weights: Weights

    @staticmethod
    def untrained() -> "TurnModel":
        return TurnModel(np.zeros(1 << HASH_BITS, dtype=np.float32))

    def log_odds(self, nodes: SourceNodes) -> Floats:
        """Return float64[n+1], -inf where there is nothing to turn: the root, its dependents, no head."""
        scores = np.empty(len(nodes.heads))
        kernels.turn_scores(nodes, _compiled(templates.TURN_TEMPLATES), self.weights, scores)
        return scores + TURN_PRIOR

    def turned(self, nodes: SourceNodes) -> SourceNodes:
        """Return the nodes with the turned trees that the model predicts."""
        # Words turned over a content word form a chain (SUD), over a function word a fan (UD); or vice versa.
        trees = np.empty_like(nodes.turned_heads)
        turned_trees(nodes.heads, self.log_odds(nodes) > 0, ~templates.function_words(nodes), trees)
        return nodes._replace(turned_heads=trees)

    def to_archive(self) -> dict[str, NDArray[Any]]:
        return packed_weights("turn_", self.weights)

    @staticmethod
    def from_archive(arrays: Arrays) -> "TurnModel":
        model = TurnModel.untrained()
        unpack_weights("turn_", arrays, model.weights)
        return model


def turned_arcs(source: Heads, target: Heads) -> Mask:
    """Return whether a word's source head, if it is a word, hangs on its phrase in the target: bool[n+1]."""
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


def train_turns(nodes: Sequence[SourceNodes], heads: Sequence[Heads], *, rng: Rng, epochs: int) -> TurnModel:
    """Train on source trees and the target trees int32[n+1] of the same words, whole or partial."""
    live = TurnModel.untrained()
    descent = AdaGrad(live.weights, rate=RATE)

    def step(example: tuple[SourceNodes, Mask]) -> float:
        loss, slopes = logistic_loss(live.log_odds(example[0]), example[1])
        descent.gather(kernels.gather_turns, example[0], _compiled(templates.TURN_TEMPLATES), slopes)
        descent.step()
        return loss

    examples = [(one, turned_arcs(one.heads, target)) for one, target in zip(nodes, heads, strict=True)]
    trainer = Steps(step, lambda: TurnModel(descent.mean()))
    return learn(trainer, examples, epochs=epochs, rng=rng, description="training turns")[0]


@dataclass(frozen=True)
class RelationAdapter:
    """Classifier of target relations: ``weights`` float32[2**HASH_BITS, COPIES + L], the two copies first."""

    relations: tuple[str, ...]
    weights: Weights

    @staticmethod
    def untrained(relations: tuple[str, ...] = ()) -> "RelationAdapter":
        weights = np.zeros((1 << HASH_BITS, COPIES + len(relations)), dtype=np.float32)
        return RelationAdapter(relations, weights)

    @cached_property
    def columns(self) -> dict[str, int]:
        return {relation: COPIES + number for number, relation in enumerate(self.relations)}

    @cached_property
    def roots(self) -> Mask:
        are_roots = (templates.base_relation(name) == ROOT_RELATION for name in self.relations)
        return np.array([*[False] * COPIES, *are_roots])

    def scores(self, nodes: SourceNodes, heads: Heads) -> Floats:
        """Return the score of every outcome, float64[n+1, COPIES + L], natural log up to a constant."""
        scores = np.empty((len(heads), self.weights.shape[1]))
        compiled = _compiled(templates.RELATION_TEMPLATES)
        kernels.score_relations(nodes, compiled, heads, self.weights, scores)
        scores[:, COPY_OWN] += COPY_PRIOR
        return scores

    def adapt(self, sentence: Sentence, nodes: SourceNodes, heads: Heads) -> tuple[str, ...]:
        """Return the relation of each word in the target tree ``heads``, ``_`` for a word without a head.

        Copies of a known relation count for it. Relations to the root, if any, are for its dependents alone.
        """
        scores = self.scores(nodes, heads)
        probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
        found = branches(nodes, heads)
        copied = self.copied_columns(sentence, found)
        words = np.arange(len(heads))
        for copy in (COPY_OWN, COPY_BRANCH):
            known = copied[copy] >= COPIES
            probabilities[words[known], copied[copy][known]] += probabilities[known, copy]
            probabilities[known, copy] = 0.0
        if self.roots.any():
            probabilities[(heads == ROOT)[:, None] != self.roots] = 0.0
        head_of, branch_of, best = heads.tolist(), found.tolist(), probabilities.argmax(axis=1).tolist()
        return tuple(
            "_" if head_of[word] < 0 else self._name(sentence, word, branch_of[word], best[word])
            for word in range(1, len(heads))
        )

    def _name(self, sentence: Sentence, word: int, branch: int, outcome: int) -> str:
        if outcome >= COPIES:
            return self.relations[outcome - COPIES]
        return sentence.deprels[(word if outcome == COPY_OWN else branch) - 1]

    def copied_columns(self, sentence: Sentence, found: Numbers) -> Numbers:
        """Return int32[COPIES, n+1], the columns of the relations that each word would copy, or -1."""
        own = np.array([-1, *(self.columns.get(name, -1) for name in sentence.deprels)], dtype=np.int32)
        return np.stack([own, own[found]])

    def to_archive(self) -> Archive:
        return {"relations": list(self.relations)}, packed_weights("relation_", self.weights)

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "RelationAdapter":
        checked(header, {"relations": labels(0)})
        check_cells(1 << HASH_BITS, COPIES + len(header["relations"]))
        adapter = RelationAdapter.untrained(tuple(header["relations"]))
        unpack_weights("relation_", arrays, adapter.weights)
        return adapter


def branches(nodes: SourceNodes, heads: Heads) -> Numbers:
    found = np.empty(len(heads), dtype=np.int32)
    kernels.branches(nodes, heads, found)
    return found


def train_relations(
    trees: Sequence[tuple[Sentence, SourceNodes, Sentence]], *, rng: Rng, epochs: int
) -> RelationAdapter:
    """Train on source trees, their nodes with turned trees, and target trees."""
    known = sorted({relation for *_, target in trees for relation in target.deprels} - {"_"})
    live = RelationAdapter.untrained(tuple(known))
    examples = [(nodes, tree.heads, right_outcomes(live, one, nodes, tree)) for one, nodes, tree in trees]
    descent, compiled = RowAdaGrad(live.weights, rate=RATE), _compiled(templates.RELATION_TEMPLATES)

    def step(example: tuple[SourceNodes, Heads, Mask]) -> float:
        encoded, heads, right = example
        loss, gradient = relation_loss(live.scores(encoded, heads), right)
        descent.step(kernels.step_relations, encoded, compiled, heads, gradient)
        return loss

    trainer = Steps(step, lambda: RelationAdapter(live.relations, descent.mean()))
    return learn(trainer, examples, epochs=epochs, rng=rng, description="training relations")[0]


def right_outcomes(adapter: RelationAdapter, source: Sentence, nodes: SourceNodes, target: Sentence) -> Mask:
    """Return bool[n+1, COPIES + L]: the outcomes that give each word its relation in the target tree."""
    right = np.zeros((len(target.heads), adapter.weights.shape[1]), dtype=np.bool_)
    wanted = np.array([-1, *(adapter.columns.get(relation, -1) for relation in target.deprels)])
    wanted[target.heads < 0] = -1
    words = np.flatnonzero(wanted >= 0)
    right[words, wanted[words]] = True
    copied = adapter.copied_columns(source, branches(nodes, target.heads))
    for copy, columns in enumerate(copied):
        right[words, copy] = columns[words] == wanted[words]
    return right


def relation_loss(scores: Floats, right: Mask) -> tuple[float, Floats]:
    """Return minus the log-probability in nats that words have a right outcome, and its gradient."""
    learned = np.any(right, axis=1)
    everything = np.exp(scores - scores.max(axis=1, keepdims=True))
    within = everything * right
    totals = everything.sum(axis=1, keepdims=True)
    right_totals = np.maximum(within.sum(axis=1, keepdims=True), 1e-300)
    gradient = np.where(learned[:, None], everything / totals - within / right_totals, 0.0)
    return float((np.log(totals) - np.log(right_totals))[learned].sum()), gradient
