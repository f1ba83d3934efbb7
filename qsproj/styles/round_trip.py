"""How much of a tree is lost on the way to another style and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from qsproj.corpus.sentence import Sentence
from qsproj.styles.convert import convert
from qsproj.styles.relations import base_relation
from qsproj.styles.style import UD, Style


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip:
    """What converting a treebank and converting it back changed; all are counts.

    ``sentences``, ``words``: how many there were. ``changed_heads``: words with another head in the target
    style. ``lost_heads``, ``lost_relations``: words whose head, whose relation, did not come back.
    ``lost_sentences``: sentences with a head or a relation that did not come back. ``lost_by_relation``: the
    words counted in ``lost_heads`` by their relation, subtypes aside, the most frequent first.
    """

    sentences: int
    words: int
    changed_heads: int
    lost_heads: int
    lost_relations: int
    lost_sentences: int
    lost_by_relation: Mapping[str, int]


def measure_round_trip(sentences: Iterable[Sentence], target: Style, *, source: Style = UD) -> RoundTrip:
    """Convert each sentence from ``source`` to ``target`` and back, and count what differs."""
    totals: Counter[str] = Counter()
    by_relation: Counter[str] = Counter()
    for sentence in sentences:
        converted = convert(sentence, target, source=source)
        restored = convert(converted, source, source=target)
        lost = np.flatnonzero(restored.heads != sentence.heads).tolist()
        relabelled = sum(one != other for one, other in zip(restored.deprels, sentence.deprels))
        by_relation.update(base_relation(sentence.deprels[word - 1]) for word in lost)
        totals["sentences"] += 1
        totals["words"] += len(sentence)
        totals["changed_heads"] += int((converted.heads != sentence.heads).sum())
        totals["lost_heads"] += len(lost)
        totals["lost_relations"] += relabelled
        totals["lost_sentences"] += bool(lost or relabelled)
    return RoundTrip(
        sentences=totals["sentences"],
        words=totals["words"],
        changed_heads=totals["changed_heads"],
        lost_heads=totals["lost_heads"],
        lost_relations=totals["lost_relations"],
        lost_sentences=totals["lost_sentences"],
        lost_by_relation=dict(by_relation.most_common()),
    )
