"""Parsing under uncertain tags: arc scores averaged over tag sequences that are drawn from the tagger.

One wrong tag misleads a parser wherever features read it: most of all an auxiliary taken for a verb. The mean
over sequences lets each reading count for as much as the tagger believes in it.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

import numpy as np

from qsproj.conventions import Scores
from qsproj.corpus.columns import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.tagging.tagger import Tagger

Tags = tuple[str, ...]


def draw_tags(tagger: Tagger, sentence: Sentence, draws: int, *, retag: bool = False) -> dict[Tags, int]:
    """Return tag sequences drawn from the tagger's posterior, and how often each was drawn.

    The words alone decide what is drawn: the same sentence always gets the same sequences, wherever it stands
    and in whichever process.

    Parameters
    ----------
    sentence : Sentence
        Tags that it has stay in all sequences, unless ``retag``.
    draws : int
        How many are drawn.
    """
    words = "\t".join(sentence.forms).encode("utf-8", "surrogatepass")
    rng = np.random.default_rng(int.from_bytes(blake2b(words, digest_size=8).digest(), "little"))
    drawn = tagger.draw(sentence.forms, draws, rng)
    if retag:
        return dict(Counter(drawn))
    own = sentence.upos
    return dict(
        Counter(
            tuple(tag if known == UNSPECIFIED else known for known, tag in zip(own, tags, strict=True))
            for tags in drawn
        )
    )


def mean_scores(parser: ArcParser, sentence: Sentence, sequences: dict[Tags, int]) -> Scores:
    """Return the mean of a parser's arc scores over tag sequences, each counted as often as it was drawn.

    Returns
    -------
    float64[n+1, n+1]
        Natural log: the mean of log potentials, a product of experts.
    """
    total: Scores = np.zeros((len(sentence) + 1, len(sentence) + 1))
    for tags, count in sequences.items():
        total += count * parser.scores(with_columns(sentence, upos=tags))
    total /= sum(sequences.values())
    return total
