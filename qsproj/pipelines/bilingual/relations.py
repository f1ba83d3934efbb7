"""Relations of both sides of a bitext decided together: how a joint parser learns to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from qsproj.bp.status import Status
from qsproj.conventions import Scores
from qsproj.corpus.columns import UNSPECIFIED
from qsproj.corpus.sentence import SentencePair
from qsproj.models.arc.cross_fitting import cross_fitted_relations
from qsproj.models.arc.labeller import Labeller
from qsproj.models.joint.joint_examples import JointExample
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_trees import first_order
from qsproj.models.joint.relations.joint_labeller import (
    JointLabeller,
    known_relations,
    relation_senses,
    train_joint_labeller,
)
from qsproj.training.sense_mixture import SenseExample


def with_joint_labeller(
    parser: JointParser,
    pairs: Sequence[SentencePair],
    examples: Sequence[JointExample],
    *,
    rng: np.random.Generator,
    unseen: bool,
) -> JointParser:
    """Return a joint parser that decides relations of the target with those of the source.

    What the target words are linked to is inferred given their trees, by the joint weights that were learned
    before; the target's labeller is heard as it would be of a sentence that it has not seen.
    """
    source, target = first_order(parser.source).labeller, first_order(parser.target).labeller
    if source is None or target is None:
        return parser
    start = JointLabeller.untrained(_source_relations(source, examples), target.relations)
    scores = _label_scores(target, pairs, rng=rng, unseen=unseen)
    found = (
        _relation_example(parser, start, pair, example, own)
        for pair, example, own in zip(pairs, examples, scores, strict=True)
    )
    labeller = train_joint_labeller(start, [example for example in found if example is not None], rng=rng)
    return replace(parser, labeller=labeller)


def _source_relations(labeller: Labeller, examples: Sequence[JointExample]) -> tuple[str, ...]:
    """Return the relations that the source may have: those of its labeller, and those that are given."""
    given = (example.pair.source_relations or () for example in examples)
    return tuple(sorted(set(labeller.relations).union(*given) - {UNSPECIFIED}))


def _label_scores(
    labeller: Labeller, pairs: Sequence[SentencePair], *, rng: np.random.Generator, unseen: bool
) -> list[Scores]:
    """Return what a labeller that has not seen a target tree scores its relations, float64[n+1, L]."""
    sentences = [pair.target for pair in pairs]
    if not unseen:
        return cross_fitted_relations(sentences, labeller, rng=rng)
    return [labeller.scores(labeller.encode(sentence), sentence.heads) for sentence in sentences]


def _relation_example(
    parser: JointParser, labeller: JointLabeller, pair: SentencePair, example: JointExample, scores: Scores
) -> SenseExample | None:
    """Infer what the words of a target tree are linked to; None where messages contradict each other."""
    beliefs = parser.infer(example.pair, example.target_heads, target_tags=example.target_tags)
    if beliefs.status is Status.CONTRADICTION:
        return None
    senses = relation_senses(labeller, parser.source, pair, example.pair, beliefs, example.target_heads)
    return SenseExample(
        senses, scores, known_relations(labeller.relations, pair.target, example.target_heads)
    )
