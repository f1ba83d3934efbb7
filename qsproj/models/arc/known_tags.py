"""Detection of the tags in a parser's training data from its weights."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.parser import Parser

# Tags that no treebank has: their features have weights only by hash collisions.
_NO_TAGS = tuple(f"<no tag {number}>" for number in range(8))
# A tag counts as known if this share of the features that an unknown tag lacks have weights.
_MORE_KNOWN = 0.08
# The arcs of a three-word sentence.
_ARCS = ~np.eye(4, dtype=bool) & (np.arange(4) > 0)


def share_of_known_tags(parser: Parser, sentences: Sequence[Sentence], *, fewest_words: int) -> float | None:
    """Return the share of words whose UPOS was in a parser's training data; None for fewer words.

    A tag counts as known where enough features of arcs between words of that tag alone have weights.
    """
    scorer = getattr(parser.layers()[-1], "scorer", None)
    if not isinstance(scorer, ArcScorer) or "upos" in parser.ignored:
        return None
    counts = Counter(tag for one in sentences for tag in one.upos if tag != UNSPECIFIED)
    if counts.total() < fewest_words:
        return None
    # With weights of one, scores are counts of features: of the weighted ones, and of all.
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
