"""Measure how much of its input a model has learned from: little shows another language or tagset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.text.kinds import ignored_columns, scorer_of

if TYPE_CHECKING:
    from qsproj.models.converter.converter import Converter
    from qsproj.models.storage import Parser
    from qsproj.models.tagging.tagger import Tagger

# Tags that no treebank has: what a parser seems to know of these are features that share buckets with others.
_NO_TAGS = tuple(f"<no tag {number}>" for number in range(8))
# A tag of which so much more of the features have weights was learned from.
_MORE_KNOWN = 0.08
# The arcs of a sentence of three words.
_ARCS = ~np.eye(4, dtype=bool) & (np.arange(4) > 0)
# Of fewer words nothing is said.
FEWEST_WORDS = 50


def share_of_known_tags(parser: Parser, sentences: Sequence[Sentence]) -> float | None:
    """Return the share of words whose UPOS a parser has learned from; None where that cannot be told.

    It is told by the features of arcs between words of that tag alone: how many of them have weights.
    """
    scorer = scorer_of(parser)
    if not isinstance(scorer, ArcScorer) or "upos" in ignored_columns(parser):
        return None
    counts = Counter(tag for one in sentences for tag in one.upos if tag != UNSPECIFIED)
    if counts.total() < FEWEST_WORDS:
        return None
    # Scores by weights of one are numbers of features: of those that have a weight, and of all.
    with_weights, all_of_them = (
        replace(scorer, weights=weights.astype(np.float32))
        for weights in (scorer.weights != 0, np.ones_like(scorer.weights))
    )

    def weighted(tag: str) -> float:
        features = scorer.features(scorer.encode(Sentence.from_words(["_"] * 3, upos=[tag] * 3)))
        return float(with_weights.scores(features)[_ARCS].sum() / all_of_them.scores(features)[_ARCS].sum())

    unseen = max(map(weighted, _NO_TAGS))
    least = unseen + _MORE_KNOWN * (1.0 - unseen)
    return sum(count for tag, count in counts.items() if weighted(tag) > least) / counts.total()


def share_of_known_words(tagger: Tagger, sentences: Sequence[Sentence]) -> float | None:
    """Return the share of words of letters, numbers left out, that a tagger has learned from."""
    known = total = 0
    for one in sentences:
        words = np.array([form.isalpha() for form in one.forms], dtype=bool)
        known += int((tagger.knows(one.forms) & words).sum())
        total += int(words.sum())
    return known / total if total >= FEWEST_WORDS else None


def share_of_known_relations(converter: Converter, sentences: Sequence[Sentence]) -> float | None:
    """Return the share of relations that a converter has seen in source trees; None where it kept none."""
    relations = [name for one in sentences for name in one.deprels if name != UNSPECIFIED]
    if not converter.source_relations or len(relations) < FEWEST_WORDS:
        return None
    return sum(name in converter.source_relations for name in relations) / len(relations)
