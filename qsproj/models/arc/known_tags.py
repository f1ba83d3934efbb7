"""Tags that a parser has learned from, as its weights show them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.parser import Parser

# Tags that no treebank has: what a parser seems to know of these are features that share buckets with others.
_NO_TAGS = tuple(f"<no tag {number}>" for number in range(8))
# A tag of which so much more of the features have weights was learned from.
_MORE_KNOWN = 0.08
# The arcs of a sentence of three words.
_ARCS = ~np.eye(4, dtype=bool) & (np.arange(4) > 0)


def share_of_known_tags(parser: Parser, sentences: Sequence[Sentence], *, fewest_words: int) -> float | None:
    """Return the share of words whose UPOS a parser has learned from; None for fewer words, or other models.

    The parser knows a tag where enough features of arcs between words of that tag alone have weights.
    """
    scorer = getattr(parser.layers()[-1], "scorer", None)
    if not isinstance(scorer, ArcScorer) or "upos" in parser.ignored:
        return None
    counts = Counter(tag for one in sentences for tag in one.upos if tag != UNSPECIFIED)
    if counts.total() < fewest_words:
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
