"""Conversion of sentences between annotation styles, and its round-trip loss."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from qsproj.corpus.editing import with_predicted_heads
from qsproj.corpus.sentence import Sentence
from qsproj.styles.coordination import coordinations_to_core, coordinations_to_style
from qsproj.styles.function_words import FUNCTION_WORDS
from qsproj.styles.style import UD, Style
from qsproj.styles.working_tree import WorkingTree, base_relation


def convert(sentence: Sentence, target: Style, *, source: Style = UD) -> Sentence:
    if source == target:
        return sentence
    tree = WorkingTree(sentence)
    coordinations_to_core(tree, source)
    for rule in reversed(FUNCTION_WORDS):
        if getattr(source, rule.dimension) == "head":
            rule.to_child(tree)
    for rule in FUNCTION_WORDS:
        if getattr(target, rule.dimension) == "head":
            rule.to_head(tree)
    coordinations_to_style(tree, target)
    size = tree.n_words + 1
    return with_predicted_heads(sentence, tree.heads[:size], tree.relations[1:size])


def convert_all(sentences: Iterable[Sentence], target: Style, *, source: Style = UD) -> Iterator[Sentence]:
    for sentence in sentences:
        yield convert(sentence, target, source=source)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip:
    """Counts of changes after converting a treebank to a style and back."""

    sentences: int
    words: int
    changed_heads: int
    lost_heads: int
    lost_relations: int
    lost_sentences: int
    lost_by_relation: Mapping[str, int]


def measure_round_trip(sentences: Iterable[Sentence], target: Style, *, source: Style = UD) -> RoundTrip:
    counted = ("sentences", "words", "changed_heads", "lost_heads", "lost_relations", "lost_sentences")
    totals = dict.fromkeys(counted, 0)
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
    return RoundTrip(**totals, lost_by_relation=dict(by_relation.most_common()))
