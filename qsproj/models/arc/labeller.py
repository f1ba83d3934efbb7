"""Relations for the arcs of a tree: one softmax for each arc, independent of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT, Heads
from qsproj.corpus.columns import bare_relation
from qsproj.corpus.sentence import Sentence
from qsproj.features.arc_templates import TEMPLATE_SETS, CompiledTemplates, compile_templates
from qsproj.features.arcs import arc_features
from qsproj.features.atoms import EncodedSentence, encode
from qsproj.features.label_templates import LABEL_TEMPLATE_SETS
from qsproj.kernels.features import label_features
from qsproj.models.storage import packed_weights, unpack_weights
from qsproj.training.adagrad import RowAdaGrad
from qsproj.training.loop import Trainer, learn

HASH_BITS = 17
ROOT_RELATION = "root"


@dataclass(frozen=True)
class Labeller:
    """Chooses the relation of each arc by the features of the arc.

    Attributes
    ----------
    template_set : str
        A name in ``features.label_templates.LABEL_TEMPLATE_SETS``.
    relations : tuple of str
        In the order of the columns of ``weights``.
    weights : float32[buckets, L]
    """

    template_set: str
    relations: tuple[str, ...]
    weights: NDArray[np.float32]

    @cached_property
    def templates(self) -> CompiledTemplates:
        """The templates as integer programs; they read what the arc templates of that name read."""
        return _compiled(self.template_set)

    def label(self, encoded: EncodedSentence, heads: Heads) -> tuple[str, ...]:
        """Return the best relation of each word's arc, ``_`` for a word without a head.

        The sentence is encoded as for an arc scorer with the template set of the same name.
        Where the model knows the relation ``root``, it is given to the root's children and to no others.
        """
        scores = np.empty((len(heads), len(self.relations)))
        features = arc_features(encoded, self.templates, len(self.weights))
        label_features.score_labels(features, heads, self.weights, scores)
        if ROOT_RELATION in self.relations:
            column = self.relations.index(ROOT_RELATION)
            scores[heads != ROOT, column] = -np.inf
            scores[heads == ROOT, column] = np.inf
        return tuple(
            self.relations[best] if head >= 0 else "_"
            for best, head in zip(scores[1:].argmax(axis=1).tolist(), heads[1:].tolist(), strict=True)
        )

    def to_archive(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return header and arrays; only rows that are not all zero are kept."""
        header = {
            "template_set": self.template_set,
            "relations": list(self.relations),
            "buckets": len(self.weights),
        }
        return header, packed_weights("label_", self.weights)

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Labeller:
        """Rebuild what :meth:`to_archive` gave."""
        weights = np.zeros((header["buckets"], len(header["relations"])), dtype=np.float32)
        unpack_weights("label_", arrays, weights)
        return Labeller(header["template_set"], tuple(header["relations"]), weights)


def _compiled(template_set: str) -> CompiledTemplates:
    arcs = compile_templates(TEMPLATE_SETS[template_set])
    return compile_templates(LABEL_TEMPLATE_SETS[template_set], arcs.attributes)


def train_labeller(
    sentences: Sequence[Sentence],
    *,
    rng: np.random.Generator,
    template_set: str,
    epochs: int = 6,
    rate: float = 0.1,
    start: Labeller | None = None,
) -> Labeller | None:
    """Learn relations from every word that has a head and a relation; None when there is none.

    Parameters
    ----------
    sentences : sequence of Sentence
        Trees or partial trees.
    start : Labeller, optional
        Whose training goes on: its relations stay, a new one starts from the weights of its bare one. Of the
        same template set.
    """
    relations = sorted(
        {
            relation
            for sentence in sentences
            for relation, head in zip(sentence.deprels, sentence.heads[1:], strict=True)
            if relation != "_" and head >= 0
        }
        | set(() if start is None else start.relations)
    )
    if not relations:
        return None
    numbers = {relation: number for number, relation in enumerate(relations)}
    templates = _compiled(template_set)
    labels = [
        np.array([-1, *(numbers.get(relation, -1) for relation in sentence.deprels)], dtype=np.int32)
        for sentence in sentences
    ]
    examples = [
        (encode(sentence, templates.attributes), sentence.heads, label)
        for sentence, label in zip(sentences, labels, strict=True)
    ]
    weights = _first_weights(relations, start)
    trainer = _LabelTrainer(template_set, tuple(relations), templates, RowAdaGrad(weights, rate=rate))
    return learn(trainer, examples, epochs=epochs, rng=rng, description="training labels")[0]


def _first_weights(relations: Sequence[str], start: Labeller | None) -> NDArray[np.float32]:
    """Return float32[buckets, L], the weights of each relation before training; a copy."""
    weights = np.zeros((1 << HASH_BITS, len(relations)), dtype=np.float32)
    known = {} if start is None else {relation: i for i, relation in enumerate(start.relations)}
    for column, relation in enumerate(relations):
        like = known.get(relation, known.get(bare_relation(relation)))
        if start is not None and like is not None:
            weights[:, column] = start.weights[:, like]
    return weights


_Example = tuple[EncodedSentence, Heads, NDArray[np.int32]]


class _LabelTrainer(Trainer[_Example, Labeller]):
    """Learns the weights of a labeller by conditional likelihood. Mutable; final."""

    def __init__(
        self,
        template_set: str,
        relations: tuple[str, ...],
        templates: CompiledTemplates,
        descent: RowAdaGrad,
    ) -> None:
        self._template_set = template_set
        self._relations = relations
        self._templates = templates
        self._descent = descent

    def step(self, example: _Example) -> float:
        """Learn from the heads and the numbers of the relations of a sentence; return its loss, in nats."""
        encoded, heads, labels = example
        features = arc_features(encoded, self._templates, len(self._descent.weights))
        loss: float = self._descent.step(label_features.step_labels, features, heads, labels)
        return loss

    def averaged(self) -> Labeller:
        """Return the labeller with the mean of the weights after every step so far."""
        return Labeller(self._template_set, self._relations, self._descent.mean())
